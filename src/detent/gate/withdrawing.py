"""A question that is withdrawn when nothing is left to be asked: several may be open at once, and
what is said to one may settle the others."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from detent.ports import Answer
from detent.types.verdicts import Verdict


async def answer_to(
    question: Coroutine[Any, Any, Answer],
    settled: Callable[[], Verdict | None],
    waiting: "list[asyncio.Future[None]]",
) -> Answer | Verdict:
    """`settled` is asked again whenever those who are `waiting` are told of a change."""
    asking = asyncio.create_task(question)
    try:
        while not asking.done():
            change = asyncio.get_running_loop().create_future()
            waiting.append(change)
            await asyncio.wait({asking, change}, return_when=asyncio.FIRST_COMPLETED)
            if change in waiting:
                waiting.remove(change)
            if not asking.done() and (verdict := settled()) is not None:
                return verdict
        return asking.result()
    finally:
        if not asking.done():
            asking.cancel()
            await asyncio.wait({asking})
