"""The user's own status line: a command that is run again when something has changed."""

import asyncio

from detent.sdk.interface import StatusLine
from detent.sdk.status_line import payload, run
from detent.surfaces.tui.screen.spans import clipped
from detent.surfaces.tui.seat import Seat
from detent.surfaces.wording.coloured import only_colours

PAUSE = 0.3
"""Seconds between two runs: a burst of changes is one."""


class StatusRunner:
    def __init__(self, seat: Seat) -> None:
        self._seat = seat
        self._task: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._is_due = False

    def renew(self) -> None:
        if self._seat.status_line is None:
            self._seat.status = ()
            return
        self._is_due = True
        if self._task is None or self._task.done():
            self._task = asyncio.ensure_future(self._run())

    async def _run(self) -> None:
        while self._is_due and (line := self._seat.status_line) is not None:
            self._is_due = False
            await self._show(line)
            await asyncio.sleep(PAUSE)

    async def _show(self, line: StatusLine) -> None:
        seat, session = self._seat, self._seat.session
        if session is None:
            return
        about = payload(session, vim=seat.keyboard.vim_mode)
        told = only_colours(await run(session, line.command, about))
        rows = (" " * line.padding + row for row in told.splitlines())
        seat.status = tuple(clipped(row, seat.stage.look.width) for row in rows)
        seat.stage.touch()
        if line.refresh_interval and not self._is_due:
            self._again(line.refresh_interval)

    def _again(self, seconds: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(seconds, self.renew)
