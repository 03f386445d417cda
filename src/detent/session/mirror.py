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

from detent.session.log import make_private
from detent.types.files import FileState, Kind

try:
    import fcntl
except ImportError:  # without locks everybody keeps a mirror of their own
    fcntl = None  # type: ignore[assignment]

FORMAT = 1
SPARE = 64 << 20
"""Bytes of a pack that may be of no use any more, beside as many as there are in use."""
BUFFER = 1 << 20
RESERVE = 256 << 20
"""Bytes that others find free on the disk, or a tenth of a small one."""

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
    root: str = ""
    """The folder that is mirrored."""


class _Body(msgspec.Struct, omit_defaults=True):
    piece: Piece = []
    running: str = ""
    """The call that began when this was written."""


_decode_body = msgspec.msgpack.Decoder(_Body).decode


class Mirror:
    """Raises OSError; damage is no error, it makes an empty mirror."""

    def __init__(self, folder: str, root: str = "") -> None:
        self._folder, self._root = folder, root
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
        if self.is_shared:
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
            os.stat(self._path(known.pack))
            if (known.format, known.root) != (FORMAT, self._root):
                return ""
            while position < len(data):
                piece, position = _piece_at(data, position)
                body = _decode_body(piece)
                self._take(body.piece)
                self.running = body.running
        except (OSError, ValueError, msgspec.MsgspecError):
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
        name = f"pack-{os.urandom(6).hex()}"
        os.close(os.open(self._path(name), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        self._begin_index(name)
        return name

    def _begin_index(self, pack: str, body: bytes = b"") -> None:
        """From here on that pack counts, and no other is kept."""
        beside = self._path("index.new")
        with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(_framed(msgspec.msgpack.encode(_Head(FORMAT, pack, self._root))) + body)
        os.replace(beside, self._path("index"))
        for name in os.listdir(self._folder):
            if name.startswith("pack-") and name != pack:
                with suppress(OSError):
                    os.unlink(self._path(name))

    def is_wasteful(self, used: int) -> bool:
        """`used`: what the files of now come to."""
        return not self.is_shared and self._end > 2 * used + SPARE

    def renew(self, running: str) -> None:
        """A pack with nothing in it but the files of now; the old one stays if that fails."""
        name = f"pack-{os.urandom(6).hex()}"
        new = os.open(self._path(name), os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        index, end = -1, 0
        folders: dict[str, Listing] = {}
        try:
            for folder, listing in self.folders.items():
                moved = folders[folder] = dict(listing)
                for each, seen in listing.items():
                    if seen.digest:
                        moved[each] = msgspec.structs.replace(seen, offset=end)
                        end += _write_all(new, self.get(seen).ljust(seen.size, b"\0"))
            piece: Piece = [(folder, {**listing}) for folder, listing in folders.items()]
            self._begin_index(name, _framed(msgspec.msgpack.encode(_Body(piece, running))))
            index = os.open(self._path("index"), os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
        except OSError:
            os.close(new)
            os.unlink(self._path(name))
            raise
        os.close(self._pack)
        os.close(self._index)
        self._pack, self._index, self._end = new, index, end
        for folder, moved in folders.items():
            self.folders[folder].update(moved)

    def write(self, piece: Piece, running: str = "") -> None:
        """Whoever opens it after this finds these changes; the bytes they speak of come first."""
        if self.is_shared or self._index < 0:
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

    def room(self) -> int:
        """Bytes that it may still take: a cache does not fill a disk."""
        try:
            disk = os.statvfs(self._folder)
        except OSError:
            return 0
        reserve = min(RESERVE, disk.f_blocks * disk.f_frsize // 10)
        return disk.f_bavail * disk.f_frsize - reserve - len(self._waiting)

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
        if not self.is_shared:
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
    make_private(folder)
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


def _write_all(descriptor: int, data: bytes) -> int:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
    return len(data)


def sweep(root: str, unused: float, unused_and_gone: float, keep: Iterable[str]) -> None:
    """Mirrors that nobody has used since that time go, and earlier those of folders that are not
    there any more."""
    from shutil import rmtree

    kept = set(keep)
    for entry in os.scandir(root):
        with suppress(OSError):
            used = os.stat(entry.path).st_mtime
            if entry.name in kept or used >= unused_and_gone:
                continue
            if used < unused or not os.path.lexists(_root_of(entry.path)):
                rmtree(entry.path, ignore_errors=True)


def _root_of(folder: str) -> str:
    """Of what it is the mirror; the root of all where nobody knows."""
    with suppress(OSError, ValueError, msgspec.MsgspecError):
        with open(os.path.join(folder, "index"), "rb") as file:
            head, _ = _piece_at(file.read(BUFFER), 0)
        return msgspec.msgpack.decode(head, type=_Head).root or "/"
    return "/"
