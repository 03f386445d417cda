"""What is there under a name now, looked at through no link."""

import errno
import os
import stat
from hashlib import sha256

from detent.host.beneath import NO_LINK, folder_of
from detent.types.files import FileState

NOTHING = FileState()
_LOOKING = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | NO_LINK


def state_of(path: str) -> FileState:
    """A name behind a link, or behind a file, is none of ours: there is nothing. Raises OSError."""
    try:
        with folder_of(path) as (folder, name):
            return state_in(folder, name)
    except FileNotFoundError:
        return NOTHING
    except OSError as error:
        if error.errno in (errno.ENOTDIR, errno.ELOOP) or is_bent(path):
            return NOTHING
        raise


def state_in(folder: int | None, name: str) -> FileState:
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return NOTHING
    mode = stat.S_IMODE(found.st_mode)
    if stat.S_ISLNK(found.st_mode):
        return FileState("link", target=os.readlink(name, dir_fd=folder))
    if stat.S_ISDIR(found.st_mode):
        return FileState("folder", mode)
    if not stat.S_ISREG(found.st_mode):
        return FileState("other", mode)
    digest, size = _digest(folder, name)
    return FileState("file", mode, size, digest)


def read_in(folder: int | None, name: str) -> bytes:
    with open(os.open(name, _LOOKING, dir_fd=folder), "rb") as file:
        return file.read()


def _digest(folder: int | None, name: str) -> tuple[str, int]:
    digest, size = sha256(), 0
    with open(os.open(name, _LOOKING, dir_fd=folder), "rb", buffering=0) as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
            size += len(piece)
    return digest.hexdigest(), size


def is_bent(path: str) -> bool:
    """Whether a folder on the way is a link by now."""
    folder = os.path.dirname(path)
    return folder != path and (os.path.islink(folder) or is_bent(folder))
