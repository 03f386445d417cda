"""Frames for a terminal: finished lines go to its scrollback for good, live ones below them are
repainted where they differ. A frame is one write, so that nothing half-done is ever seen.

Only what this module wrote is ever written over: it keeps the live lines as they were painted, and
counts rows from there. Nothing asks the terminal where its cursor is.
"""

import re
from collections.abc import Callable, Sequence

from detent.surfaces.tables.widths import width_of
from detent.surfaces.tui.screen.spans import clipped, columns

Write = Callable[[str], None]

BEGIN, END = "\x1b[?2026h", "\x1b[?2026l"
"""Terminals that know it show all that lies between at once."""
HIDE, SHOW = "\x1b[?25l", "\x1b[?25h"
_OBEYED = re.compile("[\x00-\x08\x0a-\x1a\x1c-\x1f\x7f-\x9f]|\x1b(?!\\[[0-9;:]*m)")
LEAST_SAME = 6
"""Columns that are worth skipping."""
ERASE_BELOW, ERASE_LINE = "\x1b[J", "\x1b[K"
ANEW = f"{ERASE_LINE}\x1b[1C{ERASE_BELOW}\r"
"""The same as ERASE_BELOW in the first column. That alone, at the top of the screen, tmux takes for
a clear screen, and keeps what stood there in its scrollback."""
_BREAKS = str.maketrans({"\n": "⏎", "\t": " ", "\r": None})


class Painter:
    def __init__(self, write: Write, width: int = 80, height: int = 24) -> None:
        self._write = write
        self._lines: list[str] = []
        self._cursor = (0, 0)
        """Row and column within the live lines: where the terminal's cursor is."""
        self._typing: tuple[int, int] | None = None
        """Where it was wanted."""
        self.width, self.height = width, height

    @property
    def live(self) -> Sequence[str]:
        return tuple(self._lines)

    def frame(
        self, finished: Sequence[str], live: Sequence[str], cursor: tuple[int, int] | None
    ) -> None:
        """`cursor` is the place of typing; None hides it."""
        shown = self._fitting(live)
        at = self._fitting_cursor(cursor, len(live), len(shown))
        if not finished and shown == self._lines and at == self._typing:
            return
        self._write("".join((BEGIN, HIDE, self._body(finished, shown), self._place(at), END)))
        self._lines, self._typing = shown, at
        self._cursor = at or self._cursor

    def _body(self, finished: Sequence[str], shown: list[str]) -> str:
        if finished:
            above = "".join(f"{_harmless(line)}\r\n" for line in finished)
            text = self._to_top() + ANEW + above + "\r\n".join(shown)
            self._cursor = (max(0, len(shown) - 1), 0)
            return text
        return self._changed(shown)

    def _changed(self, shown: list[str]) -> str:
        """Rewrites the lines that differ, and only these. Behind a full line nothing is erased: the
        cursor still stands on its last character."""
        row, parts = self._cursor[0], []
        old = self._lines
        for number, line in enumerate(shown):
            if number < len(old) and old[number] == line:
                continue
            if number >= len(old) and number:
                parts.append(_moved(row, number - 1) + "\r\n")  # a row that may have to be made
                before = ""
            else:
                parts.append(_moved(row, number) + "\r")
                before = old[number] if number < len(old) else ""
            parts.append(_rest(before, line))
            parts.append(ERASE_LINE if columns(line) < self.width else "")
            row = number
        if len(shown) < len(old):
            parts.append(_moved(row, len(shown)) + "\r" + ERASE_BELOW)
            row = len(shown)
            if shown:
                parts.append(_moved(row, len(shown) - 1))
                row = len(shown) - 1
        self._cursor = (row, 0)
        return "".join(parts)

    def _place(self, at: tuple[int, int] | None) -> str:
        """From the row that was written last to the cursor's own."""
        if at is None:
            return ""
        column = f"\x1b[{at[1]}C" if at[1] else ""
        return f"{_moved(self._cursor[0], at[0])}\r{column}{SHOW}"

    def erase(self) -> None:
        """Takes the live lines away: what comes next stands where they began."""
        if self._lines or self._cursor != (0, 0):
            self._write(self._to_top() + ERASE_BELOW + SHOW)
        self.forget()

    def forget(self) -> None:
        """Somebody else has written: the next frame begins on the line where the cursor is."""
        self._lines, self._cursor, self._typing = [], (0, 0), None

    def resize(self, width: int, height: int) -> None:
        """A terminal that has become narrower has broken long lines in two: they are taken away as
        it shows them now."""
        if (width, height) == (self.width, self.height):
            return
        above = sum(_rows(line, width) for line in self._lines[: self._cursor[0]])
        above += min(self._cursor[1], 10_000) // max(1, width)
        if self._lines:
            self._write(_moved(above, 0) + "\r" + ERASE_BELOW)
        self.forget()
        self.width, self.height = width, height

    def _to_top(self) -> str:
        return _moved(self._cursor[0], 0) + "\r"

    def _fitting(self, live: Sequence[str]) -> list[str]:
        """What is above the screen's top could not be repainted: the lowest lines count."""
        most = max(1, self.height - 1)
        return [clipped(_harmless(_one_row(line)), self.width) for line in live[-most:]]

    def _fitting_cursor(
        self, cursor: tuple[int, int] | None, wanted: int, shown: int
    ) -> tuple[int, int] | None:
        if cursor is None:
            return None
        row, column = cursor
        return max(0, row - (wanted - shown)), max(0, min(column, self.width - 1))


def _rest(before: str, line: str) -> str:
    """What differs, from the first column on that does; as long as nothing before it is painted."""
    pairs = enumerate(zip(before, line, strict=False))
    end = next((at for at, (old, new) in pairs if old != new), min(len(before), len(line)))
    same = line[:end]
    same = same[: same.find("\x1b")] if "\x1b" in same else same
    while same and (len(same) == len(line) or not all(_next_widths(len(same), before, line))):
        same = same[:-1]  # an accent belongs to the letter before it
    at = width_of(same)
    return f"\x1b[{at}C{line[len(same) :]}" if at > LEAST_SAME else line


def _next_widths(at: int, *lines: str) -> list[int]:
    return [width_of(line[at]) for line in lines if at < len(line)]


def _moved(row: int, to: int) -> str:
    if to == row:
        return ""
    return f"\x1b[{row - to}A" if to < row else f"\x1b[{to - row}B"


def _harmless(line: str) -> str:
    """The last defence: of what a terminal obeys, colours alone. Whoever draws has cleaned it."""
    return _OBEYED.sub("", line) if _OBEYED.search(line) else line


def _one_row(line: str) -> str:
    """Whatever is in it: a line that took two would shift all that is painted below."""
    return line.translate(_BREAKS) if "\n" in line or "\t" in line or "\r" in line else line


def _rows(line: str, width: int) -> int:
    return max(1, -(-columns(line) // max(1, width)))
