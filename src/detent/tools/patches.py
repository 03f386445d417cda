"""What a replacement changed, as hunks with a few lines around."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from detent.tools.texts import legible, numbered

CONTEXT = 3
MOST_HUNKS = 100
SNIPPET = 30


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
        lines = [line[1:] for line in self.lines if line[0] != "-"]
        more = "\n   ..." if len(lines) > SNIPPET else ""
        return numbered(lines[:SNIPPET], self.new_start) + more


def hunks(body: str, old: str, new: str, starts: Sequence[int]) -> list[Hunk]:
    """One hunk for each place, or for several whose surroundings touch.

    Made from the known places, not by comparing texts: that could take very long.
    """
    made: list[Hunk] = []
    line, seen, shift = 1, 0, 0
    for left, right in _spans(body, len(old), starts)[:MOST_HUNKS]:
        line += body.count("\n", seen, left)
        seen = left
        before = body[left:right].split("\n")
        after = body[left:right].replace(old, new).split("\n")
        if before[-1] == after[-1] == "" and right == len(body):
            del before[-1], after[-1]  # what follows the last newline is not a line
        made.append(Hunk(line, len(before), line + shift, len(after), _marked(before, after)))
        shift += len(after) - len(before)
    return made


def _spans(body: str, length: int, starts: Sequence[int]) -> list[tuple[int, int]]:
    """Whole lines around each place; spans that touch become one."""
    spans: list[tuple[int, int]] = []
    for start in starts:
        left, right = body.rfind("\n", 0, start) + 1, _line_end(body, start + length)
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
    shorter = min(len(before), len(after))
    head = 0
    while head < shorter and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < shorter - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    end = len(before) - tail
    parts = (
        (" ", before[:head]),
        ("-", before[head:end]),
        ("+", after[head : len(after) - tail]),
        (" ", before[end:]),
    )
    return tuple(mark + legible(line) for mark, lines in parts for line in lines)
