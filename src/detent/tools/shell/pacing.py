"""Progress at a pace that a reader can take."""

import asyncio
from collections.abc import Callable

from detent.tools.terminal import plain

INTERVAL = 0.1
ROOM = 4_096
"""Bytes waiting to be shown; older ones give way, they are in the result anyway."""


class Paced:
    """Hands on the first piece at once, then what has gathered, ten times a second at most."""

    __slots__ = ("_last", "_loop", "_show", "_timer", "_waiting")

    def __init__(self, show: Callable[[str], None]) -> None:
        self._show = show
        self._loop = asyncio.get_running_loop()
        self._last = float("-inf")
        self._waiting = b""
        self._timer: asyncio.TimerHandle | None = None

    def feed(self, chunk: bytes) -> None:
        self._waiting = (self._waiting + chunk[-ROOM:])[-ROOM:]
        if self._timer is None:
            due = self._last + INTERVAL
            if self._loop.time() >= due:
                self._flush()
            else:
                self._timer = self._loop.call_at(due, self._flush)

    def _flush(self) -> None:
        self._timer = None
        self._last = self._loop.time()
        text, self._waiting = self._waiting.decode("utf-8", "replace"), b""
        self._show(plain(text))

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
