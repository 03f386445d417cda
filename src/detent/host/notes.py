"""What is written down of commands while they run, and read when their agent was killed.

The keeper of a command writes it (see `keeping/noting.py`), for it outlives us.
"""

import os
import time
from collections.abc import Iterable, Iterator
from typing import Literal

import msgspec
from msgspec import Struct

MOST_READ = 4_000_000
"""Bytes at the end of such a file: what was not finished is near its end."""


class Note(Struct, frozen=True):
    """Goes with an order to a keeper."""

    files: tuple[int, ...]
    """The first takes the notes; others are only held open as long as the command runs."""
    head: bytes
    """How each of its lines begins."""
    stays: bool = False
    """The command outlives us."""

    def begins(self) -> None:
        """Where no keeper writes it."""
        os.write(self.files[0], b'%b,"began":%.3f}\n' % (self.head, time.time()))


class Line(Struct, frozen=True):
    call: str = ""
    began: float = 0.0
    ended: Literal["", "itself", "asked", "gone", "failed"] = ""
    """By itself; because it was asked to; because the agent was gone; it could not be started."""
    code: int = 0
    """Negative: the signal that killed it."""
    at: float = 0.0
    note: str = ""
    sandbox: str = ""
    """What held it, if anything did. In bwrap nothing outlives the agent by a moment: there nobody
    is left to note the end."""
    job: str = ""
    command: str = ""


class Notes:
    """The file of a session, made with its first command. One that cannot be written is none."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._file = -1

    def of(self, call: str) -> Note | None:
        if self._file < 0:
            try:
                os.makedirs(os.path.dirname(self._path), mode=0o700, exist_ok=True)
                self._file = open_notes(self._path)
            except OSError:
                return None
        return Note((self._file,), head_of(call=call))

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def open_notes(path: str) -> int:
    return os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)


def head_of(**words: str) -> bytes:
    """All but the closing bracket: a keeper adds what it knows."""
    return msgspec.json.encode(words)[:-1]


def read_notes(path: str, calls: Iterable[str] = ()) -> dict[str, Line]:
    """What is known of these calls, or of all; empty where nothing was noted."""
    wanted, found = frozenset(calls), dict[str, Line]()
    for line in lines_of(path):
        if line.call and (not wanted or line.call in wanted):
            before = found.get(line.call, Line())
            found[line.call] = joined(before, line)
    return found


def joined(earlier: Line, later: Line) -> Line:
    """Both say of the same command what they know."""
    known = {
        name: getattr(later, name) or getattr(earlier, name) for name in Line.__struct_fields__
    }
    return Line(**known)


def lines_of(path: str) -> Iterator[Line]:
    try:
        with open(path, "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - MOST_READ))
            data = file.read(MOST_READ)
    except OSError:
        return
    for line in data.split(b"\n"):
        try:
            yield msgspec.json.decode(line, type=Line)
        except msgspec.MsgspecError:  # torn, or none of ours
            continue
