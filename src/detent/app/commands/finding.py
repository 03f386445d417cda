"""Which commands people have written: a few looks at the disk. What reads files is loaded after
that, and again only when one of them has changed.

Strongest first: managed, the user's, the project's (from the working folder up to the root of the
repository, in each folder ours before theirs).
"""

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from detent.app.commands.record import Commands
from detent.app.grounds import Grounds
from detent.app.reminders import folders_down

if TYPE_CHECKING:
    from detent.app.commands.record import Level

Folder = tuple[str, "Level"]
"""Where files of commands may lie, and whose they are."""
Stamp = tuple[str, int, int]


def command_folders(grounds: Grounds) -> Iterator[Folder]:
    """Strongest first; whether they are there or not."""
    where, wanted = grounds.where, grounds.options.setting_sources
    for folder in where.managed:
        yield f"{folder}/commands", "managed"
        yield f"{folder}/.claude/commands", "managed"
    own = (f"{where.home}/commands", f"{where.claude}/commands")
    is_own = (where.is_ours, where.is_theirs_ours)
    for path, is_users in zip(own, is_own, strict=True):
        if is_users and "user" in wanted:
            yield path, "user"
    if "project" in wanted:
        for folder in reversed(folders_down(where.root, where.cwd)):
            for path in (f"{folder}/.detent/commands", f"{folder}/.claude/commands"):
                if path not in own:  # in the user's home they are the user's
                    yield path, "project"
    for path, is_users in zip(own, is_own, strict=True):
        if not is_users and "user" in wanted:  # a variable has moved them into the project
            yield path, "project"


def commands_of(grounds: Grounds) -> Commands:
    """Whatever is wrong in files is among the notices."""
    folders = [folder for folder in command_folders(grounds) if os.path.isdir(folder[0])]
    if not folders:
        return Commands()
    from detent.app.commands.gathering import gathered

    return Commands(*gathered(grounds, folders))


class CommandFiles:
    """The commands of a session, as the disk has them now."""

    def __init__(self, grounds: Grounds) -> None:
        self._grounds = grounds
        self._stamps: list[Stamp] | None = None
        self._found = Commands()
        self._told: set[str] = set()

    def now(self) -> Commands:
        stamps = [*self._look()]
        if stamps != self._stamps:
            self._stamps, self._found = stamps, commands_of(self._grounds)
        return self._found

    def news(self) -> list[str]:
        """What is wrong with them, each once."""
        news = [text for text in self._found.notices if text not in self._told]
        self._told.update(news)
        return news

    def _look(self) -> Iterator[Stamp]:
        for folder, _ in command_folders(self._grounds):
            if not os.path.isdir(folder):
                continue
            from detent.app.memory.finding import rules_in

            for path in rules_in(folder):
                try:
                    facts = os.stat(path)
                except OSError:
                    continue
                yield path, facts.st_mtime_ns, facts.st_size
