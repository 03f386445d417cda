"""The session log: append-only JSONL, one `os.write` per record, a torn tail tolerated.

A record is one line: `{"crc":"<crc32 of the rest>",` and then the entry. The file is never
rewritten. One process writes, guarded by `flock`; anybody may read with `tail`.
"""

import os
from collections.abc import Callable, Sequence
from zlib import crc32

import msgspec

from detent.types.codec import decode_entry, encode
from detent.types.events import Entry

try:
    import fcntl
except ImportError:  # Windows has no flock; one writer is then the user's care
    fcntl = None  # type: ignore[assignment]

_HEAD = len(b'{"crc":"00000000",')


class Locked(Exception):
    """Another process is writing this session."""


class Reading(msgspec.Struct, frozen=True):
    """What a log file held."""

    entries: tuple[Entry, ...]
    damaged: int
    """Lines that could not be read, a torn tail included."""
    torn: bool
    """The file does not end with a newline: the last write was cut."""


def frame(entry: Entry) -> bytes:
    body = encode(entry)
    return b'{"crc":"%08x",%b\n' % (crc32(body), body[1:])


def unframe(line: bytes) -> Entry:
    """Raises ValueError when the line is not a whole, undamaged record."""
    body = b"{" + line[_HEAD:]
    if line[:8] != b'{"crc":"' or line[8:16] != b"%08x" % crc32(body):
        raise ValueError("checksum does not match")
    entry: Entry = decode_entry(body)
    return entry


def read_log(path: str) -> Reading:
    """All readable entries; bad lines anywhere are skipped and counted, never repaired in place."""
    with open(path, "rb") as file:
        data = file.read()
    entries: list[Entry] = []
    damaged = 0
    for line in data.split(b"\n"):
        if not line:
            continue
        try:
            entry = unframe(line)
        except (ValueError, msgspec.MsgspecError):
            damaged += 1
            continue
        if not entries or entry.seq > entries[-1].seq:
            entries.append(entry)
        else:
            damaged += 1
    return Reading(tuple(entries), damaged, bool(data) and not data.endswith(b"\n"))


class MemoryLog:
    """Entries kept in memory only: for `--no-session`, and the base of the file log."""

    def __init__(self, now: Callable[[], float], entries: Sequence[Entry] = ()) -> None:
        self._now = now
        self._entries = list(entries)
        self._seq = self._entries[-1].seq if self._entries else 0

    @property
    def entries(self) -> Sequence[Entry]:
        return self._entries

    @property
    def trouble(self) -> str:
        return ""

    def append(self, entry: Entry) -> Entry:
        stamped = msgspec.structs.replace(entry, seq=self._seq + 1, at=self._now())
        self.adopt(stamped)
        return stamped

    def adopt(self, entry: Entry) -> None:
        """Add an entry that already has its number and time."""
        self._seq = entry.seq
        self._entries.append(entry)


class FileLog(MemoryLog):
    """The durable log. When the disk fails the session goes on in memory and says so."""

    def __init__(
        self,
        path: str,
        now: Callable[[], float],
        entries: Sequence[Entry] = (),
        torn: bool = False,
    ) -> None:
        super().__init__(now, entries)
        self.path = path
        self._torn = torn
        self._trouble = ""
        self._descriptor: int | None = None

    @property
    def trouble(self) -> str:
        return self._trouble

    def adopt(self, entry: Entry) -> None:
        super().adopt(entry)
        if not self._trouble:
            try:
                self._write(frame(entry))
            except OSError as error:
                self._trouble = f"{error.strerror or error} ({self.path})"
            except Locked:
                self._trouble = f"another process writes this session ({self.path})"

    def _write(self, record: bytes) -> None:
        if self._descriptor is None:
            self._descriptor = _open_for_append(self.path)
        if self._torn:
            record, self._torn = b"\n" + record, False
        written = os.write(self._descriptor, record)
        if written != len(record):
            self._torn = True
            raise OSError(28, "the disk took only part of a record")

    def lock(self) -> None:
        """Become the only writer, or raise Locked. The file is made when the first entry comes."""
        if self._descriptor is None and os.path.exists(self.path):
            self._descriptor = _open_for_append(self.path)

    def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def _open_for_append(path: str) -> int:
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    if fcntl is not None:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            raise Locked(path) from None
    return descriptor
