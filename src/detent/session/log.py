"""The session log as it is written: append-only JSONL, one `os.write` per record.

A record is one line: `{"crc":"<crc32 of the rest>","v":2,` and then the entry (`docs/log.md`). The
file is never rewritten. One process writes, guarded by `flock`; anybody may read with `tail`.
"""

import errno
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import Lock
from typing import TYPE_CHECKING
from weakref import WeakSet
from zlib import crc32

from msgspec.structs import replace

from detent.types.codec import encode
from detent.types.events import Entry

if TYPE_CHECKING:
    from detent.session.blobs import Blobs
    from detent.session.reading import Reading

try:
    import fcntl
except ImportError:  # Windows has no flock; one writer is then the user's care
    fcntl = None  # type: ignore[assignment]

FORMAT = 2
WHOLE = 64 * 1024
"""Bytes of an entry; from there on its long texts lie in the blob store, and the log names them."""


class Locked(Exception):
    """Another process is writing this session."""


def frame(entry: Entry, blobs: "Blobs | None" = None) -> bytes:
    """Without a blob store, long texts stand in the record itself. Raises OSError."""
    return framed(encode(entry), lambda: blobs)


def framed(body: bytes, store: "Callable[[], Blobs | None]") -> bytes:
    """Most entries hold no long text: the store is asked for only where one may."""
    named, blobs = b"", None if len(body) < WHOLE else store()
    if blobs is not None:
        from detent.session.long_texts import taken_out

        named, body = taken_out(body, blobs)
    rest = b'"v":%d,%b%b' % (FORMAT, named, body[1:])
    return b'{"crc":"%08x",%b\n' % (crc32(rest, _BRACE), rest)


_BRACE = crc32(b"{")


class MemoryLog:
    """Entries kept in memory only: for `--no-session`, and the base of the file log."""

    unsynced = False
    """Something that was written would not survive a power cut yet."""

    def __init__(self, now: Callable[[], float], entries: Sequence[Entry] = ()) -> None:
        self._now = now
        self._entries = list(entries)
        self._seq = self._entries[-1].seq if self._entries else 0

    @property
    def entries(self) -> Sequence[Entry]:
        return self._entries

    @property
    def trouble(self) -> str:
        """Why what was appended last is not saved."""
        return ""

    def append(self, entry: Entry) -> Entry:
        stamped = replace(entry, seq=self._seq + 1, at=self._now())
        self.adopt(stamped)
        return stamped

    def adopt(self, entry: Entry) -> None:
        """Add an entry that already has its number and time."""
        self._seq = entry.seq
        self._entries.append(entry)

    @contextmanager
    def copying(self) -> "Iterator[None]":
        """Entries of another log are adopted meanwhile."""
        yield

    def sync(self) -> str:
        return ""


