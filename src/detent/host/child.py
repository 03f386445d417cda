"""A running program as the event loop sees it: its pipes, its end, and how it is ended.

Who stands over the program is behind `Hold`: a keeper of the nursery where the system can do that,
its process group everywhere else.
"""

import asyncio
import signal
from asyncio import FIRST_COMPLETED
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, Protocol

from msgspec.structs import replace

from detent.host.pipes import Drain, Feed, Plumbing
from detent.ports import Finished

LINGER = 0.5
"""How long the pipes are read on after the program has ended."""

Ended = Callable[[int, str], None]
"""Gets the exit code and, where somebody else ended the program, the reason."""


class Hold(Protocol):
    """A grip on one program and on everything that it starts."""

    @property
    def pid(self) -> int: ...
    @property
    def is_empty(self) -> bool:
        """Nothing of it runs any more."""

    def watch(self, ended: Ended) -> None:
        """Calls `ended` once the program itself has ended, in the running loop."""

    async def end(self) -> None:
        """Asks, then forces; when this returns nothing of it runs."""

    def drop(self) -> None:
        """Nobody can wait any more: everything goes, at once."""


class Child:
    """Ends by itself, by `end`, or with its hold."""

    stays = False

    def __init__(
        self, hold: Hold, plumbing: Plumbing, stdin: bytes | None, sandbox: str = ""
    ) -> None:
        """`stdin` of None keeps the input open for `write`; `sandbox` is what holds it."""
        self.hold = hold
        self.sandbox = sandbox
        self._loop = loop = asyncio.get_running_loop()
        self._exit: asyncio.Future[None] = loop.create_future()
        self._done: asyncio.Future[None] = loop.create_future()
        self._unlimited: asyncio.Future[None] = loop.create_future()
        self._finished = Finished(-signal.SIGKILL, sandbox=sandbox)
        self._fault: BaseException | None = None
        self._ending: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._drains = {Drain(pipe, sink, self._closed, loop) for pipe, sink in plumbing.sinks}
        self._feed = None if plumbing.input is None else Feed(plumbing.input, loop)
        if self._feed is not None and stdin is not None:
            self._feed.write(stdin, last=True)
        hold.watch(self._ended)

    @property
    def pid(self) -> int:
        return self.hold.pid

    def write(self, data: bytes) -> None:
        if self._feed is not None and data:
            self._feed.write(data)

    async def run(self, timeout: float | None) -> Finished:
        """To the end. A timeout, a cancellation or an exception from a sink (raised here) ends
        everything of the program before this returns."""
        try:
            ends = (self._exit, self._unlimited)
            done, _ = await asyncio.wait(ends, timeout=timeout, return_when=FIRST_COMPLETED)
            if not done:
                ended = await self.end()
                return replace(ended, timed_out=True)
            return await self.wait()
        except (Exception, asyncio.CancelledError):
            await insist(self._end())
            raise
        finally:
            if not self._done.done():  # the loop itself was torn down under us
                self.hold.drop()
                self._release()

    def lift_limit(self) -> None:
        if not self._unlimited.done():
            self._unlimited.set_result(None)

    async def wait(self) -> Finished:
        await asyncio.wait((self._done,))
        if self._fault is not None:
            raise self._fault
        return self._finished

    async def end(self) -> Finished:
        await asyncio.shield(self._end_once())
        return await self.wait()

    async def _end(self) -> None:
        await self._end_once()
        await asyncio.wait((self._done,))

    def _end_once(self) -> "asyncio.Task[None]":
        if self._ending is None:
            self._ending = self._loop.create_task(self._end_hold())
        return self._ending

    async def _end_hold(self) -> None:
        await self.hold.end()
        if not self._exit.done():  # not even the kernel could end it
            self._ended(-signal.SIGKILL, "")

    def _ended(self, code: int, note: str) -> None:
        if self._exit.done():
            return
        self._finished = Finished(code, False, note, self.sandbox)
        self._exit.set_result(None)
        if self._drains:
            # A background child may hold the pipes for ever. It is left running, as in any shell,
            # but nobody listens to it any more: its next write there fails.
            self._timer = self._loop.call_later(LINGER, self._release)
        else:
            self._release()

    def _closed(self, drain: Drain, fault: BaseException | None) -> None:
        self._drains.discard(drain)
        if fault is not None:
            self._fault = self._fault or fault
            self._end_once()
        if not self._drains and self._exit.done():
            self._release()

    def _release(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        for drain in self._drains:
            drain.close()
        if self._feed is not None:
            self._feed.close()
        if not (self._done.done() or self._loop.is_closed()):
            self._done.set_result(None)


async def insist(work: Coroutine[Any, Any, None]) -> None:
    """Finishes `work` even when cancelled again: a second Ctrl-C must not leave a process."""
    task = asyncio.ensure_future(work)
    while not task.done():
        with suppress(asyncio.CancelledError):
            await asyncio.shield(task)
