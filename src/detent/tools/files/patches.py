"""What a change did to a text, as hunks with a few lines around."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from msgspec import Struct

from detent.tools.files.swaps import Place, Swap
from detent.tools.files.texts import excerpt, first_difference, legible, lines_of, numbered

CONTEXT = 3
MOST_HUNKS = 100
SNIPPET = 30
MOST_COMPARED = 2_000
"""Lines; the work grows with their square."""
MOST_LINES = 2_000
"""Of one hunk."""


class Hunk(Struct, frozen=True):
    """Lines carry their mark: space, minus or plus."""

    old_start: int
    old_lines: int
    new_start: int
    new_lines: int
    lines: tuple[str, ...]

    def as_data(self) -> dict[str, Any]:
        return {
            "oldStart": self.old_start,
            "oldLines": self.old_lines,
            "newStart": self.new_start,
            "newLines": self.new_lines,
            "lines": list(self.lines),
        }

    def snippet(self) -> str:
        """The new text, numbered as Read would number it."""
        lines = list(islice(self._excerpts(), SNIPPET + 1))
        more = "\n   ..." if len(lines) > SNIPPET else ""
        return numbered(lines[:SNIPPET], self.new_start) + more

    def _excerpts(self) -> Iterator[str]:
        """The new lines; of a long one the part where it changed."""
        gone = (line[1:] for line in self.lines if line[0] == "-")
        for line in self.lines:
            if line[0] != "-":
                at = first_difference(line[1:], next(gone, "")) if line[0] == "+" else 0
                yield excerpt(line[1:].removesuffix("\r"), at)


def hunks(body: str, swap: Swap, places: Sequence[Place]) -> list[Hunk]:
    """One hunk for each place, or for several whose surroundings touch.

    Made from the known places, not by comparing texts: that could take very long.
    """
    made: list[Hunk] = []
    line, seen, shift = 1, 0, 0
    for left, right in _spans(body, places)[:MOST_HUNKS]:
        line += body.count("\n", seen, left)
        seen = left
        before = body[left:right].split("\n")
        after = swap.applied(body, left, right).split("\n")
        if before[-1] == after[-1] == "" and right == len(body):
            del before[-1], after[-1]  # what follows the last newline is not a line
        made.append(Hunk(line, len(before), line + shift, len(after), _marked(before, after)))
        shift += len(after) - len(before)
    return made


def comparison(before: str, after: str) -> list[Hunk]:
    """Of two whole texts. Blocking: run it in a thread. Where they differ over more lines than can
    be compared in good time, all of these are one hunk."""
    old, new = lines_of(before), lines_of(after)
    head, tail = _in_common(old, new)
    # Only what lies between the common ends, with its surroundings.
    first, last = max(0, head - CONTEXT), max(0, tail - CONTEXT)
    old, new = old[first : len(old) - last], new[first : len(new) - last]
    if max(len(old), len(new)) <= MOST_COMPARED:
        return _compared(old, new, first)[:MOST_HUNKS]
    marked = _marked(old, new)[:MOST_LINES]
    return [_hunk((first, first + len(old)), (first, first + len(new)), marked)]


def _compared(old: list[str], new: list[str], offset: int) -> list[Hunk]:
    from difflib import SequenceMatcher

    made = []
    for group in SequenceMatcher(None, old, new).get_grouped_opcodes(CONTEXT):
        lines: list[str] = []
        for what, left, right, start, end in group:
            if what == "equal":
                lines += (" " + legible(line) for line in old[left:right])
                continue
            lines += ("-" + legible(line) for line in old[left:right])
            lines += ("+" + legible(line) for line in new[start:end])
        (_, left, _, start, _), (_, _, right, _, end) = group[0], group[-1]
        spans = (left + offset, right + offset), (start + offset, end + offset)
        made.append(_hunk(*spans, tuple(lines)))
    return made


def _hunk(old: tuple[int, int], new: tuple[int, int], lines: tuple[str, ...]) -> Hunk:
    """From spans of lines counted from 0. A side without lines is counted as diff does it: by the
    line before."""
    (left, right), (start, end) = old, new
    return Hunk(left + (right > left), right - left, start + (end > start), end - start, lines)


def _spans(body: str, places: Sequence[Place]) -> list[Place]:
    """Whole lines around each place; spans that touch become one."""
    spans: list[Place] = []
    line_end = -1
    for start, end in places:
        if end <= line_end:
            continue  # in the line of the one before: it may be long and hold many
        left, right = body.rfind("\n", 0, start) + 1, _line_end(body, end)
        line_end = right
        for _ in range(CONTEXT):
            left = body.rfind("\n", 0, left - 1) + 1 if left else 0
            right = _line_end(body, right + 1)
        if spans and left <= spans[-1][1]:
            left = spans.pop()[0]
        spans.append((left, right))
    return spans


def _line_end(body: str, at: int) -> int:
    found = body.find("\n", at)
    return found if found >= 0 else len(body)


def _marked(before: list[str], after: list[str]) -> tuple[str, ...]:
    head, tail = _in_common(before, after)
    end = len(before) - tail
    parts = (
        (" ", before[:head]),
        ("-", before[head:end]),
        ("+", after[head : len(after) - tail]),
        (" ", before[end:]),
    )
    return tuple(mark + legible(line) for mark, lines in parts for line in lines)


def _in_common(before: list[str], after: list[str]) -> tuple[int, int]:
    """How many lines at the beginning and at the end."""
    shorter = min(len(before), len(after))
    head = 0
    while head < shorter and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < shorter - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    return head, tail
