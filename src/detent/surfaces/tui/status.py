"""The user's own status line: a command that is run again when something has changed."""

import asyncio

from detent.sdk.status_line import payload, run
from detent.surfaces.tui.screen.spans import clipped
from detent.surfaces.tui.seat import Seat
from detent.surfaces.wording.coloured import only_colours

PAUSE = 0.3
"""Seconds between two runs: a burst of changes is one."""


class StatusLine:
    def __init__(self, seat: Seat) -> None:
        self._seat = seat
        self._task: asyncio.Task[None] | None = None
        self._is_due = False

    def renew(self) -> None:
        if not self._seat.status_command:
            return
        self._is_due = True
        if self._task is None or self._task.done():
            self._task = asyncio.ensure_future(self._run())

    async def _run(self) -> None:
        while self._is_due:
            self._is_due = False
            session, seat = self._seat.session, self._seat
            if session is None:
                return
            told = await run(
                session, seat.status_command, payload(session, vim=seat.keyboard.vim_mode)
            )
            lines = only_colours(told).splitlines()
            seat.status = tuple(clipped(line, seat.stage.look.width) for line in lines)
            seat.stage.touch()
            await asyncio.sleep(PAUSE)

    def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
