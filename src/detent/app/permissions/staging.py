"""Folders and links that a case needs, made below one folder and taken away again."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from detent.types.errors import BadInput


class Stage:
    def __init__(self, home: str) -> None:
        self.home = home
        self._made: list[str] = []

    def folder(self, path: str) -> None:
        """Stays where it lies elsewhere: a case may be about a folder that is not there."""
        if self._is_inside(path):
            self._folders(path)

    def link(self, path: str, target: str) -> None:
        path = os.path.normpath(path)
        folder = os.path.dirname(path)
        if not self._is_inside(folder):
            raise BadInput(f"a link outside the home folder is not made: {path}")
        self._folders(folder)
        if os.path.lexists(path):
            if os.path.islink(path) and os.readlink(path) == target:
                return
            raise BadInput(f"{path} is there already; use an empty folder")
        os.symlink(target, path)
        self._made.append(path)

    def clear(self) -> None:
        for path in reversed(self._made):
            with suppress(OSError):  # a folder that somebody else has put something into stays
                (os.unlink if os.path.islink(path) else os.rmdir)(path)
        self._made.clear()

    def _folders(self, path: str) -> None:
        missing = []
        while not os.path.isdir(path):
            missing.append(path)
            path = os.path.dirname(path)
        try:
            for folder in reversed(missing):
                os.mkdir(folder)
                self._made.append(folder)
        except OSError as error:
            raise BadInput(f"{error.filename}: {error.strerror}") from None

    def _is_inside(self, path: str) -> bool:
        """By its real place: a link of the case may lead out."""
        return f"{os.path.realpath(path)}/".startswith(f"{self.home}/")


@contextmanager
def staged(home: str) -> Iterator[Stage]:
    stage = Stage(home)
    try:
        yield stage
    finally:
        stage.clear()
