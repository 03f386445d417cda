"""Commands from files, strongest first."""

import os
from collections.abc import Iterable

from detent.app.agents.kinds.reading import lost_limit
from detent.app.commands.finding import Folder
from detent.app.commands.reading import read_command
from detent.app.commands.record import CustomCommand, Level
from detent.app.commands.trusting import Trusting
from detent.app.grounds import Grounds
from detent.app.memory.choosing import Borders
from detent.app.memory.finding import MOST_RULES, rules_in
from detent.app.memory.reading import Shelf, doubt_about_file
from detent.context.head import parse_head, split_head
from detent.context.memory.trees import Sheet

MOST_NOTICES = 20
MOST_TEXT = 4_000_000
"""Characters of all files of a level: to read them must not take long, whatever lies in a project,
and what lies there must not take the room of others."""


def gathered(grounds: Grounds, folders: Iterable[Folder]) -> tuple[list[CustomCommand], list[str]]:
    """Those that there are, and what is to be said of them."""
    gathering = _Gathering(grounds)
    for folder in folders:
        gathering.files_of(folder)
    trusting = Trusting(grounds)
    commands = trusting.applied(gathering.found)
    notices = [*trusting.notices, *gathering.notices]
    if (more := len(notices) - MOST_NOTICES) > 0:
        notices[MOST_NOTICES:] = [f"there are {more:,} more faults in files of commands"]
    return commands, notices


class _Gathering:
    def __init__(self, grounds: Grounds) -> None:
        self.found: list[CustomCommand] = []
        self.notices: list[str] = []
        self._shelf = Shelf(grounds.own)
        self._borders = Borders(grounds.where, lambda: grounds.is_trusted)
        self._seen: set[tuple[Level, str]] = set()
        self._room: dict[Level, int] = dict.fromkeys(("managed", "user", "project"), MOST_TEXT)

    def files_of(self, folder: Folder) -> None:
        top, level = folder
        paths = rules_in(top)
        if len(paths) == MOST_RULES:
            self.notices.append(f"{top}: no more than {MOST_RULES} files are read")
        for path in paths:
            real = level, os.path.realpath(path)  # no project makes the user's a known one
            if real in self._seen:
                continue
            self._seen.add(real)
            if self._room[level] < 0:
                return
            if (command := self._file(path, top, level)) is not None:
                self.found.append(command)

    def _file(self, path: str, top: str, level: Level) -> CustomCommand | None:
        sheet = self._shelf.read(path)
        if sheet is None:
            return None
        self._room[level] -= len(sheet.text)
        if fault := sheet.fault or self._objection(sheet, level):
            self.notices.append(f"{path} is left out: {fault}")
            return None
        if sheet.note:
            self.notices.append(f"{path}: {sheet.note}")
        head, body = split_head(sheet.text)
        values, faults = parse_head(head or [])
        self.notices += [f"{path}: {fault}" for fault in faults]
        if lost := lost_limit(head or [], values, is_whole=not faults):
            self.notices.append(f"{path} is left out: {lost} could not be read whole")
            return None
        *folders, name = os.path.splitext(os.path.relpath(path, top))[0].split("/")
        command, faults = read_command(
            values, name=name, folder=":".join(folders), body=body, level=level, path=path
        )
        self.notices += faults
        return command

    def _objection(self, sheet: Sheet, level: Level) -> str:
        if sheet.size:
            return f"it is too long ({sheet.size})"
        if self._room[level] < 0:
            return "files of commands are too long together"
        if level != "project":
            return doubt_about_file(sheet.real)
        return self._borders.project_objection(sheet)
