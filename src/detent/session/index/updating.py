"""Bringing the index up to the logs. Of one that has grown, only what is new is read."""

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, BinaryIO

import msgspec

from detent.session.blobs import Blobs
from detent.session.facts import Facts
from detent.session.folding import add, stands
from detent.session.index.catalogue import state_of
from detent.session.index.schema import ROOM
from detent.session.index.wording import indexed
from detent.session.passages import SAID, Passage, passages
from detent.session.reading import NotUnderstood, unframe
from detent.types.codec import encode

if TYPE_CHECKING:
    from sqlite3 import Connection

TAIL = 64
"""Bytes before the place where reading goes on: others there, and it is another file."""
PORTION = 16_000_000
"""Bytes of logs that are read in one go, while other processes wait to write the index."""
_facts = msgspec.json.Decoder(Facts)


class Row(msgspec.Struct, frozen=True):
    """From where to go on."""

    number: int
    read: int = 0
    tail: bytes = b""
    passages: int = 0
    facts: bytes = b"{}"


def update(db: "Connection", home: str, stale: list[str], gone: list[str]) -> None:
    """`stale` and `gone` are places of logs. Raises sqlite3.Error."""
    blobs, stale = Blobs(home), list(stale)
    while stale or gone:
        db.execute("BEGIN IMMEDIATE")
        with db:  # commits, or takes all of it back
            for place in gone:
                _forget(db, place)
            room, gone = PORTION, []
            while stale and room > 0:
                room -= _read(db, os.path.join(home, "sessions"), stale.pop(), blobs)


def _forget(db: "Connection", place: str) -> None:
    for (number,) in db.execute("SELECT number FROM sessions WHERE place = ?", [place]).fetchall():
        _clear(db, number)
        db.execute("DELETE FROM sessions WHERE number = ?", [number])


def _clear(db: "Connection", number: int) -> None:
    db.execute("DELETE FROM passages WHERE id >= ? AND id < ?", _ids(number))


def _ids(number: int) -> tuple[int, int]:
    return number << ROOM, (number + 1) << ROOM


def _read(db: "Connection", root: str, place: str, blobs: Blobs) -> int:
    """How much. What another process has read meanwhile is not read twice."""
    try:
        file = open(os.path.join(root, place), "rb", buffering=1 << 18)  # noqa: SIM115
    except OSError:
        return 0
    with file:
        row = _known(db, place, file)
        reader = _Reader(file, row, blobs)
        db.executemany(
            "INSERT INTO passages (id, seq, step, at, kind, said, done)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            reader.passages(),
        )
        _mark(db, row, reader.facts)
        inode, size, changed = state_of(os.fstat(file.fileno()))
        db.execute(
            "UPDATE sessions SET inode = ?, size = ?, changed = ?, read = ?, tail = ?,"
            " passages = ?, facts = ? WHERE number = ?",
            (inode, min(size, reader.seen), changed, reader.read, _tail(file, reader.read),
             reader.count, encode(reader.facts), row.number),
        )  # fmt: skip
        return reader.read - row.read


def _known(db: "Connection", place: str, file: BinaryIO) -> Row:
    """From the beginning, when it is not the file that it was, or changed without growing."""
    columns = "inode, size, changed, number, read, tail, passages, facts"
    found = db.execute(f"SELECT {columns} FROM sessions WHERE place = ?", [place]).fetchone()
    if found is None:
        cursor = db.execute(
            "INSERT INTO sessions VALUES (NULL, ?, 0, 0, 0, 0, x'', 0, '{}')", [place]
        )
        return Row(cursor.lastrowid or 0)
    known, state, size = Row(*found[3:]), state_of(os.fstat(file.fileno())), found[1]
    if state == found[:3] or (state[1] > size and _tail(file, known.read) == known.tail):
        return known
    _clear(db, known.number)
    return Row(known.number)


def _mark(db: "Connection", row: Row, facts: Facts) -> None:
    """What a rewind has left behind no longer counts, until the rewind is taken back."""
    if facts.rewinds == _facts.decode(row.facts).rewinds:
        return
    found = db.execute("SELECT id, seq FROM passages WHERE id >= ? AND id < ?", _ids(row.number))
    marks = [(not stands(seq, facts.rewinds), id) for id, seq in found]
    db.executemany("UPDATE passages SET gone = ? WHERE id = ?", marks)


class _Reader:
    """Goes on with a log, whole lines only: the last one may still be being written."""

    def __init__(self, file: BinaryIO, row: Row, blobs: Blobs) -> None:
        self._blobs = blobs
        self.facts = _facts.decode(row.facts)
        self.read = row.read
        self.seen = row.read
        """With what there is of a line that is not whole."""
        self.count = row.passages
        self._file = file
        self._first = row.number << ROOM

    def passages(self) -> Iterator[tuple[int, int, int, float, str, str, str]]:
        for line in self._lines():
            for passage in self._of(line):
                self.count += 1
                yield (self._first + self.count, *_columns(passage))

    def _lines(self) -> Iterator[bytes]:
        self._file.seek(self.read)
        try:
            for line in self._file:
                self.seen += len(line)
                if not line.endswith(b"\n"):
                    return
                self.read = self.seen
                if line := line[:-1]:
                    yield line
        except OSError:
            return

    def _of(self, line: bytes) -> Iterator[Passage]:
        try:
            entry = unframe(line, self._blobs)
        except NotUnderstood:
            self.facts.is_strange = True
            return
        except ValueError:
            self.facts.damaged += 1
            return
        if add(self.facts, entry):
            yield from passages(entry, self.facts)
        else:
            self.facts.damaged += 1


def _columns(passage: Passage) -> tuple[int, int, float, str, str, str]:
    text = indexed(passage.text)
    said, done = (text, "") if passage.kind in SAID else ("", text)
    return passage.seq, passage.step, passage.at, passage.kind, said, done


def _tail(file: BinaryIO, end: int) -> bytes:
    begin = max(0, end - TAIL)
    file.seek(begin)
    return file.read(end - begin)
