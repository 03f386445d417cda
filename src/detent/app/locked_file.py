"""A small file that several runs may change: whole or not at all, one at a time.

As git does it: the new text is written to a lock file that only one run can create, and takes the
place of the old one by being renamed.
"""

import errno
import os
import stat
import time
from collections.abc import Callable
from contextlib import suppress

PATIENCE = 2.0
"""Seconds to wait for another run."""


class Busy(OSError):
    """Somebody else changes the file, or has died doing so."""


def update_file(path: str, change: Callable[[bytes], bytes], *, mode: int) -> None:
    """`change` gets the old text, empty if there is none. Its exceptions leave all as it was.
    Raises OSError. A file that is there keeps its mode."""
    path = os.path.realpath(path)
    lock = f"{path}.lock"
    descriptor = _locked(lock, mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            old, kept = _read(path)
            file.write(change(old))
            os.fchmod(file.fileno(), mode if kept is None else kept)
            file.flush()
            os.fsync(file.fileno())
        os.replace(lock, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(lock)
        raise
    _sync_folder(os.path.dirname(path))


def _locked(lock: str, mode: int) -> int:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    ends = time.monotonic() + PATIENCE
    while True:
        try:
            return os.open(lock, flags, mode)
        except FileExistsError:
            if time.monotonic() > ends:
                raise Busy(f"another run is writing it; if none is, remove {lock}") from None
            time.sleep(0.02)


def _read(path: str) -> tuple[bytes, int | None]:
    """Never waits: what lies there may be a pipe or a device."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return b"", None
    with open(descriptor, "rb") as file:
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "it is not a file")
        return file.read(), mode & 0o777


def _sync_folder(folder: str) -> None:
    """Not all file systems can; the file itself is safe."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
