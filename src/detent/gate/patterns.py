"""Path patterns of rules, in the manner of gitignore."""

import os
import re
from functools import lru_cache

from msgspec import Struct

from detent.gate.meeting import may_meet
from detent.gate.paths import real

_GLOB = frozenset("*?[")
_ANY_NAME = "\x01"
"""Stands for a file of whatever name."""


class PathPattern(Struct, frozen=True):
    regexes: tuple[re.Pattern[str], ...]
    bases: tuple[str, ...]
    """Everything that matches lies below one of these."""
    glob: str
    """What stands behind a base."""

    def matches(self, path: str) -> bool:
        return any(regex.match(path) for regex in self.regexes)

    def touches(self, path: str) -> bool:
        """Also the folder whose files match: who names it gets at them."""
        return self.matches(path) or self.matches(f"{path.rstrip('/')}/{_ANY_NAME}")

    def is_met_by(self, glob: str) -> bool:
        """Whether a glob of the shell, an absolute path, may name what matches, or its folder."""
        wholes = [f"{_as_glob(base)}/{self.glob}/**" for base in self.bases]
        return any(may_meet(each, w) for each in (glob, f"{glob}/{_ANY_NAME}") for w in wholes)

    def lies_below(self, folder: str) -> bool:
        """Whether the place where the pattern starts is in this folder, or is it."""
        return any(_is_below(base, folder) for base in self.bases)

    def starts_above(self, folder: str) -> bool:
        return any(_is_below(folder, base) for base in self.bases)


def compiled(pattern: str, place: "Anchors", *, anywhere: bool) -> PathPattern:
    """`//p` is absolute, `~/p` in the home folder, `/p` where its settings stand, everything else
    below the working folder.

    A bare name matches at any depth; with `anywhere` (deny, ask) so does `dir/**`, and a folder
    that is a link counts by the place it leads to as well.
    """
    base, rest = _anchored(pattern, place, anywhere)
    bases = tuple(dict.fromkeys((base, real(base)) if anywhere else (base,)))
    return PathPattern(tuple(_regex(base, rest, anywhere) for base in bases), bases, rest)


class Anchors(Struct, frozen=True):
    """The folders that patterns start from."""

    project: str
    """Where the session began."""
    home: str
    settings: str
    """Where the rule stands, for `/p`."""


def _anchored(pattern: str, place: Anchors, anywhere: bool) -> tuple[str, str]:
    """The folder a pattern starts from, taken literally, and the rest of it."""
    if pattern.startswith("//"):
        return _split("/", pattern[2:])
    if pattern.startswith("~/") or pattern == "~":
        return _split(place.home, pattern[2:])
    if pattern.startswith("/"):
        return _split(place.settings, pattern[1:])
    cwd = place.project
    plain = pattern.removeprefix("./").rstrip("/")
    if plain in ("", ".", "..") or plain.startswith("../"):
        return _split(cwd, plain)
    floats = "/" not in plain or (anywhere and (plain.count("/") <= 1 or plain.endswith("/**")))
    return (cwd, f"**/{plain}") if floats else _split(cwd, plain)


def _split(base: str, glob: str) -> tuple[str, str]:
    parts = glob.rstrip("/").split("/")
    literal = next((i for i, part in enumerate(parts) if _GLOB & set(part)), len(parts))
    return os.path.normpath(os.path.join(base, *parts[:literal])), "/".join(parts[literal:])


def _is_below(path: str, folder: str) -> bool:
    return (path.rstrip("/") + "/").startswith(folder.rstrip("/") + "/")


def _as_glob(folder: str) -> str:
    """A folder is taken literally, whatever signs its name holds."""
    return re.sub(r"([*?\[])", r"[\1]", folder)


@lru_cache(1024)
def _regex(base: str, glob: str, wide: bool) -> re.Pattern[str]:
    """A folder's pattern covers what is in it."""
    behind = f"/{_translated(glob, wide)}" if glob else ""
    return re.compile(rf"{re.escape(base.rstrip('/'))}{behind}(?:/.*)?\Z", re.DOTALL)


def _translated(glob: str, wide: bool) -> str:
    out, position = "", 0
    while position < len(glob):
        rest, starts_part = glob[position:], position == 0 or glob[position - 1] == "/"
        if starts_part and rest.startswith("**/"):
            out, position = out + "(?:.*/)?", position + 3
        elif rest.startswith("**"):
            crosses = wide or (starts_part and rest == "**")
            out, position = out + (".*" if crosses else "[^/]*"), position + 2
        elif rest[0] == "*":
            out, position = out + "[^/]*", position + 1
        elif rest[0] == "?":
            out, position = out + "[^/]", position + 1
        elif (match := re.match(r"\[([!^]?)([^\]/]+)\]", rest)) is not None:
            out, position = out + _one_of(match), position + match.end()
        else:
            out, position = out + re.escape(rest[0]), position + 1
    return out


def _one_of(match: re.Match[str]) -> str:
    inside = re.escape(match[2]).replace(r"\-", "-")
    try:
        re.compile(f"[{inside}]")
    except re.error:
        return re.escape(match[0])
    return rf"(?!/)[{'^' if match[1] else ''}{inside}]"
