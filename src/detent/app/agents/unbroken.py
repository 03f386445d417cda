"""What must not be left half done: the log of a beginning, the closing of what was open."""

import asyncio
from collections.abc import Coroutine
from typing import Any


async def unbroken(what: Coroutine[Any, Any, None]) -> None:
    """To its end, however often whoever waits for it is cancelled; that counts afterwards."""
    task, is_cancelled = asyncio.create_task(what), False
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            is_cancelled = True
    if is_cancelled:
        if not task.cancelled():
            task.exception()  # whoever was cancelled does not want to know
        raise asyncio.CancelledError
    task.result()
