"""The index, as the logs are: one look at each file's size and time tells which have changed."""

import os
from collections.abc import Iterator
from functools import cached_property
from stat import S_ISREG
from typing import TYPE_CHECKING

import msgspec

from detent.session.facts import Facts, SessionCard
from detent.session.locks import is_locked, locked_inodes
from detent.session.store import slug

if TYPE_CHECKING:
    from sqlite3 import Connection

State = tuple[int, int, int]
"""Of a file: its number, its size, and when it was changed, in nanoseconds."""
_facts = msgspec.json.Decoder(Facts)


class Catalogue:
    def __init__(self, db: "Connection", home: str) -> None:
        self.db = db
        self.home = home
        self.root = os.path.join(home, "sessions") + os.sep
        self._rows: dict[str, tuple[int, State, bytes]] = {}
        """By the place of a log: the number of the session, the log's state, the facts."""

    def refresh(self) -> None:
        """Raises sqlite3.Error."""
        there = dict(_logs(self.root))
        self._rows = self._stored()
        stale = [place for place, state in there.items() if self._differs(place, state)]
        gone = [place for place in self._rows if place not in there]
        if stale or gone:
            from detent.session.index.updating import update

            update(self.db, self.home, stale, gone)
            for place in (*stale, *gone):
                self._rows.pop(place, None)
                self._rows |= self._stored(place)

    def cards(self, cwd: str | None = None) -> list[SessionCard]:
        """Newest first; of one folder, or of all."""
        within = "" if cwd is None else slug(cwd) + os.sep
        running = locked_inodes()
        found = (
            self._card(place, state, facts, running)
            for place, (_, state, facts) in self._rows.items()
            if place.startswith(within)
        )
        return sorted(filter(None, found), key=lambda card: card.active, reverse=True)

    @cached_property
    def by_number(self) -> dict[int, SessionCard]:
        return {
            number: card
            for place, (number, state, facts) in self._rows.items()
            if (card := self._card(place, state, facts, frozenset())) is not None
        }

    def _card(
        self, place: str, state: State, stored: bytes, running: frozenset[int] | None
    ) -> SessionCard | None:
        """None when the log holds no session that can be read."""
        path, facts, inode = self.root + place, _facts.decode(stored), state[0]
        if not facts.id:
            return None
        is_running = (running is None or inode in running) and is_locked(path)
        return facts.card(path, state[2] / 1e9, is_running=is_running)

    def _stored(self, place: str = "") -> dict[str, tuple[int, State, bytes]]:
        """Of one log, or of all."""
        asked = "SELECT place, number, inode, size, changed, facts FROM sessions"
        rows = self.db.execute(asked + " WHERE place = ?" * bool(place), [place] if place else [])
        return {
            place: (number, (inode, size, changed), facts)
            for place, number, inode, size, changed, facts in rows
        }

    def _differs(self, place: str, state: State) -> bool:
        row = self._rows.get(place)
        return row is None or row[1] != state


def _logs(root: str) -> Iterator[tuple[str, State]]:
    """Where each lies below the root, and how it is."""
    for folder in _entries(root):
        for file in _entries(folder.path):
            if file.name.endswith(".jsonl") and file.name.isprintable():
                try:
                    facts = file.stat()
                except OSError:
                    continue
                if S_ISREG(facts.st_mode):  # a pipe might be waited for
                    yield f"{folder.name}{os.sep}{file.name}", state_of(facts)


def state_of(facts: os.stat_result) -> State:
    """SQLite has numbers up to 63 bits."""
    return facts.st_ino & (2**63 - 1), facts.st_size, facts.st_mtime_ns


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return list(found)
    except OSError:
        return []
