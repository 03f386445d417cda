"""Opening a path part by part, each beneath the handle of the folder before it, through no link."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

NO_LINK = getattr(os, "O_NOFOLLOW", 0)
CAN = os.open in os.supports_dir_fd and bool(NO_LINK)
_FOLDER = os.O_RDONLY | getattr(os, "O_PATH", 0) | getattr(os, "O_DIRECTORY", 0)


@contextmanager
def folder_of(path: str, *, makes: bool = False) -> Iterator[tuple[int | None, str]]:
    """A handle of the folder that holds `path`, and the name in it; `makes` missing folders.

    Where the system has no such handles: None and the whole path.
    """
    if not CAN:
        if makes:
            os.makedirs(os.path.dirname(path), exist_ok=True)
        yield None, path
        return
    *parts, name = path.strip("/").split("/")
    handle = os.open("/", _FOLDER)
    try:
        for part in parts:
            deeper = _entered(handle, part, path, makes=makes)
            os.close(handle)
            handle = deeper
        yield handle, name
    finally:
        os.close(handle)


def _entered(handle: int, part: str, path: str, *, makes: bool) -> int:
    try:
        return os.open(part, _FOLDER | NO_LINK, dir_fd=handle)
    except FileNotFoundError:
        if not makes:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path) from None
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR) and _is_link(handle, part):
            raise bent(path) from None
        raise OSError(error.errno, error.strerror, path) from None
    with suppress(FileExistsError):  # somebody else was quicker
        os.mkdir(part, dir_fd=handle)
    return _entered(handle, part, path, makes=False)


def _is_link(handle: int, part: str) -> bool:
    try:
        os.readlink(part, dir_fd=handle)
    except OSError:
        return False
    return True


def open_real(path: str, flags: int) -> int:
    """A descriptor of the file at exactly this path. Raises OSError with the path as its name."""
    with folder_of(path) as (handle, name):
        try:
            return os.open(name, flags | NO_LINK, dir_fd=handle)
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise bent(path) from None
            raise OSError(error.errno, error.strerror, path) from None


def bent(path: str) -> PermissionError:
    text = "a link has come to stand in its way since the call was judged"
    return PermissionError(errno.EACCES, text, path)
