"""What a reader who is behind may miss, and what not."""

from __future__ import annotations

import asyncio

from detent.sdk.channel import AHEAD, Channel
from detent.types.agents import AgentEnded
from detent.types.events import Event, Nested, Notice, Progress


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


def test_entries_that_did_not_wait_for_the_reader_are_not_dropped_either() -> None:
    """Of subagents, too: a host would take one for being at work that has ended."""
    ended = AgentEnded(agent="a", state="completed")
    kept: list[Event] = [ended, Nested("b", ended), Nested("c", Nested("b", Notice("x")))]

    async def read() -> list[object]:
        channel = Channel()
        for number in range(AHEAD):
            channel.offer(Progress("c", "Bash", str(number)))
        for event in kept:
            channel.offer(event)
        channel.offer(Nested("b", Progress("c", "Bash", "more")))
        channel.end()
        found: list[object] = []
        while (event := await channel.get()) is not None:
            found.append(event)
        return found

    assert asyncio.run(read())[AHEAD:] == kept
