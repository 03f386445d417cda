"""An event loop without time: it tells when nothing can go on by itself."""

import asyncio
import selectors
from collections.abc import Callable
from typing import Any

Idle = Callable[[bool], bool]
"""Called when everybody waits, and whether a timer is set. Makes something go on, or gives False:
then the next timer is due."""
MOST_IDLE = 100_000
"""Times in a row: no timer of ours is that far away."""


class _Watched(selectors.DefaultSelector):
    """The event loop asks it to wait only when nothing else is left to do."""

    on_idle: Callable[[float | None], None]

    def select(self, timeout: float | None = None) -> Any:
        if timeout is None or timeout > 0:
            self.on_idle(timeout)
        return super().select(0)


class QuietLoop(asyncio.SelectorEventLoop):
    """Timers are due only when `idle` says so: then the next one at once."""

    def __init__(self) -> None:
        self.idle: Idle = lambda has_timer: False
        self.idled = 0
        """How often, since something went on."""
        self._time = 0.0
        watched = _Watched()
        watched.on_idle = self._on_idle
        super().__init__(watched)

    def time(self) -> float:
        return self._time

    def _on_idle(self, until_next_timer: float | None) -> None:
        self.idled += 1
        if self.idled > MOST_IDLE:
            raise RuntimeError("the replay hangs")
        if not self.idle(until_next_timer is not None):
            self._time += until_next_timer or 0.0
