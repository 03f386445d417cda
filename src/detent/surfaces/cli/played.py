"""A replayed session in the terminal: as a person saw it, at another pace."""

import asyncio
import re
from collections.abc import Sequence

from detent.surfaces.headless.activity import Activity
from detent.surfaces.headless.stdout import Stdout
from detent.surfaces.headless.text import TextWriter
from detent.surfaces.lines.telling import say
from detent.types.content import plain_text
from detent.types.durable import Durable
from detent.types.events import Event, Prompted, TextDelta

LONGEST_PAUSE = 2.0
"""Seconds, whatever the session waited for."""


async def play(events: Sequence[Event], speed: float) -> None:
    """Between two entries lies the time that was between them, so many times shorter; what the
    model said comes in pieces."""
    writer, activity = TextWriter(Stdout()), Activity()
    before, waiting = 0.0, list[Event]()
    for event in events:
        waiting += _pieces(event) if isinstance(event, TextDelta) and speed else [event]
        if not isinstance(event, Durable):
            continue
        gap = (event.at - before) / speed if before and speed else 0.0
        pause = min(max(gap, 0.0), LONGEST_PAUSE) / len(waiting)
        before = event.at
        for one in waiting:
            await asyncio.sleep(pause)
            if isinstance(one, Prompted):
                say(f"> {plain_text(one.content)}")
            activity.tell(one)
            await writer.show(one)
        waiting = []


def _pieces(delta: TextDelta) -> list[Event]:
    return [TextDelta(delta.index, word) for word in re.findall(r"\s*\S+\s*", delta.text)]
