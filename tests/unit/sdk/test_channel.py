"""What a reader who is behind may miss, and what not."""

from __future__ import annotations

import asyncio

from detent.sdk.channel import AHEAD, Channel
from detent.types.events import Notice, Progress


def test_notices_are_never_dropped() -> None:
    async def read() -> list[object]:
        channel = Channel()
        for number in range(AHEAD + 5):
            channel.offer(Progress("c", "Bash", str(number)))
        channel.offer(Notice("a hook is broken", "warning"))
        channel.end()
        found: list[object] = []
        while (event := await channel.get()) is not None:
            found.append(event)
        return found

    events = asyncio.run(read())
    assert len(events) == AHEAD + 1
    assert events[-1] == Notice("a hook is broken", "warning")
