"""Files for output that is too long for a model: beside the session's log, or gone with it."""

import os
import re
import stat
from contextlib import suppress
from typing import BinaryIO

MOST_TRIES = 1_000
_UNFIT = re.compile(r"[^\w.-]+")


class OutputFolder:
    """Made with its first file. `beside` the log, or, for an unsaved session and where nothing can
    be written there, `elsewhere`: such a folder goes with the session."""

    def __init__(self, beside: str, elsewhere: str) -> None:
        self._beside = beside
        self._elsewhere = elsewhere
        self._made = False
        """Elsewhere, by us."""

    def create(self, name: str) -> BinaryIO:
        stem = fitting(name)
        if self._beside and not self._made:
            with suppress(OSError):
                os.makedirs(self._beside, mode=0o700, exist_ok=True)
                return _new_file(self._beside, stem)
        if not self._made:
            _make_private(self._elsewhere)
            self._made = True
        return _new_file(self._elsewhere, stem)

    def close(self) -> None:
        if self._made:
            from shutil import rmtree

            rmtree(self._elsewhere, ignore_errors=True)


def fitting(name: str) -> str:
    """As the name of a file."""
    return _UNFIT.sub("-", name).strip("-.")[:80] or "output"


def _make_private(folder: str) -> None:
    """In a place where anybody may make folders: one that is not ours alone is not used."""
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        facts = os.lstat(folder)
        if not _is_ours_alone(facts):
            raise PermissionError(f"{folder} is there already and is not ours alone") from None


def _is_ours_alone(facts: os.stat_result) -> bool:
    own = getattr(os, "getuid", lambda: facts.st_uid)()  # Windows keeps such folders per user
    is_closed = not stat.S_IMODE(facts.st_mode) & 0o077 or os.name == "nt"
    return stat.S_ISDIR(facts.st_mode) and facts.st_uid == own and is_closed


def _new_file(folder: str, stem: str) -> BinaryIO:
    for number in range(1, MOST_TRIES):
        path = os.path.join(folder, f"{stem}.txt" if number == 1 else f"{stem}-{number}.txt")
        try:
            return open(path, "xb", buffering=0, opener=_private)
        except FileExistsError:
            continue
    raise FileExistsError(f"{folder} holds too many files named {stem}")


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
