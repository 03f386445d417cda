"""File name patterns: `*`, `?`, `[abc]`, `{a,b}` inside a name, `**` across folders.

They become regular expressions that take no longer than the name is long: what stands between two
stars is looked for once, from the left, and never again (an atomic group). That is right as long as
it has one length only, so the choices are written out first.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import islice

MAGIC = frozenset("*?[{\\")
LONGEST = 2_000
MOST_CHOICES = 1_000

_RANGE = re.compile("(.)(?:-(.))?", re.DOTALL)
_ANY_FOLDERS = "(?:[^/]+/)*"


def matcher(pattern: str, flags: re.RegexFlag = re.NOFLAG) -> "re.Pattern[str]":
    """For `fullmatch` on a path relative to the folder searched. Raises ValueError when there is
    too much in it."""
    if len(pattern) > LONGEST:
        raise ValueError(f"the pattern is longer than {LONGEST:,} characters")
    try:
        spelled = list(islice(_spelled_out(pattern), MOST_CHOICES + 1))
    except RecursionError:
        raise ValueError("the braces in the pattern are nested too deeply") from None
    if len(spelled) > MOST_CHOICES:
        raise ValueError(f"the braces in the pattern stand for more than {MOST_CHOICES:,}")
    return re.compile("|".join(map(_path, spelled)), re.DOTALL | flags)


def split_literal(pattern: str) -> tuple[str, str]:
    """The folders a pattern names outright, and the rest: nothing else need be walked."""
    parts = pattern.split("/")
    plain = 0
    while plain < len(parts) - 1 and not MAGIC.intersection(parts[plain]):
        plain += 1
    folder = "/".join(parts[:plain])
    return (folder or "/") if plain and pattern.startswith("/") else folder, "/".join(parts[plain:])


def _path(pattern: str) -> str:
    """The names between two `**` are looked for from the left, as the text between two stars is."""
    runs: list[list[str]] = [[]]
    for part in pattern.split("/"):
        if len(part) > 1 and not part.strip("*"):
            if runs[-1] or len(runs) == 1:  # two in a row are one
                runs.append([])
        else:
            runs[-1].append(_name(part))
    first, *rest = runs
    if not rest:
        return "/".join(first)
    *between, last = rest
    regex = "".join(f"{name}/" for name in first)
    for run in between:
        regex += f"(?>(?:[^/]+/)*?{''.join(f'{name}/' for name in run)})"
    return regex + (_ANY_FOLDERS + "/".join(last) if last else ".+")


def _name(pattern: str) -> str:
    """One name: no star in it reaches over a slash."""
    pieces = [""]
    at = 0
    while at < len(pattern):
        if pattern[at] == "*":
            if pieces[-1] or len(pieces) == 1:
                pieces.append("")
            at += 1
            continue
        one, at = _one(pattern, at)
        pieces[-1] += one
    first, *rest = pieces
    if not rest:
        return first
    *between, last = rest
    return first + "".join(f"(?>[^/]*?{piece})" for piece in between) + f"[^/]*{last}"


def _one(pattern: str, at: int) -> tuple[str, int]:
    """The expression for the one character meant at `at`, and where the next begins."""
    char = pattern[at]
    if char == "?":
        return "[^/]", at + 1
    if char == "[":
        return _class(pattern, at)
    if char == "\\" and at + 1 < len(pattern):
        return re.escape(pattern[at + 1]), at + 2
    return re.escape(char), at + 1


def _class(pattern: str, at: int) -> tuple[str, int]:
    end = _class_end(pattern, at)
    if end < 0:
        return re.escape("["), at + 1
    inner = pattern[at + 1 : end]
    negated = inner[0] in "!^"
    inner = inner[1:] if negated else inner
    safe = _RANGE.sub(lambda found: _members(*found.groups()), inner)
    try:
        re.compile(f"[{safe}]")
    except re.error:  # a range that runs backwards
        return re.escape(pattern[at : end + 1]), end + 1
    return f"(?!/)[{'^' if negated else ''}{safe}]", end + 1


def _members(first: str, last: str | None) -> str:
    return re.escape(first) + (f"-{re.escape(last)}" if last else "")


def _class_end(pattern: str, at: int) -> int:
    return pattern.find("]", at + (3 if pattern[at + 1 : at + 2] in ("!", "^") else 2))


def _spelled_out(pattern: str) -> Iterator[str]:
    """`a{b,c}` as `ab` and `ac`. A brace without its other half is just a character."""
    at = 0
    while at < len(pattern):
        if pattern[at] == "{":
            options, end = _options(pattern, at)
            if options:
                yield from _joined(pattern[:at], options, pattern[end:])
                return
        at = _behind(pattern, at)
    yield pattern


def _joined(head: str, options: Iterable[str], tail: str) -> Iterator[str]:
    for option in options:
        for inner in _spelled_out(option):
            for rest in _spelled_out(tail):
                yield head + inner + rest


def _options(pattern: str, at: int) -> tuple[list[str], int]:
    """What the brace at `at` offers, and where its end lies; nothing when it has none."""
    depth, start, options = 0, at + 1, []
    while at < len(pattern):
        char = pattern[at]
        if char == "{":
            depth += 1
        elif char == "," and depth == 1:
            options.append(pattern[start:at])
            start = at + 1
        elif char == "}":
            depth -= 1
            if depth == 0:
                return [*options, pattern[start:at]], at + 1
        at = _behind(pattern, at)
    return [], at


def _behind(pattern: str, at: int) -> int:
    """Where the next character begins; one behind a backslash and a class count as one."""
    if pattern[at] == "\\":
        return at + 2
    end = _class_end(pattern, at) if pattern[at] == "[" else -1
    return end + 1 if end >= 0 else at + 1
