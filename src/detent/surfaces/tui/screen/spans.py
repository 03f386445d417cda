"""Styled text before it is a line: spans of text with a role, wrapped at words, never in the middle
of a wide character."""

import re
from collections.abc import Iterable

from msgspec import Struct

from detent.surfaces.tables.widths import width_of
from detent.surfaces.tui.screen.themes import Theme

_CODES = re.compile(r"\x1b\[[0-9;:]*m")
_PIECES = re.compile(r"\s+|[^\s\u1100-\uffff\U0001f000-\U0003ffff]+|.", re.DOTALL)
"""Blanks, words, and single characters of scripts that break anywhere."""


class Span(Struct, frozen=True, gc=False):
    text: str
    role: str = ""


def plain(line: str) -> str:
    """A painted line without its codes."""
    return _CODES.sub("", line) if "\x1b" in line else line


def columns(line: str) -> int:
    """How wide a painted line is."""
    return width_of(plain(line))


def painted(spans: Iterable[Span], theme: Theme) -> str:
    return "".join(theme.paint(span.role, span.text) for span in spans)


def wrapped(spans: Iterable[Span], width: int) -> list[list[Span]]:
    """Lines of at most so many columns; blanks at a break are dropped."""
    lines: list[list[Span]] = [[]]
    taken = 0
    for span in spans:
        for number, part in enumerate(span.text.split("\n")):
            if number:
                lines.append([])
                taken = 0
            for piece in _PIECES.findall(part):
                taken = _put(lines, piece, span.role, taken, max(1, width))
    return lines


def _put(lines: list[list[Span]], piece: str, role: str, taken: int, width: int) -> int:
    """Adds a piece to the last line, or to a new one; gives how much of that is taken."""
    size = width_of(piece)
    if taken + size <= width:
        _add(lines[-1], piece, role)
        return taken + size
    if piece.isspace():
        lines.append([])
        return 0
    if taken and size <= width:
        _strip_end(lines[-1])
        lines.append([])
        _add(lines[-1], piece, role)
        return size
    for char in piece:  # longer than any line
        wide = width_of(char)
        if taken + wide > width and taken:
            lines.append([])
            taken = 0
        _add(lines[-1], char, role)
        taken += wide
    return taken


def _add(line: list[Span], text: str, role: str) -> None:
    if line and line[-1].role == role:
        line[-1] = Span(line[-1].text + text, role)
    else:
        line.append(Span(text, role))


def _strip_end(line: list[Span]) -> None:
    while line and not (kept := line[-1].text.rstrip()):
        line.pop()
    if line:
        line[-1] = Span(kept, line[-1].role)


def clipped(line: str, width: int) -> str:
    """A painted line cut to so many columns; its codes stay whole."""
    if columns(line) <= width:
        return line
    kept, taken, at, has_code = "", 0, 0, False
    while at < len(line):
        if code := _CODES.match(line, at):
            kept, at, has_code = kept + code[0], code.end(), True
            continue
        taken += width_of(line[at])
        if taken > width - 1:
            break
        kept, at = kept + line[at], at + 1
    return f"{kept}…" + ("\x1b[0m" if has_code else "") if width > 0 else ""


def middle_cut(text: str, width: int) -> str:
    """A long path keeps its beginning and its end."""
    if width_of(text) <= width:
        return text
    if width < 5:
        return clipped(text, width)
    tail, head = (width - 1) * 2 // 3, (width - 1) - (width - 1) * 2 // 3
    return f"{_first(text, head)}…{_first(text[::-1], tail)[::-1]}"


def _first(text: str, width: int) -> str:
    taken = 0
    for number, char in enumerate(text):
        taken += width_of(char)
        if taken > width:
            return text[:number]
    return text
