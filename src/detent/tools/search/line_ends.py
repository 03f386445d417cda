"""Line ends in a regular expression: whether it has one, and how it finds those of Windows."""

import re

_PIECE = re.compile(
    r"""
    (?P<class> \[ \^? \]? (?: \\. | \[:\w+:\] | [^\]\\] )* \] )
    | (?P<end> \\n | \n )
    | \\. | .
    """,
    re.VERBOSE | re.DOTALL,
)


def holds_line_end(pattern: str) -> bool:
    """`a\\nb`, but not `[^\\n]`, which only says what there is not."""
    for piece in _PIECE.finditer(pattern):
        inside = piece["class"]
        if piece["end"] or (inside and not inside.startswith("[^") and _is_in(inside)):
            return True
    return False


def _is_in(inside: str) -> bool:
    return any(piece["end"] for piece in _PIECE.finditer(inside[1:-1]))


def for_any_line_end(pattern: str) -> str:
    """`\\n` finds the line ends of Windows as well. Where it may not be of two lengths (behind
    something that is looked for backwards) or where blanks mean nothing, it is left alone."""
    if "(?<" in pattern or "(?x" in pattern:
        return pattern
    return _PIECE.sub(lambda piece: r"(?:\r?\n)" if piece["end"] else piece[0], pattern)
