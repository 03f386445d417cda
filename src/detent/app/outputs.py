"""Files for output that is too long for a model: beside the session's log, or gone with it."""

import os
import re
from typing import BinaryIO

MOST_TRIES = 1_000
_UNFIT = re.compile(r"[^\w.-]+")


class OutputFolder:
    """Made with its first file. An unsaved session leaves nothing behind."""

    def __init__(self, folder: str, *, lasting: bool) -> None:
        self.folder = folder
        self._lasting = lasting

    def create(self, name: str) -> BinaryIO:
        os.makedirs(self.folder, mode=0o700, exist_ok=True)
        stem = _UNFIT.sub("-", name).strip("-.")[:80] or "output"
        for number in range(1, MOST_TRIES):
            path = os.path.join(
                self.folder, f"{stem}.txt" if number == 1 else f"{stem}-{number}.txt"
            )
            try:
                return open(path, "xb", buffering=0, opener=_private)
            except FileExistsError:
                continue
        raise FileExistsError(f"{self.folder} holds too many files named {stem}")

    def close(self) -> None:
        if not self._lasting:
            from shutil import rmtree

            rmtree(self.folder, ignore_errors=True)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
