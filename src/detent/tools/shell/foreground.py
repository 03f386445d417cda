"""A command that a call waits for, and that a person may send to the background meanwhile."""

import asyncio
import signal
from collections.abc import Coroutine
from contextlib import ExitStack
from typing import Any

from detent.ports import Desk, Finished, Job, Running
from detent.tools.shell.output import ShellOutput


class Waited:
    """The command runs in a task of its own: the call may end before it does."""

    def __init__(self, command: str, desk: Desk, output: ShellOutput) -> None:
        self._command, self._desk, self._output = command, desk, output
        self._loop = asyncio.get_running_loop()
        self._began = self._loop.time()
        self._left: asyncio.Future[Job] = self._loop.create_future()
        self._running: Running | None = None
        self._task: asyncio.Task[Finished] | None = None

    def begun(self, running: Running) -> None:
        self._running = running

    async def end_of(self, run: Coroutine[Any, Any, Finished]) -> Finished | Job:
        """How it ended, or the job that it is from now on. Cancelling ends it first."""
        task = self._task = self._loop.create_task(run)
        ends: tuple[asyncio.Future[Any], ...] = task, self._left
        try:
            with self._desk.leaving(self._leave):
                await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            if not self._left.done():  # else the call had come to its end before
                await _ended(task)
                raise
        return self._left.result() if self._left.done() else task.result()

    def keep_open(self, held: ExitStack) -> None:
        """What it needs as long as it runs."""
        assert self._task is not None
        self._task.add_done_callback(lambda task: held.close())

    def _leave(self) -> bool:
        running, task = self._running, self._task
        if running is None or task is None or task.done() or self._left.done():
            return False
        if not (path := self._output.leave()):
            return False
        seconds = self._loop.time() - self._began
        left = LeftRunning(running, task)
        running.lift_limit()
        job = self._desk.shop.jobs.take_over(self._command, path, left, seconds)
        self._left.set_result(job)
        return True


class LeftRunning:
    """The same as the session's jobs see it: a program that runs."""

    stays = False

    def __init__(self, running: Running, task: "asyncio.Task[Finished]") -> None:
        self._running, self._task = running, task

    @property
    def pid(self) -> int:
        return self._running.pid

    @property
    def sandbox(self) -> str:
        return self._running.sandbox

    def write(self, data: bytes) -> None:
        self._running.write(data)

    def lift_limit(self) -> None:
        self._running.lift_limit()

    async def wait(self) -> Finished:
        await asyncio.wait({self._task})
        if self._task.cancelled():
            return Finished(-signal.SIGKILL, sandbox=self.sandbox)
        return self._task.result()

    async def end(self) -> Finished:
        await self._running.end()
        return await self.wait()


async def _ended(task: "asyncio.Task[Finished]") -> None:
    """However often whoever waits is cancelled: a second Ctrl-C must not leave a process."""
    task.cancel()
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            continue
    if not task.cancelled():
        task.exception()  # nobody wants to know any more
