"""Folders of one sandbox on the disk of the machine, and all that must be gone with it."""

import fcntl
import json
import os
import shutil
import stat
from contextlib import suppress
from tempfile import gettempdir, mkdtemp

PREFIX = "detent-sandbox-"
LOCK = "lock"
"""Held as long as its agent lives, or a command that outlives it."""
MADE = "made"
"""The list of the empty folders that were made to be mounted on."""


class Private:
    """Made when first needed, for nobody but this user."""

    def __init__(self) -> None:
        self._folder = ""
        self._lock = -1
        self._made: list[str] = []
        self._is_shared = False

    @property
    def scratch(self) -> str:
        """What commands leave for the agent."""
        return os.path.join(self._own(), "scratch")

    @property
    def temporary(self) -> str:
        """What commands find at /tmp, or are told of by TMPDIR."""
        return os.path.join(self._own(), "tmp")

    def _own(self) -> str:
        if not self._folder:
            _sweep()
            self._folder = mkdtemp(prefix=PREFIX, dir=_base())
            self._lock = _locked(os.path.join(self._folder, LOCK), os.O_CREAT)
            for name in ("scratch", "tmp"):
                os.mkdir(os.path.join(self._folder, name), 0o700)
        return self._folder

    def make(self, folders: list[str]) -> None:
        """To be mounted on. Written down first, in case that nobody tidies up after us."""
        if not folders:
            return
        with open(os.path.join(self._own(), MADE), "w", encoding="utf-8") as file:
            json.dump([*self._made, *folders], file)
        for folder in folders:
            with suppress(OSError):  # where we cannot, no command can
                os.mkdir(folder)
                self._made.append(folder)

    def shared(self) -> int:
        """The lock, for a command that may outlive us: what it works with stays as long."""
        self._own()
        self._is_shared = True
        return self._lock

    def remove(self) -> None:
        if self._is_shared:
            os.close(self._lock)
            with suppress(OSError):  # in use: whoever comes later removes it
                _remove_left(self._folder)
            self._folder, self._is_shared = "", False
            self._made.clear()
            return
        _remove_empty(self._made)
        self._made.clear()
        if self._folder:
            _remove_tree(self._folder)
            os.close(self._lock)
            self._folder = ""


def _base() -> str:
    return os.path.realpath(gettempdir())


def _remove_empty(folders: list[str]) -> None:
    for folder in folders:
        with suppress(OSError):  # somebody has put something there, or has removed it
            os.rmdir(folder)


def _sweep() -> None:
    """What agents that were killed have left."""
    with suppress(OSError):
        for entry in os.scandir(_base()):
            if entry.name.startswith(PREFIX):
                with suppress(OSError):  # not ours, not yet complete, or in use
                    _remove_left(entry.path)


def _remove_left(folder: str) -> None:
    found = os.lstat(folder)
    if found.st_uid != os.getuid() or not stat.S_ISDIR(found.st_mode):
        return
    lock = _locked(os.path.join(folder, LOCK))
    try:
        with (
            suppress(OSError, ValueError),
            open(os.path.join(folder, MADE), encoding="utf-8") as file,
        ):
            _remove_empty([str(path) for path in json.load(file)])
        _remove_tree(folder)
    finally:
        os.close(lock)


def _locked(path: str, flags: int = 0) -> int:
    """Raises OSError when somebody else holds it."""
    lock = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | flags, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        raise
    return lock


def _remove_tree(folder: str) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    if os.path.lexists(folder):  # some tools leave folders that not even their owner may change
        for path, _, _ in os.walk(folder):
            with suppress(OSError):
                os.chmod(path, 0o700)
        shutil.rmtree(folder, ignore_errors=True)
