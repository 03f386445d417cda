"""A survey of a repository, as data."""

from typing import Literal

from msgspec import Struct

Purpose = Literal["setup", "build", "test", "one test", "lint", "format", "types", "run", "other"]

NAME = "AGENTS.md"


class Command(Struct, frozen=True, omit_defaults=True):
    purpose: Purpose
    text: str
    source: str
    """The file that says so."""
    about: str = ""


class Findings(Struct, frozen=True):
    """What one kind of file tells."""

    commands: tuple[Command, ...] = ()
    conventions: tuple[str, ...] = ()
    title: str = ""
    about: str = ""


class Language(Struct, frozen=True):
    name: str
    files: int


class Folder(Struct, frozen=True):
    name: str
    what: str


class Survey(Struct, frozen=True):
    folder: str
    title: str
    about: str = ""
    languages: tuple[Language, ...] = ()
    commands: tuple[Command, ...] = ()
    layout: tuple[Folder, ...] = ()
    conventions: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    """Files that tell what runs for each change elsewhere."""
    rules: tuple[str, ...] = ()
    """Files with rules for people and agents: pointed to, not copied."""
    is_cut: bool = False
    """There is more than was looked at."""
    existing: str | None = None
    """The AGENTS.md that there is."""
