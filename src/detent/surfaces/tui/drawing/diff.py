"""What a call has changed in a file: hunks with numbers, colours of the language, and marks on the
part of a line that differs."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from detent.surfaces.tables.widths import width_of
from detent.surfaces.tui.drawing.highlight import highlighted
from detent.surfaces.tui.screen.spans import Span, clipped, painted
from detent.surfaces.tui.screen.themes import Theme
from detent.surfaces.wording.shown import visible

_WORDS = re.compile(r"\w+|\s+|.")
LONGEST_COMPARED = 400
"""Characters of a pair of lines that are compared."""


class Row(Struct, frozen=True):
    sign: str
    number: int
    text: str
    partner: str | None = None
    """The line that stood here, or stands here now."""


def counted_lines(hunks: Iterable[Mapping[str, Any]]) -> tuple[int, int]:
    """How many were added, and how many removed."""
    lines = [line for hunk in hunks for line in hunk.get("lines", ())]
    return sum(line[:1] == "+" for line in lines), sum(line[:1] == "-" for line in lines)


def drawn(
    hunks: Sequence[Mapping[str, Any]],
    file: str,
    width: int,
    theme: Theme,
    most: int,
    *,
    wraps: bool = False,
) -> list[str]:
    """`wraps`: what is too long for a line goes on in the next; else it is cut."""
    rows = [row for number, hunk in enumerate(hunks) for row in _with_gap(number, hunk)]
    digits = len(str(max((row.number for row in rows), default=1)))
    rooms = max(8, width - digits - 3) if wraps else 0
    lines = [line for row in rows[:most] for line in _line(row, file, digits, theme, rooms)]
    if len(rows) > most:
        lines.append(theme.paint("faint", f"… {len(rows) - most} more lines (ctrl+o shows all)"))
    return [clipped(line, width) for line in lines]


def _with_gap(number: int, hunk: Mapping[str, Any]) -> Iterator[Row]:
    if number:
        yield Row("…", 0, "")
    yield from _rows(hunk)


def _rows(hunk: Mapping[str, Any]) -> Iterator[Row]:
    old, new = int(hunk.get("oldStart", 1)), int(hunk.get("newStart", 1))
    removed: list[Row] = []
    added: list[Row] = []
    for line in hunk.get("lines", ()):
        sign, text = line[:1], line[1:]
        if sign == "-":
            if added:
                yield from _paired(removed, added)
                removed, added = [], []
            removed.append(Row("-", old, text))
            old += 1
        elif sign == "+":
            added.append(Row("+", new, text))
            new += 1
        else:
            yield from _paired(removed, added)
            removed, added = [], []
            yield Row(" ", new, text)
            old, new = old + 1, new + 1
    yield from _paired(removed, added)


def _paired(removed: list[Row], added: list[Row]) -> Iterator[Row]:
    """As many lines on both sides: each was changed into the other of its place."""
    if len(removed) == len(added):
        for side, other in ((removed, added), (added, removed)):
            for row, partner in zip(side, other, strict=True):
                yield Row(row.sign, row.number, row.text, partner.text)
    else:
        yield from (*removed, *added)


def _line(row: Row, file: str, digits: int, theme: Theme, room: int) -> list[str]:
    if row.sign == "…":
        return [theme.paint("faint", " " * digits + " …")]
    role = {"+": "added", "-": "removed"}.get(row.sign, "")
    text = visible(row.text.expandtabs(4))
    if not role:
        spans = highlighted(text, file=file)
    elif row.partner is None:
        spans = [Span(text, role)]
    else:
        spans = _marked(text, visible(row.partner.expandtabs(4)), role)
    margin = theme.paint("faint", f"{row.number:>{digits}} ") + theme.paint(role, f"{row.sign} ")
    rows = _chopped(spans, room) if room else [spans]
    others = " " * (digits + 1) + theme.paint(role, f"{row.sign} ")
    return [(others if at else margin) + painted(part, theme) for at, part in enumerate(rows)]


def _chopped(spans: Sequence[Span], room: int) -> list[list[Span]]:
    """Exactly as it stands, blanks and all: somebody decides about it."""
    rows: list[list[Span]] = [[]]
    taken = 0
    for span in spans:
        for char in span.text:
            if taken + width_of(char) > room:
                rows.append([])
                taken = 0
            taken += width_of(char)
            if rows[-1] and rows[-1][-1].role == span.role:
                rows[-1][-1] = Span(rows[-1][-1].text + char, span.role)
            else:
                rows[-1].append(Span(char, span.role))
    return rows


def _marked(text: str, partner: str, role: str) -> list[Span]:
    """The parts that the other line does not have."""
    if len(text) + len(partner) > LONGEST_COMPARED:
        return [Span(text, role)]
    from difflib import SequenceMatcher

    words = _WORDS.findall(text)
    matcher = SequenceMatcher(None, _WORDS.findall(partner), words, autojunk=False)
    if matcher.ratio() < 0.4:  # nothing of it is left: marks would be noise
        return [Span(text, role)]
    return [
        Span("".join(words[start:end]), role if what == "equal" else f"{role}_part")
        for what, _, _, start, end in matcher.get_opcodes()
        if end > start
    ]
