"""The two timers of a request: silence, and the whole. Both rest while the reader is busy."""

import asyncio
from types import TracebackType

from msgspec import Struct

from detent.types.errors import ModelFailure


class Timers(Struct, frozen=True):
    idle: float = 90.0
    """Seconds without content before a stream counts as stalled; pings are not. 0 is none."""
    request: float = 600.0
    """Seconds for a whole request; 0 is none."""


class Watch:
    def __init__(self, timers: Timers) -> None:
        self._idle = timers.idle or float("inf")
        self._left = timers.request or float("inf")
        self._since = 0.0
        self._timeout = asyncio.timeout(None)
        self.silence = "the model did not answer"
        """What silence means at this point."""

    async def __aenter__(self) -> "Watch":
        await self._timeout.__aenter__()
        self.go_on()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            await self._timeout.__aexit__(kind, error, trace)
        except TimeoutError:
            self._spend()
            text = "the model took too long to answer" if self._left <= 0 else self.silence
            raise ModelFailure("timeout", text) from None

    def rest(self) -> None:
        """Content came, and the reader takes its time with it."""
        self._spend()
        self._timeout.reschedule(None)

    def go_on(self) -> None:
        now = self._since = asyncio.get_running_loop().time()
        wait = min(self._idle, self._left)
        self._timeout.reschedule(None if wait == float("inf") else now + max(0.0, wait))

    def _spend(self) -> None:
        now = asyncio.get_running_loop().time()
        self._left -= now - self._since
        self._since = now
