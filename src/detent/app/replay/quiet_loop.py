"""An event loop without time: it tells when nothing can go on by itself."""

import asyncio
import selectors
from collections.abc import Callable
from typing import Any

Idle = Callable[[bool], bool]
"""Called when everybody waits, and whether a timer is set. Makes something go on, or gives False:
then the next timer is due."""
MOST_ROUNDS = 100_000
"""Without an entry: no timer of ours is that far away, and nobody has so much to do."""


class _Watched(selectors.DefaultSelector):
    """The event loop asks it to wait only when nothing else is left to do."""

    on_round: Callable[[float | None], None]

    def select(self, timeout: float | None = None) -> Any:
        self.on_round(timeout)
        return super().select(0)


class QuietLoop(asyncio.SelectorEventLoop):
    """Timers are due only when `idle` says so: then the next one at once."""

    def __init__(self) -> None:
        self.idle: Idle = lambda has_timer: False
        self.rounds = 0
        """Since the last entry."""
        self._time = 0.0
        watched = _Watched()
        watched.on_round = self._on_round
        super().__init__(watched)

    def time(self) -> float:
        return self._time

    def _on_round(self, until_next_timer: float | None) -> None:
        self.rounds += 1
        if self.rounds > MOST_ROUNDS:
            raise RuntimeError("the replay hangs")
        is_idle = until_next_timer is None or until_next_timer > 0
        if is_idle and not self.idle(until_next_timer is not None):
            self._time += until_next_timer or 0.0
