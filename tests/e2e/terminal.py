"""A real pseudo-terminal with the installed command in it, and a screen of what it wrote."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from collections.abc import Callable, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import pyte
from pyte.screens import StaticDefaultDict

PATIENCE = 30.0
"""Seconds until something that should have come counts as missing. Never waited for."""

KEYS = {
    "enter": "\r", "escape": "\x1b", "tab": "\t", "back tab": "\x1b[Z", "up": "\x1b[A",
    "down": "\x1b[B", "right": "\x1b[C", "left": "\x1b[D", "erase": "\x7f", "ctrl+c": "\x03",
    "ctrl+d": "\x04", "ctrl+b": "\x02", "ctrl+o": "\x0f", "ctrl+r": "\x12", "ctrl+t": "\x14",
    "ctrl+j": "\n", "ctrl+g": "\x07", "ctrl+z": "\x1a", "ctrl+l": "\x0c", "ctrl+s": "\x13",
    "alt+up": "\x1b\x1b[A", "shift+enter": "\x1b[27;2;13~", "home": "\x1b[H", "end": "\x1b[F",
    "page up": "\x1b[5~", "page down": "\x1b[6~",
}  # fmt: skip


HELD = "(stop typing"
READY = "asks before it acts"
"""In the footer, once the session is open."""


AT_WORK = "esc to interrupt"
FULL = 1049


class Screen(pyte.HistoryScreen):
    """pyte knows no private prefix of `CSI > … m`: it would take it for a colour. Nor does it know
    the second screen of a terminal."""

    _aside: tuple[Any, Any] | None = None

    def set_mode(self, *modes: int, **more: bool) -> None:
        if FULL in modes and more.get("private") and self._aside is None:
            self._aside = deepcopy((self.buffer, self.cursor))
            self.erase_in_display(2)
        super().set_mode(*modes, **more)

    def reset_mode(self, *modes: int, **more: bool) -> None:
        super().reset_mode(*modes, **more)
        if FULL in modes and more.get("private") and self._aside is not None:
            (self.buffer, self.cursor), self._aside = self._aside, None
            self.dirty.update(range(self.lines))

    def reflow(self, columns: int, lines: int) -> None:
        """As terminals do it that break long lines when they become narrower: what does not fit
        above goes to the scrollback, and what fits comes back from there."""
        if self._aside is None:
            self._reflow(columns, lines)
            return
        self.buffer, self.cursor = self._aside
        self._reflow(columns, lines)
        self._aside = deepcopy((self.buffer, self.cursor))
        self.erase_in_display(2)

    def _reflow(self, columns: int, lines: int) -> None:
        rows, at, column = self._rows_of(columns)
        self.history.top.clear()
        self.buffer.clear()
        super().resize(lines, columns)
        above = max(0, len(rows) - lines)
        for number, row in enumerate(rows):
            line = self.buffer[number - above]
            if number < above:
                line = StaticDefaultDict(self.default_char)
                self.history.top.append(line)
            line.update(enumerate(row))
        self.cursor.y, self.cursor.x = at - above, column

    def _rows_of(self, columns: int) -> tuple[list[list[Any]], int, int]:
        """All rows in the new width, down to the last with anything in it; and the cursor."""
        rows: list[list[Any]] = []
        at = column = 0
        screen = [self.buffer[number] for number in range(self.lines)]
        for number, line in enumerate([*self.history.top, *screen], -len(self.history.top)):
            row = [line[x] for x in range(self.columns)]
            while row and row[-1] == self.default_char:
                row.pop()
            if number == self.cursor.y:
                at, column = len(rows) + self.cursor.x // columns, self.cursor.x % columns
            rows += [row[x : x + columns] for x in range(0, max(1, len(row)), columns)]
        while len(rows) > at + 1 and not rows[-1]:
            rows.pop()
        return rows, at, column

    def select_graphic_rendition(self, *attrs: int, **more: bool) -> None:
        if not more.get("private"):
            super().select_graphic_rendition(*attrs)


class Term:
    """Use `see` to wait for what a person would wait for; keys go in with `press` and `type`."""

    def __init__(
        self,
        argv: Sequence[str | Path],
        env: dict[str, str],
        cwd: Path,
        columns: int = 100,
        rows: int = 30,
    ) -> None:
        self.screen = Screen(columns, rows, history=100_000, ratio=0.5)
        self._stream = pyte.ByteStream(self.screen)
        self.raw = b""
        """Every byte that was written."""
        self.code: int | None = None
        self.pid, self._descriptor = pty.fork()
        if self.pid == 0:
            os.chdir(cwd)
            os.execve(str(argv[0]), [str(part) for part in argv], env)
        self.resize(columns, rows)

    # --- what a person does

    def type(self, text: str) -> None:
        if HELD in self.text:
            self.no_longer(HELD)  # a question waits until nobody types
        os.write(self._descriptor, text.encode())

    def press(self, *names: str) -> None:
        for name in names:
            self.type(KEYS[name])

    def say(self, text: str) -> None:
        """A prompt, and Enter."""
        self.type(f"{text}\r")

    def paste(self, text: str) -> None:
        """As a terminal does it; a long one goes in as fast as it is taken."""
        rest = f"\x1b[200~{text}\x1b[201~".encode()
        while rest:
            self._take(0)
            ready = select.select([], [self._descriptor], [], PATIENCE)[1]
            assert ready, "nobody takes what is pasted"
            rest = rest[os.write(self._descriptor, rest[:4096]) :]

    def resize(self, columns: int, rows: int) -> None:
        while self._is_waiting() and self._take(0):
            pass  # what was written for the old size is shown in the old size
        size = struct.pack("HHHH", rows, columns, 0, 0)
        fcntl.ioctl(self._descriptor, termios.TIOCSWINSZ, size)
        self.screen.reflow(columns, rows)

    # --- what a person sees

    @property
    def lines(self) -> list[str]:
        return [line.rstrip() for line in self.screen.display]

    @property
    def text(self) -> str:
        """The screen, without the empty lines below."""
        return "\n".join(self.lines).rstrip()

    @property
    def past(self) -> str:
        """What has gone up into the scrollback, and the screen."""
        above = ["".join(row[at].data for at in range(self.screen.columns)).rstrip()
                 for row in self.screen.history.top]  # fmt: skip
        return "\n".join([*above, *self.lines]).rstrip()

    @property
    def cursor(self) -> tuple[int, int]:
        """Row and column, from 0."""
        return self.screen.cursor.y, self.screen.cursor.x

    def see(self, *texts: str | re.Pattern[str] | Callable[[], bool]) -> str:
        """Until all of these are on the screen; gives the screen."""
        self._until(lambda: all(self._has(text) for text in texts), f"{texts!r}")
        return self.text

    def rest(self, *texts: str | re.Pattern[str] | Callable[[], bool]) -> str:
        """Until these are there and nothing is at work any more."""
        return self.see(*texts, lambda: AT_WORK not in self.text)

    def no_longer(self, text: str) -> str:
        self._until(lambda: text not in self.text, f"the end of {text!r}")
        return self.text

    def _has(self, text: str | re.Pattern[str] | Callable[[], bool]) -> bool:
        if isinstance(text, str):
            return text in self.text
        return bool(text.search(self.text)) if isinstance(text, re.Pattern) else text()

    def _until(self, is_there: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while not is_there():
            left = deadline - time.monotonic()
            if left <= 0 or not self._take(left):
                assert is_there(), f"{what} was not seen; the screen:\n{self.past}"

    def _is_waiting(self) -> bool:
        return bool(select.select([self._descriptor], [], [], 0)[0])

    def _take(self, seconds: float) -> bool:
        """False at the end."""
        if not select.select([self._descriptor], [], [], seconds)[0]:
            return True
        try:
            data = os.read(self._descriptor, 65536)
        except OSError:  # the other side is closed
            data = b""
        self.raw += data
        self._stream.feed(data)
        return bool(data)

    # --- how it ends

    def ended(self) -> int:
        """The exit code, once everything that it wrote is seen."""
        deadline = time.monotonic() + PATIENCE
        while self._take(max(0.0, deadline - time.monotonic())):
            assert time.monotonic() < deadline, f"it does not end; the screen:\n{self.past}"
        return self._wait()

    def _wait(self) -> int:
        if self.code is None:
            _, status = os.waitpid(self.pid, 0)
            self.code = os.waitstatus_to_exitcode(status)
        return self.code

    def hang_up(self) -> int:
        """The window is closed: the line is cut, and the kernel says so with SIGHUP."""
        os.close(self._descriptor)
        self._descriptor = -1
        return self._wait()

    def close(self) -> None:
        """For the end of a test: nothing may outlive it."""
        if self.code is None:
            os.kill(self.pid, signal.SIGKILL)
            self._wait()
        if self._descriptor >= 0:
            os.close(self._descriptor)
