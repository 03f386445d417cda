"""Calls that were cut off with the agent: they began, and nobody wrote how they ended."""

from collections.abc import Sequence

from detent.context.project import not_rewound
from detent.types.content import Call
from detent.types.events import CallEnded, CallStarted, Entry, Replied


def unfinished(entries: Sequence[Entry]) -> list[CallStarted]:
    """Those that the next request has to speak of, in the order in which they began. Of what lies
    before the last answer the model has been told, in whatever words."""
    started: dict[str, CallStarted] = {}
    for entry in not_rewound(entries):
        match entry:
            case CallStarted():
                started[entry.call_id] = entry
            case CallEnded():
                started.pop(entry.call_id, None)
            case Replied(content=content):
                own = {block.id for block in content if isinstance(block, Call)}
                started = {call: one for call, one in started.items() if call in own}
            case _:
                pass
    return list(started.values())
