"""Which names below watched folders were touched, as the system tells it: inotify, by ctypes."""

import ctypes
import errno
import os
from struct import Struct

from msgspec import Struct as Record
from msgspec import field

MODIFY, ATTRIB, CLOSE_WRITE = 0x2, 0x4, 0x8
MOVED_FROM, MOVED_TO, CREATE, DELETE = 0x40, 0x80, 0x100, 0x200
UNMOUNT, OVERFLOW, IGNORED = 0x2000, 0x4000, 0x8000
ONLY_FOLDERS, NO_LINK, NOT_UNLINKED = 0x1000000, 0x2000000, 0x4000000

_MASK = (
    MODIFY | ATTRIB | CLOSE_WRITE | MOVED_FROM | MOVED_TO | CREATE | DELETE
    | ONLY_FOLDERS | NO_LINK | NOT_UNLINKED
)  # fmt: skip
_EVENT = Struct("iIII")
_BUFFER = 1 << 16


class Touched(Record):
    """What has happened since the last look. Names are as the system has them."""

    names: dict[str, set[str]] = field(default_factory=dict)
    """By the folder they are in."""
    lost: set[str] = field(default_factory=set)
    """Folders that are no longer watched: they have gone, whatever stands there now."""
    is_partial: bool = False
    """There was more than the system could keep: only a look at everything tells."""

    def __len__(self) -> int:
        return sum(map(len, self.names.values())) + len(self.lost)


class Watcher:
    """Raises OSError where there is no such thing, or not for us."""

    def __init__(self) -> None:
        library = ctypes.CDLL(None, use_errno=True)
        try:
            self._add, self._remove = library.inotify_add_watch, library.inotify_rm_watch
            begin = library.inotify_init1
        except AttributeError:
            raise OSError(errno.ENOSYS, "there is no inotify here") from None
        self._add.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_uint32)
        self._descriptor: int = begin(os.O_NONBLOCK | os.O_CLOEXEC)
        if self._descriptor < 0:
            raise _failure("inotify")
        self._folders: dict[int, str] = {}
        self._watches: dict[str, int] = {}

    def watch(self, folder: str) -> None:
        """Raises OSError. Once more for the same folder is the same watch."""
        watch = self._add(self._descriptor, os.fsencode(folder), _MASK)
        if watch < 0:
            raise _failure(folder)
        earlier = self._watches.get(folder, watch)
        if earlier != watch and self._folders.get(earlier) == folder:
            del self._folders[earlier]  # of another folder that stood here
        self._folders[watch] = folder
        self._watches[folder] = watch

    def forget(self, folder: str) -> None:
        """It is not there any more, or is another one; a folder that moved keeps its watch."""
        watch = self._watches.pop(folder, None)
        if watch is not None and self._folders.get(watch) == folder:
            del self._folders[watch]
            self._remove(self._descriptor, watch)

    def drain(self) -> Touched:
        """Everything so far; never waits. Raises OSError."""
        touched = Touched()
        while True:
            try:
                data = os.read(self._descriptor, _BUFFER)
            except BlockingIOError:
                return touched
            self._read(data, touched)

    def _read(self, data: bytes, touched: Touched) -> None:
        position = 0
        while position < len(data):
            watch, mask, _, length = _EVENT.unpack_from(data, position)
            start = position + _EVENT.size
            position = start + length
            folder = self._folders.get(watch)
            if mask & OVERFLOW:
                touched.is_partial = True
            elif folder is None:  # what it tells of was forgotten
                continue
            elif mask & (IGNORED | UNMOUNT):
                touched.lost.add(folder)
                self._folders.pop(watch, None)
                if self._watches.get(folder) == watch:
                    del self._watches[folder]
            else:
                name = os.fsdecode(data[start:position].rstrip(b"\0"))
                touched.names.setdefault(folder, set()).add(name)

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def _failure(what: str) -> OSError:
    number = ctypes.get_errno()
    return OSError(number, os.strerror(number), what)
