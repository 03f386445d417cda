"""Who has a session open: asked without getting into anybody's way."""

import os

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


def locked_inodes() -> frozenset[int] | None:
    """Of all files that somebody has locked, on any device; None where the system does not tell.
    To try the lock of each would be seen by whoever opens one at that moment."""
    try:
        with open("/proc/locks", encoding="ascii") as file:
            return frozenset(int(inode) for line in file if (inode := _flocked(line)))
    except (OSError, ValueError):
        return None


def _flocked(line: str) -> str:
    """`1: FLOCK  ADVISORY  WRITE 525 fe:00:2212093 0 EOF`. The device may have another number there
    than the file says, so the inode alone is taken."""
    parts = line.split()
    return parts[5].rpartition(":")[2] if len(parts) > 6 and parts[1] == "FLOCK" else ""


def is_locked(path: str) -> bool:
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
    except OSError:
        return False
    try:
        if fcntl is not None:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return False
    except OSError as error:  # others than this one: a file system without locks
        return isinstance(error, BlockingIOError)
    finally:
        os.close(descriptor)
