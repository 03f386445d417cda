"""The real clock and real ids."""

import asyncio
import os
import time


class SystemClock:
    def now(self) -> float:
        return time.time()

    def elapsed(self) -> float:
        return time.monotonic()

    def new_id(self, prefix: str) -> str:
        return f"{prefix}_{os.urandom(9).hex()}"

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


def new_session_id() -> str:
    """A random UUID, written by hand: importing `uuid` for this is not worth its time."""
    raw = bytearray(os.urandom(16))
    raw[6] = raw[6] & 0x0F | 0x40
    raw[8] = raw[8] & 0x3F | 0x80
    text = raw.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
