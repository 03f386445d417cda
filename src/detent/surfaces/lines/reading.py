"""Lines of standard input, as they come."""

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import suppress


class Lines:
    """Lines of stdin, read by a daemon thread: it may block for ever without holding the exit."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()
        self._started = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while (line := await self.next()) is not None:
            yield line

    async def next(self) -> bytes | None:
        """None at the end of input."""
        if not self._started:
            self._started = True
            threading.Thread(target=self._read, name="stdin", daemon=True).start()
        line = await self._queue.get()
        if line is None:
            self._queue.put_nowait(None)  # for whoever asks again
        return line

    def drop(self) -> None:
        """Lines that came and that nobody has taken; the end of input is kept."""
        while not self._queue.empty():
            if self._queue.get_nowait() is None:
                self._queue.put_nowait(None)
                return

    def _read(self) -> None:
        """Whatever happens, the end is told: somebody waits for it."""
        try:
            with open(0, "rb", closefd=False) as stream:
                for line in stream:
                    self._put(line)
        except OSError:
            pass  # nothing can be read: that is the end as well
        finally:
            self._put(None)

    def _put(self, line: bytes | None) -> None:
        with suppress(RuntimeError):  # the loop has ended; nobody waits for this line
            self._loop.call_soon_threadsafe(self._queue.put_nowait, line)
