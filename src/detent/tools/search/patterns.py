"""File name patterns: `*`, `?`, `[abc]`, `{a,b}` inside a name, `**` across folders."""

import re

MAGIC = frozenset("*?[{\\")


def matcher(pattern: str) -> "re.Pattern[str]":
    """For `fullmatch` on a path relative to the folder searched."""
    return re.compile(_translated(pattern), re.DOTALL)


def split_literal(pattern: str) -> tuple[str, str]:
    """The folders a pattern names outright, and the rest: nothing else need be walked."""
    parts = pattern.split("/")
    plain = 0
    while plain < len(parts) - 1 and not MAGIC.intersection(parts[plain]):
        plain += 1
    folder = "/".join(parts[:plain])
    return (folder or "/") if plain and pattern.startswith("/") else folder, "/".join(parts[plain:])


def _translated(pattern: str) -> str:
    regex, at = "", 0
    while at < len(pattern):
        piece, at = _next(pattern, at)
        regex += piece
    return regex


def _next(pattern: str, at: int) -> tuple[str, int]:
    """The expression for what begins at `at`, and where the next begins."""
    char = pattern[at]
    if char == "*":
        return _stars(pattern, at)
    if char == "?":
        return "[^/]", at + 1
    if char == "[":
        return _class(pattern, at)
    if char == "{":
        return _choice(pattern, at)
    if char == "\\" and at + 1 < len(pattern):
        return re.escape(pattern[at + 1]), at + 2
    return re.escape(char), at + 1


def _stars(pattern: str, at: int) -> tuple[str, int]:
    end = at
    while end < len(pattern) and pattern[end] == "*":
        end += 1
    alone = at == 0 or pattern[at - 1] == "/"
    if end - at < 2 or not alone:
        return "[^/]*", end
    if end == len(pattern):
        return ".+", end
    if pattern[end] != "/":
        return "[^/]*", end
    while pattern.startswith("**/", end + 1):  # the same again, and slow to match
        end += 3
    return "(?:[^/]+/)*", end + 1


def _class(pattern: str, at: int) -> tuple[str, int]:
    end = pattern.find("]", at + (3 if pattern[at + 1 : at + 2] in ("!", "^") else 2))
    if end < 0:
        return re.escape("["), at + 1
    inner = pattern[at + 1 : end]
    negated = inner[0] in "!^"
    inner = inner[1:] if negated else inner
    safe = re.sub(r"([\\\[\]&~|^])", r"\\\1", inner)
    try:
        re.compile(f"[{safe}]")
    except re.error:  # a range that runs backwards
        return re.escape(pattern[at : end + 1]), end + 1
    return f"(?!/)[{'^' if negated else ''}{safe}]", end + 1


def _choice(pattern: str, at: int) -> tuple[str, int]:
    depth, start, options = 0, at + 1, []
    for end in range(at, len(pattern)):
        char = pattern[end]
        if char == "{":
            depth += 1
        elif char == "," and depth == 1:
            options.append(pattern[start:end])
            start = end + 1
        elif char == "}":
            depth -= 1
            if depth == 0:
                options.append(pattern[start:end])
                return f"(?:{'|'.join(map(_translated, options))})", end + 1
    return re.escape("{"), at + 1
