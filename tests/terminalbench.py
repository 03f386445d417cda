"""A terminal that is none: it keeps what is written, and shows it as one would; and a clock that
only moves when everybody waits."""

from __future__ import annotations

import asyncio
import re
import selectors
from collections.abc import Callable, Coroutine
from typing import Any
from unicodedata import combining, normalize

import pyte

from detent.surfaces.tui.drawing.blocks import Look
from detent.surfaces.tui.editing.keyboard_terms import Taker
from detent.surfaces.tui.screen.themes import NONE, THEMES, Theme
from detent.surfaces.tui.stage import Below, Stage, Typed
from detent.surfaces.wording.shown import UNSEEN

DARK = THEMES[0]

COLOUR = re.compile(r"\x1b\[[0-9;:]*m")
OWN = re.compile(
    r"\x1b\[[0-9;:]*m"  # colours
    r"|\x1b\[[0-9]*[ABC]|\r\n|\r"  # where to
    r"|\x1b\[[JK]|\x1b\[H\x1b\[2J"  # away with it
    r"|\x1b\[\?(?:25|2026)[hl]"  # the cursor; all at once
)
"""Every sequence that the stage may write. What is left without them is text."""


def is_raw(char: str) -> bool:
    """A terminal would obey it, or could not show it; a line would end, or be of unknown width."""
    return char in "\n\t" or any(ord(char) in part for part in UNSEEN)


def raw_in(written: str) -> list[str]:
    """What the stage must never write."""
    return [char for char in OWN.sub("", written) if is_raw(char)]


def raw_in_line(line: str) -> list[str]:
    """The same of one painted line: colours alone are ours."""
    return [char for char in COLOUR.sub("", line) if is_raw(char)]


class Glass(pyte.HistoryScreen):
    """As xterm does it: who has written into the last column still stands there."""

    def __init__(self, columns: int, lines: int) -> None:
        super().__init__(columns, lines, history=100_000, ratio=0.5)
        self._stream = pyte.Stream(self)

    def erase_in_line(self, how: int = 0, private: bool = False) -> None:
        self.cursor.x = min(self.cursor.x, self.columns - 1)
        super().erase_in_line(how, private)

    def draw(self, data: str) -> None:
        for part in re.split(r"([\u0300-\u036f])", data):
            if combining(part[:1] or " ") and self.cursor.x == self.columns:
                self.cursor.x -= 1  # an accent is no reason to begin another line
                cell = self.buffer[self.cursor.y][self.cursor.x]
                self.buffer[self.cursor.y][self.cursor.x] = cell._replace(data=cell.data + part)
                self.cursor.x += 1
            elif part:
                super().draw(part)

    def feed(self, text: str) -> None:
        self._stream.feed(text)

    def _row(self, row: Any) -> str:
        return normalize("NFC", "".join(row[at].data for at in range(self.columns))).rstrip()

    @property
    def past(self) -> list[str]:
        """All that one can scroll to, and what stands on the screen."""
        screen = [self.buffer[number] for number in range(self.lines)]
        return [self._row(row) for row in (*self.history.top, *screen)]

    @property
    def cells(self) -> list[list[tuple[str, Any, Any]]]:
        """The same, every character with its colours; blanks have none that one could see."""
        screen = [self.buffer[number] for number in range(self.lines)]
        rows = [[row[at] for at in range(self.columns)] for row in (*self.history.top, *screen)]
        return [
            [
                (normalize("NFC", one.data), one.fg, one.bold)
                if one.data.strip()
                else (" ", "", "")
                for one in row
            ]
            for row in rows
        ]

    @property
    def at(self) -> tuple[int, int]:
        """Row from the very first line on, and column."""
        return len(self.history.top) + self.cursor.y, min(self.cursor.x, self.columns - 1)


class Written:
    """In the place of `Terminal`."""

    def __init__(self, columns: int = 60, lines: int = 20) -> None:
        self.columns, self.lines = columns, lines
        self.glass = Glass(columns, lines)
        self.writes: list[str] = []
        self.is_gone = False

    def write(self, text: str) -> None:
        self.writes.append(text)
        self.glass.feed(text)

    def size(self) -> tuple[int, int]:
        return self.columns, self.lines

    @property
    def all(self) -> str:
        return "".join(self.writes)

    @property
    def screen(self) -> str:
        return "\n".join(self.glass.past).rstrip()


class Box:
    """In the place of the text box: what is typed, and who gets the keys."""

    def __init__(self, stage: Stage) -> None:
        self.text = ""
        self.taker: Taker | None = None
        stage.typed = lambda: Typed(self.text, len(self.text))
        questions = stage.questions
        questions.text, questions.put_text = lambda: self.text, self._put
        questions.insert, questions.take_keys = self._insert, self._take

    def _put(self, text: str) -> None:
        self.text = text

    def _insert(self, text: str) -> None:
        self.text += text

    def _take(self, taker: Taker | None) -> None:
        self.taker = taker


def look(width: int = 60, theme: Theme = NONE, **more: Any) -> Look:
    return Look(width, theme, **more)


def staged(
    terminal: Written | None = None,
    now: Callable[[], float] = lambda: 100.0,
    theme: Theme = NONE,
    **more: Any,
) -> tuple[Stage, Written, Box]:
    terminal = terminal or Written()
    stage = Stage(terminal, look(theme=theme), now, **more)  # type: ignore[arg-type]
    stage.below = Below
    return stage, terminal, Box(stage)


class _NoWait(selectors.DefaultSelector):
    """Where one would wait, it is later at once."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 1_000.0

    def select(self, timeout: float | None = None) -> Any:
        if timeout:
            self.now += timeout
        return super().select(0)


class MadeUpTime(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._made_up = _NoWait()
        super().__init__(self._made_up)

    def time(self) -> float:
        return self._made_up.now


def run_in_made_up_time(work: Coroutine[Any, Any, None]) -> None:
    with asyncio.Runner(loop_factory=MadeUpTime) as runner:
        runner.run(work)


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)
