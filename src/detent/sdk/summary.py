"""What a turn came to: the fold of its events."""

from collections.abc import Iterable
from typing import Any

from msgspec import UNSET, Struct

from detent.types.content import Call, plain_text
from detent.types.events import (
    CallEnded,
    Compacted,
    Event,
    Reason,
    Replied,
    StepRecord,
    TurnEnded,
)
from detent.types.outcomes import Refused
from detent.types.usage import Usage


class TurnSummary(Struct, frozen=True):
    text: str
    """The final answer."""
    reason: Reason
    assistant_messages: tuple[Replied, ...]
    tool_results: tuple[CallEnded, ...]
    iterations: int
    steps: tuple[StepRecord, ...]
    usage: Usage
    auto_compaction: Compacted | None = None
    refused: tuple[CallEnded, ...] = ()
    error: str = ""
    output: Any = None
    """The final answer as data, where `Options.json_schema` asked for it."""

    @property
    def ok(self) -> bool:
        return self.reason == "end_turn"


def summarise(events: Iterable[Event]) -> TurnSummary:
    replies: list[Replied] = []
    results: list[CallEnded] = []
    compaction: Compacted | None = None
    ended: TurnEnded | None = None
    for event in events:
        match event:
            case Replied():
                replies.append(event)
            case CallEnded():
                results.append(event)
            case Compacted():
                compaction = event
            case TurnEnded():
                ended = event
            case _:
                pass
    if ended is None:
        raise ValueError("the events hold no end of a turn")
    return TurnSummary(
        text=final_text(replies),
        reason=ended.reason,
        assistant_messages=tuple(replies),
        tool_results=tuple(in_call_order(results, replies)),
        iterations=len(ended.steps),
        steps=ended.steps,
        usage=ended.usage,
        auto_compaction=compaction,
        refused=tuple(result for result in results if isinstance(result.outcome, Refused)),
        error=ended.error,
        output=None if ended.output is UNSET else ended.output,
    )


def in_call_order(results: list[CallEnded], replies: list[Replied]) -> list[CallEnded]:
    """Calls that run together end in any order; people read them as they were asked for."""
    calls = [block.id for reply in replies for block in reply.content if isinstance(block, Call)]
    places = {call_id: place for place, call_id in enumerate(calls)}
    return sorted(results, key=lambda result: places.get(result.call_id, len(places)))


def final_text(replies: list[Replied]) -> str:
    """The last answer; pieces of one that was cut and continued are joined."""
    texts: list[str] = []
    for reply in reversed(replies):
        if texts and reply.stop not in ("max_tokens", "model_context_window_exceeded"):
            break
        texts.append(plain_text(reply.content))
    return "".join(reversed(texts))
