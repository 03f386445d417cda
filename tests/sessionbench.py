"""Stored sessions, made by hand."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from detent.session.log import FileLog
from detent.session.reading import read_log
from detent.session.store import Store
from detent.types.content import Call, Text
from detent.types.effects import Runs
from detent.types.events import (
    CallEnded,
    CallStarted,
    Entry,
    Opened,
    Prompted,
    Replied,
    Rewound,
    TurnEnded,
)
from detent.types.outcomes import done
from detent.types.running import Named
from detent.types.usage import Usage
from detent.types.verdicts import Allow


def prompt(text: str, **more: Any) -> Prompted:
    return Prompted(turn=1, content=(Text(text),), **more)


def answer(text: str, *calls: Call) -> Replied:
    return Replied(
        turn=1, step=1, model="m", content=(Text(text), *calls), stop="end_turn", usage=Usage(10, 5)
    )


def call(command: str, id: str = "c1") -> Call:
    return Call(id, "Bash", f'{{"command":"{command}"}}')


def started(command: str, id: str = "c1") -> CallStarted:
    return CallStarted(
        call_id=id, name="Bash", arguments=f'{{"command":"{command}"}}',
        effects=(Runs(command),), verdict=Allow("rule"),
    )  # fmt: skip


def ended(text: str, id: str = "c1") -> CallEnded:
    return CallEnded(call_id=id, name="Bash", outcome=done(text))


OVER = TurnEnded(turn=1, reason="end_turn")


def named(name: str) -> Named:
    return Named(name=name)


def rewound(to: int) -> Rewound:
    return Rewound(to=to)


class Shelf:
    """A home folder with sessions."""

    def __init__(self, home: Path) -> None:
        self.home = str(home)
        self.store = Store(self.home)
        self._now = 1_000.0

    def add(self, session: str, *entries: Entry, cwd: str = "/p", parent: str = "") -> str:
        """A new session, each a hundred seconds younger than the one before."""
        opened = Opened(session=session, cwd=cwd, version="0", parent=parent)
        path = self.store.path(cwd, session)
        return self._write(FileLog(path, self._tick, home=self.home), opened, *entries)

    def grow(self, path: str, *entries: Entry) -> str:
        log = FileLog(path, self._tick, home=self.home)
        log.lock()
        log.take_up(read_log(path))
        return self._write(log, *entries)

    def _write(self, log: FileLog, *entries: Entry) -> str:
        for entry in entries:
            log.append(entry)
        assert not log.trouble
        log.close()
        self._now += 100
        os.utime(log.path, (self._now, self._now))
        return log.path

    def _tick(self) -> float:
        return self._now
