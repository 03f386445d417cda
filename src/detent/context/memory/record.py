"""Memory files as data: where one was found, and what came of it."""

from typing import Literal

from msgspec import Struct

Level = Literal["managed", "user", "project", "local"]
State = Literal["loaded", "cut", "left out", "waits", "refused", "unreadable"]

MOST_OF_A_FILE = 40_000
"""Characters."""
MOST_OF_ALL = 120_000
MOST_FILES = 500
DEEPEST = 5
"""Imports of imports."""


class Found(Struct, frozen=True):
    """A file that is memory by its name and place."""

    path: str
    level: Level
    why: str
    base: str = ""
    """The folder that the globs of a rule are below."""
    is_rule: bool = False
    is_nested: bool = False
    """It counts since something in its folder was touched."""
    given: str | None = None
    """What it says, where that stands in settings and not in a file of its own."""


class Piece(Struct, frozen=True, omit_defaults=True):
    """One file, for people: whether the model reads it, and why or why not."""

    path: str
    level: Level
    why: str
    state: State
    characters: int = 0
    tokens: int = 0
    """Estimated."""
    imported_by: str = ""
    paths: tuple[str, ...] = ()
    """A rule for files like these."""
    note: str = ""


class Tree(Struct, frozen=True):
    """A memory file with all that it imports: one text for the model."""

    found: Found
    pieces: tuple[Piece, ...]
    text: str = ""
    """Empty: nothing for the model to read."""

    @property
    def globs(self) -> tuple[str, ...]:
        return self.pieces[0].paths if self.pieces else ()

    @property
    def is_silent(self) -> bool:
        """It is there, but empty or not to be read: what the model has read of it is void."""
        silent = ("loaded", "unreadable")
        return not self.text and bool(self.pieces) and self.pieces[0].state in silent
