"""The transcript: every entry in full, on a screen of its own. Only what is looked at is drawn."""

import asyncio
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from detent.surfaces.tui.blocks import Block
from detent.surfaces.tui.drawing.blocks import Look, drawn, is_apart
from detent.surfaces.tui.screen.spans import clipped

Write = Callable[[str], None]
LEAVE = ("q", "escape", "ctrl+o", "ctrl+c", "ctrl+d")
HINT = "↑ ↓ page up/down home end · q leaves"
AHEAD = 200
"""Lines drawn above what is looked at."""


class Transcript:
    def __init__(
        self, blocks: Sequence[Block], look: Look, size: Callable[[], tuple[int, int]]
    ) -> None:
        self.over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._size = size
        self._look = replace(look, detailed=True, shows_thinking=True)
        self._blocks = blocks
        self._first = len(blocks)
        """The block that the first drawn line is of."""
        self._lines: list[str] = []
        self._up = 0
        """How many lines from the end."""

    def press(self, key: str, write: Write) -> None:
        page = max(1, self._rows - 1)
        match key:
            case "up" | "k":
                self._up += 1
            case "down" | "j":
                self._up -= 1
            case "page up" | "b":
                self._up += page
            case "page down" | " ":
                self._up -= page
            case "home" | "g":
                self._up = 10**9
            case "end" | "G":
                self._up = 0
            case _ if key in LEAVE:
                self.close()
                return
        self.paint(write)

    def close(self) -> None:
        if not self.over.done():
            self.over.set_result(None)

    @property
    def _rows(self) -> int:
        return max(1, self._size()[1] - 1)

    def paint(self, write: Write) -> None:
        self._draw_down_to(self._up + self._rows)
        self._up = max(0, min(self._up, len(self._lines) - self._rows))
        end = len(self._lines) - self._up
        width = self._size()[0]
        shown = [clipped(line, width) for line in self._lines[max(0, end - self._rows) : end]]
        rest = f"{self._up} lines below · " if self._up else ""
        foot = self._look.theme.paint("chosen", clipped(f" {rest}{HINT}", width).ljust(width))
        body = "\r\n".join(f"{line}\x1b[K" for line in shown)
        write(f"\x1b[?2026h\x1b[?25l\x1b[H{body}\x1b[J\x1b[{self._rows + 1};1H{foot}\x1b[?2026l")

    def _draw_down_to(self, wanted: int) -> None:
        """From the end upwards, until there are enough lines."""
        while self._first > 0 and len(self._lines) < wanted + AHEAD:
            self._first -= 1
            block = self._blocks[self._first]
            before: Block | None = self._blocks[self._first - 1] if self._first else None
            gap = [""] if is_apart(before, block) else []
            self._lines[:0] = gap + drawn(block, self._look)
