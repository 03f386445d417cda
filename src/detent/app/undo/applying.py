"""Brings files back. Each is whole at every moment, and none is touched that somebody else changed.

Done again after it was cut off, it finishes: what is back already is passed over.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from zlib import crc32

from msgspec import Struct

from detent.app.undo.judging import BENT, CHANGED, Left, Way, ways_of
from detent.app.undo.present import NOTHING, is_bent, read_in, state_in
from detent.host.beneath import NO_LINK, folder_of
from detent.session.blobs import Blobs, Missing
from detent.session.undo import Move
from detent.types.files import Change, FileState

__all__ = ["Applied", "Left", "apply", "preview"]

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | NO_LINK
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | NO_LINK


class Applied(Struct, frozen=True):
    changes: tuple[Change, ...]
    left: tuple[Left, ...]


def preview(
    moves: Sequence[Move], blobs: Blobs, roots: Sequence[str], *, is_again: bool, merges: bool
) -> Applied:
    """What `apply` would do now."""
    ways = ways_of(moves, blobs, roots, is_again=is_again, merges=merges)
    changes = [_change(way) for way in ways if isinstance(way, Way)]
    return Applied(tuple(changes), tuple(way for way in ways if isinstance(way, Left)))


def apply(
    moves: Sequence[Move], blobs: Blobs, roots: Sequence[str], *, is_again: bool, merges: bool
) -> Applied:
    """`is_again`: it was begun before, and cut off. Raises nothing for a single file: that is left
    and told."""
    ways = ways_of(moves, blobs, roots, is_again=is_again, merges=merges)
    work = _Work(blobs)
    going = sorted((way for way in ways if isinstance(way, Way)), key=lambda way: way.path)
    for way in reversed(going):  # what lies in a folder goes before it
        if way.leaves:
            work.attempt(way, work.remove)
    for way in going:  # and comes after it
        if way.arrives:
            work.attempt(way, work.make)
    for way in reversed(going):
        if way.target.kind == "folder":
            work.attempt(way, work.set_mode)
    work.close_again()
    failed = {left.path for left in work.left}
    changes = [_change(way) for way in going if way.path not in failed]
    left = [way for way in ways if isinstance(way, Left)]
    return Applied(tuple(changes), (*left, *work.left))


def _change(way: Way) -> Change:
    return Change(way.path, way.was or way.present, way.target)


class _Work:
    def __init__(self, blobs: Blobs) -> None:
        self._blobs = blobs
        self._opened: dict[str, int] = {}
        """Folders that nobody may write to, opened for the time being, with their modes."""
        self.left: list[Left] = []

    def attempt(self, way: Way, act: Callable[[Way], None]) -> None:
        if any(left.path == way.path for left in self.left):
            return
        try:
            act(way)
        except (OSError, Missing) as error:
            text = error.strerror if isinstance(error, OSError) else ""
            text = BENT if is_bent(way.path) else text or str(error)
            self.left.append(Left(way.path, text))

    def remove(self, way: Way) -> None:
        with self._place(way.path) as (folder, name):
            if way.present.kind == "folder":
                os.rmdir(name, dir_fd=folder)
            else:
                self._keep(way.present, folder, name)
                os.unlink(name, dir_fd=folder)

    def make(self, way: Way) -> None:
        target = way.target
        data = self._data(way)
        with self._place(way.path, makes=True) as (folder, name):
            if target.kind == "folder":
                os.mkdir(name, target.mode | 0o700, dir_fd=folder)
                return
            self._keep(NOTHING if way.leaves else way.present, folder, name)
            _put(folder, name, way.path, target, data)

    def set_mode(self, way: Way) -> None:
        with folder_of(way.path) as (folder, name):
            handle = os.open(name, _FOLDER, dir_fd=folder)
            try:
                os.fchmod(handle, way.target.mode)
            finally:
                os.close(handle)
        self._opened.pop(way.path, None)

    def close_again(self) -> None:
        for path, mode in self._opened.items():
            with suppress(OSError), folder_of(path) as (folder, name):
                handle = os.open(name, _FOLDER, dir_fd=folder)
                try:
                    os.fchmod(handle, mode)
                finally:
                    os.close(handle)

    def _data(self, way: Way) -> bytes:
        if way.target.kind != "file":
            return b""
        return self._blobs.get(way.target.digest) if way.data is None else way.data

    def _keep(self, present: FileState, folder: int | None, name: str) -> None:
        """So that a redo has it, whoever wrote it. It may be another than a moment ago."""
        if state_in(folder, name) != present:
            raise OSError(0, CHANGED)
        if present.kind == "file" and not self._blobs.has(present.digest):
            self._blobs.put(read_in(folder, name))

    @contextmanager
    def _place(self, path: str, *, makes: bool = False) -> Iterator[tuple[int | None, str]]:
        self._open(os.path.dirname(path))
        with folder_of(path, makes=makes) as place:
            yield place

    def _open(self, path: str) -> None:
        """Lets us write into a folder of our own that is closed to writing."""
        with suppress(OSError), folder_of(path) as (folder, name):
            mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode & 0o7777
            if mode & 0o300 == 0o300 or path in self._opened:
                return
            handle = os.open(name, _FOLDER, dir_fd=folder)
            try:
                os.fchmod(handle, mode | 0o300)
                self._opened[path] = mode
            finally:
                os.close(handle)


def _put(folder: int | None, name: str, path: str, target: FileState, data: bytes) -> None:
    """Beside it first, then in its place: at every moment one of both is there, whole."""
    beside = f".detent-{crc32(os.fsencode(path)):08x}.undo"  # the same when it is done again
    with suppress(FileNotFoundError):
        os.unlink(beside, dir_fd=folder)
    try:
        if target.kind == "link":
            os.symlink(target.target, beside, dir_fd=folder)
        else:
            with open(os.open(beside, _NEW, 0o600, dir_fd=folder), "wb") as file:
                file.write(data)
                _keep_owner(file.fileno(), folder, name)
                os.fchmod(file.fileno(), target.mode)
        os.replace(beside, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(OSError):
            os.unlink(beside, dir_fd=folder)
        raise


def _keep_owner(descriptor: int, folder: int | None, name: str) -> None:
    with suppress(OSError):
        old, new = os.stat(name, dir_fd=folder, follow_symlinks=False), os.fstat(descriptor)
        if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid):
            os.fchown(descriptor, old.st_uid, old.st_gid)
