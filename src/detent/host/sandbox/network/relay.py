"""Bytes both ways between two connections, at the pace of the slower one."""

import asyncio

CHUNK = 64 * 1024
SILENCE = 900.0
"""Seconds without a byte either way after which nobody is believed to be there."""


class Relay:
    def __init__(self) -> None:
        self._last = 0.0

    async def run(
        self,
        one: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        other: tuple[asyncio.StreamReader, asyncio.StreamWriter],
    ) -> None:
        """Until both sides have ended what they say, or one is lost."""
        self._last = asyncio.get_running_loop().time()
        try:
            async with asyncio.TaskGroup() as ways:
                ways.create_task(self._pump(one[0], other[1]))
                ways.create_task(self._pump(other[0], one[1]))
        except* OSError:  # TimeoutError is one
            pass

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await self._next(reader):
            writer.write(data)
            await writer.drain()
            self._last = asyncio.get_running_loop().time()
        if not writer.is_closing():
            writer.write_eof()  # the other way may still have much to say

    async def _next(self, reader: asyncio.StreamReader) -> bytes:
        while True:
            try:
                async with asyncio.timeout(SILENCE):
                    return await reader.read(CHUNK)
            except TimeoutError:
                if asyncio.get_running_loop().time() - self._last >= SILENCE:
                    raise
