"""A command in a pseudo-terminal, and the moment at which each of its bytes came out."""

from __future__ import annotations

import fcntl
import os
import pty
import random
import re
import select
import signal
import struct
import sys
import termios
import time
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from types import TracebackType

from prepare import detent_command

COLUMNS, ROWS = 100, 30
PATIENCE = 60.0
"""Seconds until something that should have come counts as missing."""
BEGIN, END = b"\x1b[?2026h", b"\x1b[?2026l"
"""Around every frame."""
SIGN, READY = "❯".encode(), b"asks before it acts"
"""Of the text box, and in the footer once the session is open."""
ERASE_ALL, ENTER, ESCAPE = "\x15", "\r", "\x1b"
LETTERS = "qwertyuiopasdfghjklzxcvbnm"
PATH = "/usr/local/bin:/usr/bin:/bin"
_CODES = re.compile(rb"\x1b\[[0-9;?>]*[A-Za-z]")


class Missing(Exception):
    """What should have come did not."""


@cache
def command() -> Path:
    """The installed one, in a clean environment, so that no package of ours slows its start."""
    found = detent_command()
    if found is None:
        raise SystemExit("detent could not be installed")
    return found


def environ(folder: Path, url: str) -> dict[str, str]:
    """A terminal with colours, a home of its own, and the address of the model."""
    return {
        "PATH": PATH,
        "HOME": str(folder),
        "DETENT_HOME": str(folder / "home"),
        "XDG_CACHE_HOME": str(folder / "cache"),
        "DETENT_DISCOVERY_PORTS": "none",
        "TERM": "xterm-256color",
        "LANG": "C.UTF-8",
        "ANTHROPIC_API_KEY": "bench",
        "ANTHROPIC_BASE_URL": url,
    }


class Pty:
    """`seen` holds what came out. It is only read while somebody waits for something: there is no
    thread that could disturb the times."""

    def __init__(self, argv: Sequence[str | Path], env: dict[str, str], cwd: Path) -> None:
        cwd.mkdir(parents=True, exist_ok=True)
        self.seen = bytearray()
        self.stamps: list[tuple[float, int]] = []
        """When something was read, and how much of `seen` there was then."""
        self.count = 0
        """Bytes in all, also those that are forgotten."""
        parts = [str(part) for part in argv]
        self.began = time.perf_counter()
        self.pid, self._descriptor = pty.fork()
        if self.pid == 0:
            try:
                size = struct.pack("HHHH", ROWS, COLUMNS, 0, 0)
                fcntl.ioctl(0, termios.TIOCSWINSZ, size)
                os.chdir(cwd)
                os.execve(parts[0], parts, env)
            finally:
                os._exit(127)

    def __enter__(self) -> Pty:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self._descriptor)  # as if the window were closed
        for _ in range(200):
            if os.waitpid(self.pid, os.WNOHANG)[0]:
                return
            time.sleep(0.01)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)

    def type(self, text: str) -> None:
        os.write(self._descriptor, text.encode())

    def read(self, seconds: float) -> bool:
        """Whether anything came in that time; Missing at the end."""
        if not select.select([self._descriptor], [], [], max(0.0, seconds))[0]:
            return False
        try:
            data = os.read(self._descriptor, 1 << 16)
        except OSError:
            data = b""
        if not data:
            raise Missing(f"it has ended: {self.text[-2000:]}")
        self.seen += data
        self.count += len(data)
        self.stamps.append((time.perf_counter(), len(self.seen)))
        return True

    def until(self, is_there: Callable[[], bool], what: str) -> float:
        """The moment at which it was."""
        deadline = time.perf_counter() + PATIENCE
        while not is_there():
            if not self.read(deadline - time.perf_counter()):
                raise Missing(f"{what} did not come: {self.text[-2000:]}")
        return self.stamps[-1][0]

    def frame(self, *texts: bytes, since: int = 0) -> float:
        """Until a frame has ended in which all of these were seen, one after the other. Frames
        before them count too: what did not change is not written again."""

        def is_there() -> bool:
            at = since
            for text in texts:
                at = self.seen.find(text, at)
                if at < 0:
                    return False
                at += len(text)
            return self.seen.find(END, at) >= 0

        return self.until(is_there, repr(texts))

    def rest(self, seconds: float) -> None:
        """So long, while what comes is read."""
        deadline = time.perf_counter() + seconds
        while (left := deadline - time.perf_counter()) > 0:
            self.read(left)

    def until_quiet(self, seconds: float = 0.5) -> None:
        deadline = time.perf_counter() + PATIENCE
        while self.read(seconds):
            if time.perf_counter() > deadline:
                raise Missing("it does not come to rest")

    def forget(self) -> None:
        self.seen.clear()
        self.stamps.clear()

    @property
    def text(self) -> str:
        """Without codes, for who looks into what went wrong."""
        return _CODES.sub(b"", bytes(self.seen)).decode(errors="replace")

    def frames(self) -> list[float]:
        """When each frame had come in whole."""
        ends, at = [], self.seen.find(END)
        while at >= 0:
            ends.append(at + len(END))
            at = self.seen.find(END, at + 1)
        times, stamp = [], 0
        for end in ends:
            while self.stamps[stamp][1] < end:
                stamp += 1
            times.append(self.stamps[stamp][0])
        return times


def press_keys(term: Pty, count: int, luck: random.Random) -> list[float]:
    """Milliseconds from each key to the frame with it. They come as a person's do, at any moment
    between two frames."""
    found: list[float] = []
    typed = ""
    for number in range(count):
        if len(typed) == len(LETTERS):
            term.type(ERASE_ALL)
            term.rest(0.15)
            typed = ""
        typed += LETTERS[len(typed)]
        since = len(term.seen)
        begun = time.perf_counter()
        term.type(typed[-1])
        found.append((term.frame(typed.encode(), since=since) - begun) * 1000)
        term.rest(luck.uniform(0.02, 0.07))
        if number % 50 == 49:
            term.forget()
    term.type(ERASE_ALL)
    term.rest(0.15)
    return found


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest that so large a share does not exceed."""
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * round(share * 1000) // 1000) - 1)]


def say(what: str) -> None:
    """To who waits."""
    print(what, file=sys.stderr, flush=True)
