"""The time that is left for the work of a session ends a turn wherever it is."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from detent.context.account import Account
from detent.loop.limits import Tally
from detent.ports import Clock
from detent.types.budget import Shortage
from detent.types.errors import Overdrawn


@asynccontextmanager
async def session_time(account: Account, clock: Clock, tally: Tally) -> AsyncIterator[None]:
    """Raises Overdrawn. A limit that is raised meanwhile counts at once."""
    loop = asyncio.get_running_loop()

    def deadline() -> float | None:
        """None also when nothing is left: that is told before the first request."""
        left = account.left().get("seconds")
        if not left:
            return None
        return loop.time() + left - (clock.elapsed() - tally.booked)

    try:
        async with asyncio.timeout_at(deadline()) as limit:
            end = account.watch(lambda: limit.reschedule(deadline()))
            try:
                yield
            finally:
                end()
    except TimeoutError:
        if not limit.expired():
            raise
        raise Overdrawn(_spent(account)) from None


def _spent(account: Account) -> Shortage:
    """Of the account that has the least left: this one, or one that it draws on."""
    limited = [one for one in account.line() if one.budget.seconds]
    least = min(limited, key=lambda one: (one.budget.seconds or 0) - one.spent.seconds)
    most = least.budget.seconds or 0
    return Shortage("seconds", most, most, account=least.name)
