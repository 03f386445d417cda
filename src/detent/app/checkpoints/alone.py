"""One piece of work at a time: whoever comes next waits, also for work that nobody waits for."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

Result = TypeVar("Result")


class Alone:
    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._work: asyncio.Future[Any] | None = None

    @property
    def is_working(self) -> bool:
        return self._work is not None

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """A session may live in several event loops, one after the other; a lock in one only."""
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self._lock, self._loop = asyncio.Lock(), loop
        async with self._lock:
            await self._free()
            yield

    async def in_thread(self, work: Callable[[], Result]) -> Result:
        """Cancelled, the work goes on; the next waits for its end."""
        await self._free()
        running = self._work = asyncio.ensure_future(asyncio.to_thread(work))
        running.add_done_callback(self._worked)
        return await asyncio.shield(running)

    async def _free(self) -> None:
        if self._work is not None:
            await asyncio.wait([self._work])

    def _worked(self, work: "asyncio.Future[Any]") -> None:
        if self._work is work:
            self._work = None
        if not work.cancelled():
            work.exception()
