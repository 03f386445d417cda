"""The mirror of a folder: what every file in it was, and its bytes. A cache that may be deleted.

`$DETENT_HOME/mirrors/<folder>/` holds an index, to which changes are appended in checked pieces,
and one pack with the bytes of all files. Who holds the lock writes both. Others read what is there
and keep what they add in a nameless file of their own.
"""

import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from struct import Struct as Layout
from zlib import crc32

import msgspec

from detent.types.files import FileState, Kind

try:
    import fcntl
except ImportError:  # without locks everybody keeps a mirror of their own
    fcntl = None  # type: ignore[assignment]

FORMAT = 1
SPARE = 64 << 20
"""Bytes of a pack that may be of no use any more, beside as many as there are in use."""
BUFFER = 1 << 20

_PIECE = Layout("<II")


class Seen(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One name when it was last looked at."""

    mode: int
    """Kind and permissions."""
    size: int
    changed: int
    """mtime, in nanoseconds."""
    stamped: int
    """ctime; 0 where the file was too young for that to be told from a later change."""
    inode: int
    digest: bytes = b""
    """Of a file whose bytes are in the pack."""
    offset: int = 0
    target: str = ""
    """Of a link."""

    @property
    def state(self) -> FileState:
        kind, mode = kind_of(self.mode), stat.S_IMODE(self.mode)
        if kind == "file":
            return FileState(kind, mode, self.size, self.digest.hex())
        return FileState(kind, 0 if kind == "link" else mode, target=self.target)

    def is_same(self, other: "Seen") -> bool:
        """As far as it can be undone: times do not count where the bytes are known."""
        if (self.mode, self.target) != (other.mode, other.target):
            return False
        if kind_of(self.mode) != "file":
            return True
        if self.digest and other.digest:
            return self.digest == other.digest
        mine = self.size, self.changed, self.inode
        return mine == (other.size, other.changed, other.inode)


def kind_of(mode: int) -> Kind:
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "folder"
    return "link" if stat.S_ISLNK(mode) else "other"


Listing = dict[str, Seen]
Piece = list[tuple[str, dict[str, Seen | None] | None]]
"""What became of names, by folder; None: of the whole folder nothing is left."""


class _Head(msgspec.Struct):
    format: int
    pack: str


class _Body(msgspec.Struct, omit_defaults=True):
    piece: Piece = []
    running: str = ""
    """The call that began when this was written."""


_decode_body = msgspec.msgpack.Decoder(_Body).decode


class Mirror:
    """Raises OSError; damage is no error, it makes an empty mirror."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._lock = _locked(folder)
        self.folders: dict[str, Listing] = {}
        """By path from the root of what is mirrored."""
        self.running = ""
        """The call that was running when nobody wrote any more."""
        self._index, self._pack, self._start, self._end = -1, -1, 0, 0
        self._own: int | None = None
        self._waiting = bytearray()
        try:
            self._open()
        except OSError:
            self.close()
            raise

    @property
    def is_shared(self) -> bool:
        """Somebody else keeps it."""
        return self._lock is None

    def _open(self) -> None:
        name = self._load()
        if self._lock is None:
            if name:
                self._pack = os.open(self._path(name), os.O_RDONLY | os.O_CLOEXEC)
                self._start = self._end = os.fstat(self._pack).st_size
            from tempfile import TemporaryFile

            with TemporaryFile(dir=self._folder) as file:
                self._own = os.dup(file.fileno())
            return
        if not name:
            name = self._begin()
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
        self._pack = os.open(self._path(name), flags, 0o600)
        self._end = os.fstat(self._pack).st_size
        self._index = os.open(self._path("index"), os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)

    def _load(self) -> str:
        """The name of the pack; empty where there is nothing to go on from."""
        try:
            with open(self._path("index"), "rb") as file:
                data = file.read()
            head, position = _piece_at(data, 0)
            known = msgspec.msgpack.decode(head, type=_Head)
            size = os.stat(self._path(known.pack)).st_size
            if known.format != FORMAT:
                return ""
            while position < len(data):
                piece, position = _piece_at(data, position)
                body = _decode_body(piece)
                self._take(body.piece)
                self.running = body.running
        except (OSError, ValueError, msgspec.MsgspecError):
            self.folders = {}
            return ""
        known_ones = (seen for names in self.folders.values() for seen in names.values())
        live = sum(seen.size for seen in known_ones if seen.digest)
        if self._lock is not None and size > 2 * live + SPARE:
            self.folders = {}
            return ""
        return known.pack

    def _take(self, piece: Piece) -> None:
        for folder, names in piece:
            if names is None:
                self.folders.pop(folder, None)
                continue
            listing = self.folders.setdefault(folder, {})
            for name, seen in names.items():
                if seen is None:
                    listing.pop(name, None)
                else:
                    listing[name] = seen

    def _begin(self) -> str:
        """An empty mirror in place of whatever was there."""
        for name in os.listdir(self._folder):
            if name.startswith("pack-"):
                with suppress(OSError):
                    os.unlink(self._path(name))
        name = f"pack-{os.urandom(6).hex()}"
        beside = self._path("index.new")
        with open(os.open(self._path(name), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb"):
            pass
        with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(_framed(msgspec.msgpack.encode(_Head(FORMAT, name))))
        os.replace(beside, self._path("index"))
        return name

    def write(self, piece: Piece, running: str = "") -> None:
        """Whoever opens it after this finds these changes; the bytes they speak of come first."""
        if self._lock is None or self._index < 0:
            return
        self._flush()
        body = msgspec.msgpack.encode(_Body(piece, running))
        _write_all(self._index, _framed(body))

    def add(self, data: bytes) -> int:
        """Where the bytes are from now on."""
        offset = self._end
        self._waiting += data
        self._end += len(data)
        if len(self._waiting) >= BUFFER:
            self._flush()
        return offset

    def get(self, seen: Seen) -> bytes:
        """The bytes of a file, right or not: whoever wants them compares the digest."""
        if self._waiting and seen.offset + seen.size > self._end - len(self._waiting):
            self._flush()
        if self._own is not None and seen.offset >= self._start:
            return os.pread(self._own, seen.size, seen.offset - self._start)
        return os.pread(self._pack, seen.size, seen.offset)

    def _flush(self) -> None:
        waiting, self._waiting = self._waiting, bytearray()
        if not waiting:
            return
        start = self._end - len(waiting)
        target = self._pack if self._own is None else self._own
        rest, at = memoryview(waiting), start - (self._start if self._own is not None else 0)
        while rest:
            written = os.pwrite(target, rest, at)
            rest, at = rest[written:], at + written

    def spoil(self) -> None:
        """Something in it is not what it should be: the next to open it begins anew."""
        if self._lock is not None:
            with suppress(OSError):
                os.unlink(self._path("index"))

    def close(self) -> None:
        for descriptor in (self._index, self._pack, self._own, self._lock):
            if descriptor is not None and descriptor >= 0:
                os.close(descriptor)
        self._index = self._pack = -1
        self._own = self._lock = None

    def _path(self, name: str) -> str:
        return os.path.join(self._folder, name)


def _locked(folder: str) -> int | None:
    os.makedirs(folder, mode=0o700, exist_ok=True)
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
    descriptor = os.open(os.path.join(folder, "lock"), flags, 0o600)
    if fcntl is not None:
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return descriptor
    os.close(descriptor)
    return None


def _framed(data: bytes) -> bytes:
    return _PIECE.pack(len(data), crc32(data)) + data


def _piece_at(data: bytes, position: int) -> tuple[bytes, int]:
    """Raises ValueError."""
    if position + _PIECE.size > len(data):
        raise ValueError("cut off")
    length, checksum = _PIECE.unpack_from(data, position)
    start = position + _PIECE.size
    piece = data[start : start + length]
    if len(piece) != length or crc32(piece) != checksum:
        raise ValueError("damaged")
    return piece, start + length


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def sweep(root: str, unused: float, keep: Iterable[str]) -> None:
    """Mirrors that nobody has used since that time go."""
    from shutil import rmtree

    kept = set(keep)
    for entry in os.scandir(root):
        with suppress(OSError):
            if entry.name not in kept and os.stat(entry.path).st_mtime < unused:
                rmtree(entry.path, ignore_errors=True)
