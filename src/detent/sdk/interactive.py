"""What a person at a terminal wants of a session beside its turns."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from detent.app.engine import Engine
from detent.app.recorder import Deliver, to_nobody
from detent.types.content import UserBlock

if TYPE_CHECKING:
    from detent.app.commands.finding import CommandFiles
    from detent.app.commands.record import CustomCommand, Expanded
    from detent.app.persons_shell import ShellRan


def _unheard(text: str) -> None:
    """Nobody looks on."""


class Interactive:
    """A part of `Session`."""

    _engine: Engine
    _command_files: "CommandFiles | None" = None

    @property
    def is_running(self) -> bool:
        raise NotImplementedError

    def to_background(self, call_id: str = "") -> bool:
        """A call that runs, this one or the newest that can, ends at once, and its command or its
        agent goes on in the background: the same process, without its time limit. False when there
        is nothing to be moved."""
        from detent.app.desk import DeskMaker

        desk = self._engine.kit.desk
        return isinstance(desk, DeskMaker) and desk.foreground.leave(call_id)

    async def shell(self, command: str, hear: Callable[[str], None] = _unheard) -> "ShellRan":
        """The person's own command, as nobody judges or confines it; no entry tells of it. `hear`
        gets what it prints as it comes, but for what comes faster than people read. Cancelling ends
        it with all that it has started. A `cd` lasts as one of Bash does, unless a turn runs.
        Raises BadInput where nothing can be run."""
        from detent.app.persons_shell import run_for_person

        return await run_for_person(self._engine, command, hear, stands_still=self.is_running)

    @property
    def waiting(self) -> tuple[tuple[UserBlock, ...], ...]:
        """What `steer` was given, and nobody has heard yet."""
        return self._engine.inbox.waiting

    def take_back(self) -> tuple[tuple[UserBlock, ...], ...]:
        """The same, and nobody will hear it."""
        return self._engine.inbox.take()

    @property
    def effort(self) -> str:
        """Empty where the provider decides."""
        return self._engine.effort

    async def set_effort(self, level: str) -> None:
        """From the next turn on; empty is what the settings say. Raises BadInput."""
        if self.is_running:
            raise RuntimeError("a turn is running")
        await self._engine.set_effort(level)

    async def set_thinking(self, budget: int | None) -> None:
        """Tokens for thinking from the next turn on; 0 is none, None what the settings say."""
        if self.is_running:
            raise RuntimeError("a turn is running")
        await self._engine.set_thinking(budget)

    @property
    def thinking_budget(self) -> int | None:
        """In tokens; None where nobody says."""
        return self._engine.thinking_budget

    async def notify(self, kind: str, message: str, title: str = "") -> None:
        """Tells hooks for Notification. Of a `permission_prompt` they know already: the gate tells
        them of every question to a person."""
        gate = self._engine.gate
        if not gate.hears("notified") or (kind == "permission_prompt" and gate.asks_person):
            return
        from detent.gate.hooks.events import Notified

        await gate.tell(Notified(message, kind, title))

    async def remember(self, text: str, where: Literal["project", "local", "user"]) -> str:
        """A line more in the memory file of that level; gives its path. The model reads it with the
        next prompt. Raises BadInput."""
        import asyncio

        from detent.app.memory.adding import add_line

        return await asyncio.to_thread(add_line, self._engine.grounds, text, where)

    @property
    def name(self) -> str:
        """What people call the session; empty where it has no name."""
        return self._engine.name

    async def rename(self, name: str) -> None:
        """Empty takes the name away. Raises BadInput, also for a name that another session has."""
        from detent.app.sessions.naming import free_name

        engine = self._engine
        engine.set_name(free_name(engine.grounds.home, engine.journal.path, name))

    async def aside(self, question: str, hear: Callable[[str], None] = _unheard) -> str:
        """Asks the model beside the work, also while a turn runs: it knows the conversation, which
        stays as it is. `hear` gets the answer as it comes, and what came of attempts that failed.
        It is paid for by the session. Raises BadInput, and ModelFailure."""
        from detent.app.asides import aside

        return await aside(self._engine, question, hear, is_running=self.is_running)

    @property
    def custom_commands(self) -> "tuple[CustomCommand, ...]":
        """Those from files, as the disk has them now. A surface's own go before them."""
        from detent.sdk.commands import commands_now

        return commands_now(self).all()

    async def expand(self, name: str, arguments: str = "", hear: Deliver = to_nobody) -> "Expanded":
        """A custom command as a prompt for `send`, with what it wishes for that turn. Command lines
        in it pass the gate and run; `hear` gets what happens meanwhile. Cancelling ends them.
        Raises BadInput, also where one of them fails or may not run."""
        if self.is_running:
            raise RuntimeError("a turn is running")
        from detent.sdk.commands import expand_now

        return await expand_now(self, name, arguments, hear)

    async def with_mentions(self, text: str) -> tuple[tuple[UserBlock, ...], tuple[str, ...]]:
        """The prompt, and behind it the files that it names with an `@`; and why some of these are
        not there. Only what may be read without a question is."""
        from detent.sdk.commands import mentioned_in

        return await mentioned_in(self, text)
