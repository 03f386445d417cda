"""SIGINT and SIGTERM end the turn and leave a session that can be resumed."""

import asyncio
import os
import signal
from collections.abc import Callable
from contextlib import suppress

from detent.surfaces.headless.exit_codes import HUNG_UP, INTERRUPTED, TERMINATED

LAST_MOMENT = 2.0
"""Seconds to end: enough for a command that does not want to."""


class Signals:
    """The first signal asks the turn to end, a second one sets it a limit, a third ends us now."""

    def __init__(self) -> None:
        self.code: int | None = None
        self._count = 0
        self._on_stop: Callable[[], bool] = lambda: False
        self._task = asyncio.current_task()
        loop = asyncio.get_running_loop()
        for name, code in (("SIGINT", INTERRUPTED), ("SIGTERM", TERMINATED), ("SIGHUP", HUNG_UP)):
            number = getattr(signal, name, None)  # Windows knows no SIGHUP
            if number is not None:
                with suppress(NotImplementedError):  # nor handlers of the loop
                    loop.add_signal_handler(number, self._arrived, code)

    def watch(self, stop: Callable[[], bool]) -> None:
        """`stop` ends the running turn and tells whether there was one."""
        self._on_stop = stop

    def _arrived(self, code: int) -> None:
        self._count += 1
        if self._count > 2:
            os._exit(code)
        if self._count == 2:
            # Leaving at once would leave the running command behind.
            asyncio.get_running_loop().call_later(LAST_MOMENT, os._exit, code)
            return
        self.code = code
        if self._task is None:
            return
        if self._on_stop():
            # The turn ends by itself, unless nobody takes what it has to say.
            asyncio.get_running_loop().call_later(LAST_MOMENT, self._task.cancel)
        else:
            self._task.cancel()
