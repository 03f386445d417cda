"""A command of somebody's own: its text, and what it wishes for the turn that it begins."""

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from detent.types.content import UserBlock

Level = Literal["managed", "user", "project"]


class TurnWishes(Struct, frozen=True, kw_only=True):
    """What holds for one turn, and is undone when that ends."""

    allowed: tuple[str, ...] = ()
    """Rules: what they cover needs no question. Deny and ask rules go before them."""
    denied: tuple[str, ...] = ()
    model: str = ""
    """Empty: the session's."""
    effort: str = ""


class CustomCommand(Struct, frozen=True, kw_only=True):
    name: str
    """What stands behind the slash."""
    description: str = ""
    argument_hint: str = ""
    """What may stand behind the name, as help shows it."""
    path: str = ""
    level: Level = "project"
    """Whose it is."""
    folder: str = ""
    """Below the folder of commands: `frontend`, or `web:frontend`."""
    arguments: tuple[str, ...] = ()
    """Names of the words behind it, by their place."""
    wishes: TurnWishes = TurnWishes()
    body: str = ""
    for_people: bool = True
    """Whether they may call it."""
    for_models: bool = True

    @property
    def qualified(self) -> str:
        """With the folders that it lies in: unlike the name, nearly always its own."""
        stem = self.name.rpartition(":")[2]
        return f"{self.folder}:{stem}" if self.folder else stem

    @property
    def origin(self) -> str:
        """For lists: `project`, or `project:frontend`."""
        return f"{self.level}:{self.folder}" if self.folder else self.level


class Expanded(Struct, frozen=True, kw_only=True):
    """A command as a prompt."""

    content: tuple[UserBlock, ...]
    wishes: TurnWishes
    notices: tuple[str, ...] = ()
    """Why a file that it names is not with it."""


class Commands:
    """Those that can be called, each by the shortest name that is its own."""

    def __init__(
        self, strongest_first: Iterable[CustomCommand] = (), notices: Iterable[str] = ()
    ) -> None:
        given = [command for command in strongest_first if command.for_people]
        self._by_name: dict[str, CustomCommand] = {}
        for command in given:
            self._by_name.setdefault(command.name, command)
        for command in given:
            self._by_name.setdefault(command.qualified, command)
        self.notices = tuple(notices)

    def find(self, name: str) -> CustomCommand | None:
        return self._by_name.get(name)

    def all(self) -> tuple[CustomCommand, ...]:
        """By name. One whose name is another's has that with its folders."""
        named: dict[int, CustomCommand] = {}
        for name, command in self._by_name.items():
            named.setdefault(id(command), replace(command, name=name))
        return tuple(sorted(named.values(), key=lambda command: command.name))
