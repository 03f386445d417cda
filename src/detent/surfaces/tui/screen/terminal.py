"""The terminal itself: raw while we are there, as it was when we leave, whatever happens."""

import os
import sys
from collections.abc import Mapping
from typing import Any

PASTE_ON, PASTE_OFF = "\x1b[?2004h", "\x1b[?2004l"
KEYS_ON, KEYS_OFF = "\x1b[>4;1m", "\x1b[>4;0m"
"""Shift+Enter is told apart from Enter by terminals that know it."""
FULL_ON, FULL_OFF = "\x1b[?1049h\x1b[H", "\x1b[?1049l"
SHOW = "\x1b[?25h"
INSTEAD = str.maketrans({
    "✓": "+", "✗": "x", "⊘": "-", "✂": "~", "❯": ">", "▸": ">", "•": "*", "◦": "o", "·": "-",
    "…": ".", "∴": "*", "→": ">", "↑": "^", "↓": "v", "─": "-", "▎": "|", "█": "#", "░": ".",
    "⠋": "|", "⠙": "/", "⠹": "-", "⠸": "\\", "⠼": "|", "⠴": "/", "⠦": "-", "⠧": "\\", "⠇": "|",
    "⠏": "/", "–": "-", "’": "'", "“": '"', "”": '"',
})  # fmt: skip
"""For terminals that show no more than ASCII."""


def is_dumb(environ: Mapping[str, str]) -> bool:
    """It cannot move its cursor."""
    return environ.get("TERM", "dumb") in ("", "dumb")


def is_unicode(environ: Mapping[str, str]) -> bool:
    """As the locale says; a machine that says nothing has a modern terminal more often than not."""
    named = next(
        (environ[name] for name in ("LC_ALL", "LC_CTYPE", "LANG") if environ.get(name)), ""
    )
    return not named or "utf" in named.lower() or named in ("C", "POSIX")


class Terminal:
    def __init__(self, environ: Mapping[str, str], inward: int = 0, outward: int = 1) -> None:
        self._inward, self._outward = inward, outward
        self._before: list[Any] | None = None
        self._is_dumb = is_dumb(environ)
        self._is_unicode = is_unicode(environ)
        self.is_gone = False
        """Nobody sits there any more: the line is cut."""
        self.early = ""
        """What was typed before we were there."""

    def enter(self) -> None:
        """Every key at once and none echoed. What was typed already is kept."""
        import termios

        is_first, wipe = self._before is None, ""
        try:
            echoed = self._waiting() if is_first else 0
            self._before = self._before or termios.tcgetattr(self._inward)
            raw = [*self._before]
            raw[0] &= ~(termios.ICRNL | termios.INLCR | termios.IGNCR | termios.IXON)
            raw[3] &= ~(termios.ICANON | termios.ECHO | termios.ISIG | termios.IEXTEN)
            raw[6] = [*raw[6]]
            raw[6][termios.VMIN], raw[6][termios.VTIME] = 1, 0
            termios.tcsetattr(self._inward, termios.TCSANOW, raw)
            if is_first:
                wipe = self._take_early(echoed)
        except (termios.error, OSError):
            self.is_gone = True
        if not self._is_dumb:
            self.write(wipe + PASTE_ON + KEYS_ON)

    def _take_early(self, echoed: int) -> str:
        """While the terminal was not ours it took Enter for the end of a line, and wrote keys on
        the screen; gives what takes them away there. `echoed`: so many bytes were whole lines."""
        count = self._waiting()
        typed = os.read(self._inward, count) if count else b""
        self.early = typed.decode(errors="replace").replace("\n", "\r")
        rows = typed[:echoed].count(b"\n")
        return (f"\x1b[{rows}A" if rows else "") + "\r\x1b[J" if typed else ""

    def _waiting(self) -> int:
        import fcntl
        import termios

        found = fcntl.ioctl(self._inward, termios.FIONREAD, bytes(4))
        return int.from_bytes(found, sys.byteorder)

    def leave(self) -> None:
        import termios

        if self._before is None:
            return
        if not self._is_dumb:
            self.write(PASTE_OFF + KEYS_OFF + SHOW)
        try:
            termios.tcsetattr(self._inward, termios.TCSADRAIN, self._before)
        except termios.error:
            self.is_gone = True

    def write(self, text: str) -> None:
        if not self._is_unicode:
            text = text.translate(INSTEAD)
        rest = text.encode("utf-8" if self._is_unicode else "ascii", "replace")
        while rest and not self.is_gone:
            try:
                rest = rest[os.write(self._outward, rest) :]
            except BlockingIOError:
                _wait_until_writable(self._outward)
            except OSError:
                self.is_gone = True

    def size(self) -> tuple[int, int]:
        """Columns and rows."""
        try:
            size = os.get_terminal_size(self._outward)
        except OSError:
            return 80, 24
        return size.columns or 80, size.lines or 24


def _wait_until_writable(descriptor: int) -> None:
    import select

    select.select([], [descriptor], [], 1.0)
