"""A sign of life from a call that takes long."""

import asyncio
from collections.abc import Callable

FIRST = 2.0
INTERVAL = 0.9
"""A little less than the second that is promised."""


class Pulse:
    """Tells every second how long it has been, until left. A quick call costs one timer."""

    def __init__(self, beat: Callable[[float], None]) -> None:
        self._beat = beat
        self._loop = asyncio.get_running_loop()
        self._begun = self._loop.time()
        self._timer: asyncio.TimerHandle | None = None

    def __enter__(self) -> None:
        self._timer = self._loop.call_later(FIRST, self._again)

    def __exit__(self, *exc: object) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _again(self) -> None:
        self._timer = self._loop.call_later(INTERVAL, self._again)
        self._beat(self._loop.time() - self._begun)
