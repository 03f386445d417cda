"""Files that are not whole yet, beside the one they will become.

Whoever writes one holds a lock on it: what nobody holds was left by an agent that was killed.
"""

import os
import re
from contextlib import suppress

try:
    import fcntl
except ImportError:  # Windows: nothing is held there, and nothing swept
    fcntl = None  # type: ignore[assignment]

_NAME = re.compile(r"\.detent-[0-9a-f]{12}\.tmp")


def partial_name() -> str:
    return f".detent-{os.urandom(6).hex()}.tmp"


def hold(descriptor: int) -> None:
    """As long as it is open. Some file systems know no locks: there it is not swept either."""
    if fcntl is not None:
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def sweep_partials(folder: str) -> None:
    """Removes those that nobody writes any longer."""
    with suppress(OSError):
        for name in os.listdir(folder):
            if _NAME.fullmatch(name):
                with suppress(OSError):
                    _remove_left(os.path.join(folder, name))


def _remove_left(path: str) -> None:
    """Raises OSError where somebody holds it."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    try:
        if fcntl is not None:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.unlink(path)
    finally:
        os.close(descriptor)
