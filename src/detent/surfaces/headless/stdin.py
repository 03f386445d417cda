"""What comes in on standard input: context, the prompt, answers or frames."""

import asyncio
import os
import select
import stat
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import suppress

from detent.types.errors import BadInput

MOST_BYTES = 10 * 1024 * 1024
PATIENCE = 3.0
"""Seconds an open pipe may stay silent when there is a prompt already."""


def read_context(has_prompt: bool, warn: Callable[[str], None]) -> str:
    """All of a piped stdin; nothing from a terminal, or from a pipe in which nothing comes."""
    try:
        mode = os.fstat(0).st_mode
    except OSError:
        return ""
    if os.isatty(0):
        return ""
    is_pipe = stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)
    if has_prompt and is_pipe and not select.select([0], [], [], PATIENCE)[0]:
        warn(f"nothing came on stdin within {PATIENCE:g} s; going on without it")
        return ""
    return _decoded(_read_all())


def _read_all() -> bytes:
    parts: list[bytes] = []
    size = 0
    while piece := os.read(0, 65536):
        parts.append(piece)
        size += len(piece)
        if size > MOST_BYTES:
            raise BadInput("stdin holds more than 10 MB; name a file instead")
    return b"".join(parts)


def _decoded(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise BadInput(f"stdin is not UTF-8 text (byte {error.start})") from None


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