class FileLog(MemoryLog):
    """The durable log. When the disk fails the session goes on in memory and says so; when the disk
    recovers, what is missing is written first, so that the file never has a hole."""

    def __init__(
        self,
        path: str,
        now: Callable[[], float],
        entries: Sequence[Entry] = (),
        torn: bool = False,
        home: str = "",
    ) -> None:
        """`home` is where its blobs are; without, there are none."""
        super().__init__(now, entries)
        self.path = self._at = path
        """`_at` is where the file is until it may be seen."""
        self._is_copying = False
        self._home = home
        self._blobs: Blobs | None = None
        self._torn = torn
        self._is_new = not entries and not torn
        self._folders: list[str] = []
        """In which a name is new that would not survive a power cut yet."""
        self._behind = 0
        """How many of the last entries the file lacks."""
        self._trouble = ""
        self._is_over = False
        """The file is no longer ours to write."""
        self._descriptor: int | None = None
        self._end = 0
        """Bytes of the file after our last write."""
        self._written = self._synced = 0
        self._unsafe = ""
        """Why a sync has failed: what it was for may be lost, whatever later ones say."""
        self._syncing = Lock()
        _ALL.add(self)

    @property
    def trouble(self) -> str:
        return self._trouble

    @property
    def unsynced(self) -> bool:  # type: ignore[override]
        return self._written > self._synced

    @property
    def blobs(self) -> "Blobs | None":
        """The store for whatever its records name: it is synced with the log."""
        if self._blobs is None and self._home:
            from detent.session.blobs import Blobs

            self._blobs = Blobs(self._home)
        return self._blobs

    def adopt(self, entry: Entry) -> None:
        body = encode(entry)  # what cannot be written raises before anything has happened
        super().adopt(entry)
        self._behind += 1
        if not self._is_over:
            self._catch_up(body)

    @contextmanager
    def copying(self) -> "Iterator[None]":
        """The file has another name until all is there: a copy that was cut off is no session, and
        nobody must go on with it."""
        self._at, self._is_copying = f"{self.path}.part", True
        yield
        self._is_copying = False
        self._catch_up()

    def lock(self) -> None:
        """Become the only writer, or raise Locked. The file is made when the first entry comes."""
        if self._descriptor is None and os.path.exists(self.path):
            self._descriptor = _opened(self.path, os.O_APPEND)
            self._is_new = False

    def take_up(self, reading: "Reading") -> None:
        """Go on from what the file holds, read after it was locked."""
        super().__init__(self._now, reading.entries)
        self._torn = reading.torn

    def sync(self) -> str:
        """From any thread: what was written before it began survives a power cut after it, or it
        gives the reason why not."""
        with self._syncing:
            mark = self._written
            if mark == self._synced or self._descriptor is None:
                return self._unsafe
            try:
                if self._blobs is not None:
                    self._blobs.sync()  # first: no record is safe before what it names
                flush(self._descriptor)
                while self._folders:
                    flush_folder(self._folders.pop())
            except OSError as error:
                self._unsafe = self._unsafe or f"{error.strerror or error} ({self.path})"
            self._synced = mark  # also where it failed: a second try would only seem to succeed
            return self._unsafe

    def close(self) -> None:
        self.sync()
        with self._syncing:
            self._forget()

    def abandon(self) -> None:
        """In a fork of the process: the session is the parent's, and the lock on it must go when
        the parent does. Closing does not unlock it for those who still have it open."""
        self._is_over, self._trouble = True, f"it is the parent process's ({self.path})"
        self._syncing = Lock()  # a thread that is not here may have held it
        self._forget()

    def __del__(self) -> None:
        """Of a session that nobody has closed: others may go on with it."""
        self._forget()

    def _forget(self) -> None:
        if self._descriptor is not None:
            with suppress(OSError):
                os.close(self._descriptor)
            self._descriptor = None

    def _catch_up(self, last: bytes = b"") -> None:
        """`last` is the body of the last entry, where somebody has it already."""
        try:
            while self._behind:
                body = last if last and self._behind == 1 else encode(self._entries[-self._behind])
                self._write(framed(body, lambda: self.blobs))
                self._behind -= 1
            if self._at != self.path and not self._is_copying:
                self._appear()
            self._trouble = ""
        except OSError as error:
            self._trouble = f"{error.strerror or error} ({error.filename or self.path})"
        except Locked:
            self._trouble, self._is_over = f"another process writes it ({self.path})", True

    def _appear(self) -> None:
        if os.path.exists(self.path):
            raise FileExistsError(errno.EEXIST, "there is another session of this name")
        os.rename(self._at, self.path)
        self._at = self.path
        self._folders.append(os.path.dirname(self.path))

    def _write(self, record: bytes) -> None:
        if self._descriptor is None:
            self._descriptor = self._open()
            self._is_new = False
        facts = os.fstat(self._descriptor)
        if not facts.st_nlink:  # to make it anew would be against their will
            raise FileNotFoundError(errno.ENOENT, "somebody has removed its file")
        if facts.st_size < self._end:
            raise OSError(errno.EIO, "somebody has shortened its file")
        if self._torn:
            record = b"\n" + record
        self._torn = True  # whatever comes: a write that fails may have left something
        written = os.write(self._descriptor, record)
        self._written += 1
        self._end = facts.st_size + written
        self._torn = written != len(record)
        if self._torn:
            raise OSError(errno.ENOSPC, "the disk took only part of a record")

    def _open(self) -> int:
        """A new session must not write into the file of another that has the same name."""
        if not self._is_new:
            return _opened(self._at, os.O_APPEND)
        folder = os.path.dirname(self.path)
        above = make_private(folder)
        descriptor = _opened(self._at, os.O_APPEND | os.O_CREAT | os.O_EXCL)
        self._folders = [*above, folder]
        return descriptor


def _opened(path: str, how: int) -> int:
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC | how, 0o600)
    try:
        if fcntl is not None:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise Locked(path) from None
    except OSError:
        pass  # a file system without locks: one writer is then the user's care, too
    return descriptor


def make_private(folder: str) -> list[str]:
    """With all above it that are missing: nobody else may look into any. Gives the folders in which
    a name is new. Raises OSError."""
    if os.path.isdir(folder):
        return []
    above = os.path.dirname(folder)
    changed = make_private(above)
    with suppress(FileExistsError):  # another process was faster
        os.mkdir(folder, 0o700)
    return [*changed, above]


def flush(descriptor: int) -> None:
    """The bytes of a file to the disk."""
    if hasattr(os, "fdatasync"):
        os.fdatasync(descriptor)
    else:
        os.fsync(descriptor)


def flush_folder(folder: str) -> None:
    """The names in it."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


_ALL: WeakSet[FileLog] = WeakSet()


def _after_fork() -> None:
    for log in list(_ALL):
        log.abandon()


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_after_fork)
