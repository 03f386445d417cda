"""A terminal in memory, and the screen of what was written to it."""

from __future__ import annotations

from collections.abc import Mapping

import pyte
from pyte.screens import Char

from e2e.terminal import Screen as PlainScreen

Cells = Mapping[int, Char]
FAINT, BLINK = 2, 5


class Screen(PlainScreen):
    """pyte does not know faint text. Nothing of ours blinks: that stands for it."""

    def select_graphic_rendition(self, *attrs: int, **more: bool) -> None:
        if attrs == (FAINT,):
            attrs = (BLINK,)
        super().select_graphic_rendition(*attrs, **more)


class MemoryTerminal:
    """What a stage needs of one."""

    is_gone = False

    def __init__(self, columns: int, rows: int) -> None:
        self.screen = Screen(columns, rows, history=1_000, ratio=0.5)
        self._stream = pyte.ByteStream(self.screen)

    def size(self) -> tuple[int, int]:
        return self.screen.columns, self.screen.lines

    def write(self, text: str) -> None:
        self._stream.feed(text.encode())
