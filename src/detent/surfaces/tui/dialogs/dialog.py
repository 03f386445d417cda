"""What every dialog is: lines, keys, and an answer that somebody waits for."""

import asyncio
from typing import Any, Generic, TypeVar

from msgspec import Struct

from detent.surfaces.tables.widths import one_line
from detent.surfaces.tui.drawing.blocks import Look
from detent.surfaces.tui.screen.spans import Span, clipped, columns, painted, wrapped

T = TypeVar("T")
STOPPED = "No, and stop."
"""Why, where an answer ends the turn as well."""


class Entry(Struct, frozen=True):
    """A text that the dialog wants: it is typed into the text box."""

    title: str
    text: str = ""
    is_secret: bool = False


class Dialog(Generic[T]):
    """`press` gets the names of keys, and characters as they are."""

    comes_unasked = False
    """The person did not call for it: a key that is just being pressed is not meant for it."""
    is_all_entry = False
    """It is nothing but its text box: who leaves that leaves it."""
    entry: Entry | None = None
    """Set: the text box is open for it, and `give` gets what was typed."""

    def __init__(self) -> None:
        self.answer: asyncio.Future[T] = asyncio.get_running_loop().create_future()

    def lines(self, look: Look, height: int) -> list[str]:
        raise NotImplementedError

    def press(self, key: str) -> None:
        raise NotImplementedError

    def give(self, text: str) -> None:
        """What was typed, where it wanted a text."""

    def paste(self, text: str) -> None:
        """Where nothing is typed, nothing is pasted."""

    def resolve(self, answer: T) -> None:
        if not self.answer.done():
            self.answer.set_result(answer)


class Row(Struct, frozen=True):
    label: str
    about: str = ""
    value: Any = None


class Rows:
    """Some rows of which one is chosen: by arrows, or by its number."""

    def __init__(self, rows: tuple[Row, ...]) -> None:
        self.rows = rows
        self.at = 0

    @property
    def chosen(self) -> Row | None:
        return self.rows[self.at] if self.rows else None

    def press(self, key: str) -> bool:
        """Whether the row that stands is meant now."""
        if key in ("up", "down", "page up", "page down", "home", "end"):
            self._move(key)
        elif key == "enter":
            return bool(self.rows)
        elif len(key) == 1 and key.isdecimal() and 0 < int(key) <= len(self.rows):
            self.at = int(key) - 1
            return True
        return False

    def _move(self, key: str) -> None:
        steps = {"up": -1, "down": 1, "page up": -10, "page down": 10, "home": -(10**9)}
        last = max(0, len(self.rows) - 1)
        step = steps.get(key, 10**9)
        if abs(step) == 1 and self.rows:
            self.at = (self.at + step) % len(self.rows)
        else:
            self.at = max(0, min(last, self.at + step))

    def lines(self, look: Look, most: int) -> list[str]:
        """So many rows around the chosen one; a label is broken where it is long, never cut: it may
        be a rule that somebody agrees to."""
        first = max(0, min(self.at - most // 2, len(self.rows) - most))
        wide = self._widest(look)
        found: list[str] = []
        for number, row in enumerate(self.rows[first : first + most], first):
            role = "accent" if number == self.at else ""
            sign = f"{'❯' if number == self.at else ' '} {number + 1}. "
            label, about = one_line(row.label), one_line(row.about)
            spans = [Span(label, role)]
            gap = " " * (max(0, wide - columns(label)) + 2)
            if about and columns(f"{sign}{label}{gap}{about}") <= look.width:
                spans.append(Span(f"{gap}{about}", "faint"))
            lines = wrapped(spans, max(4, look.width - len(sign)))
            for at, line in enumerate(lines):
                margin = look.theme.paint(role, sign) if at == 0 else " " * len(sign)
                found.append(margin + painted(line, look.theme))
            if about and len(spans) == 1:
                about = clipped(f"{' ' * len(sign)}{about}", look.width)
                found.append(look.theme.paint("faint", about))
        return found

    def _widest(self, look: Look) -> int:
        """Of the labels that something is said about, so that it stands in one column; a long one
        stands alone."""
        sizes = (columns(row.label) for row in self.rows if row.about)
        return max((size for size in sizes if size <= look.width // 2), default=0)
