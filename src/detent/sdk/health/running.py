"""All checks at once, each in a bounded time.

Each runs in a thread of its own that nobody waits for in the end: a file system that has gone away
holds whoever looks at it, and no timer of an event loop helps against that.
"""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Sequence

from detent.sdk.health.record import Check, Place

PATIENCE = 10.0
"""Seconds; what a check waits for by itself is bounded far below."""

Look = Callable[[Place], Awaitable[Sequence[Check]]]


async def look_at_all(
    looks: dict[str, Look], place: Place, patience: float = PATIENCE
) -> tuple[Check, ...]:
    """In the order in which they are given."""
    found = await asyncio.gather(
        *(_bounded(name, look, place, patience) for name, look in looks.items())
    )
    return tuple(check for checks in found for check in checks)


async def _bounded(name: str, look: Look, place: Place, patience: float) -> Sequence[Check]:
    try:
        async with asyncio.timeout(patience):
            return await _aside(name, look, place)
    except TimeoutError:
        return [Check(name, "warning", f"not known: it took longer than {patience:g} s")]


def _aside(name: str, look: Look, place: Place) -> "asyncio.Future[Sequence[Check]]":
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[Sequence[Check]] = loop.create_future()

    def give(checks: Sequence[Check]) -> None:
        if not answer.done():
            answer.set_result(checks)

    def work() -> None:
        checks = _looked(name, look, place)
        try:
            loop.call_soon_threadsafe(give, checks)
        except RuntimeError:  # nobody waits any more: the loop is closed
            return

    threading.Thread(target=work, name=f"check {name}", daemon=True).start()
    return answer


def _looked(name: str, look: Look, place: Place) -> Sequence[Check]:
    """Whatever goes wrong is a finding: who asks what is wrong must not get a traceback."""

    async def looking() -> Sequence[Check]:
        return await look(place)

    try:
        return asyncio.run(looking())
    except Exception as error:
        why = str(error) or type(error).__name__
        return [Check(name, "warning", f"not known: {why}")]
