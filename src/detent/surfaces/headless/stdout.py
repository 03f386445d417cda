"""Standard output that never blocks the loop and never complains about a reader who left."""

import asyncio
import os
import select
import stat

PIECE = 4096
"""A pipe that is writable takes this much without blocking."""


class ReaderGone(Exception):
    """Nobody reads our output any more; a text says what else is wrong with it."""


class Stdout:
    def __init__(self, descriptor: int = 1) -> None:
        self._descriptor = descriptor
        try:
            mode = os.fstat(descriptor).st_mode
        except OSError:
            mode = stat.S_IFREG
        self._may_block = not stat.S_ISREG(mode)
        self.is_terminal = os.isatty(descriptor)
        self._lock = asyncio.Lock()

    async def write(self, data: bytes) -> None:
        """Whole writes only: several tasks may have something to say."""
        async with self._lock:
            await self._write(data)

    async def _write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            if self._may_block and not self._writable():
                await self._wait()
            try:
                sent = os.write(self._descriptor, view[:PIECE] if self._may_block else view)
            except BrokenPipeError:
                raise ReaderGone from None
            except OSError as error:
                raise ReaderGone(f"cannot write the output: {error.strerror}") from None
            view = view[sent:]

    def _writable(self) -> bool:
        return bool(select.select([], [self._descriptor], [], 0)[1])

    async def _wait(self) -> None:
        loop = asyncio.get_running_loop()
        ready = loop.create_future()

        def writable() -> None:
            if not ready.done():
                ready.set_result(None)

        try:
            loop.add_writer(self._descriptor, writable)
        except (OSError, ValueError):
            return  # not a kind that can be watched: then write and wait
        try:
            await ready
        finally:
            loop.remove_writer(self._descriptor)
