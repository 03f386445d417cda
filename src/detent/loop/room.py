"""Making room in the window: before a request when it gets full, after one that was refused."""

from collections.abc import Sequence
from typing import Literal

from detent.context.media import suspects
from detent.context.project import effective
from detent.loop.kit import Kit
from detent.loop.limits import Limits, Tally
from detent.types.errors import ModelFailure
from detent.types.events import Compacted, Entry, Notice, Replied, Withheld

Trigger = Literal["auto", "manual", "reactive"]

WARNING = 0.80
"""Share of the window from which on room is made."""
RESERVE = 4_000
"""Tokens kept free for the answer."""
LONGEST_REASON = 300
MOST_COMPACTIONS = 2
"""In one turn. A turn that needs more would only go round in circles."""


async def make_room(kit: Kit, tally: Tally) -> None:
    """A compaction that would hardly help is not made twice."""
    used = kit.conversation.tokens()
    room = room_of(kit.model.window, tally.max_output)
    due = used > room or spent_since(kit.conversation.entries, kit.limits)
    if due and tally.compactions < MOST_COMPACTIONS:
        await _compact(kit, tally, "auto")


def room_of(window: int, output: int = 0) -> int:
    """What may be in use: most of the window, and never so much that an answer has no room."""
    return round(min(window * WARNING, max(window - max(output, RESERVE), window / 2)))


def spent_since(entries: Sequence[Entry], limits: Limits) -> bool:
    """Input tokens add up since the last compaction; a threshold counts only when one is set."""
    if limits.compact_at is None:
        return False
    total = 0
    for entry in reversed(entries):
        if isinstance(entry, Compacted):
            break
        if isinstance(entry, Replied):
            total += entry.usage.input + entry.usage.cache_read + entry.usage.cache_write
    return total > limits.compact_at


async def recovered(kit: Kit, tally: Tally, failure: ModelFailure) -> bool:
    """Whether the conversation was changed so that the request may be accepted now."""
    match failure.kind:
        case "prompt_too_long":
            if await make_room_urgently(kit, tally):
                return True
            return failure.status == 413 and await withhold(kit, failure.message)
        case "bad_content":
            return await withhold(kit, failure.message)
        case _:
            return False


async def withhold(kit: Kit, reason: str) -> bool:
    """Pictures that were refused become notes, for good. False when there is none left."""
    found = suspects(effective(kit.conversation.entries))
    if not found:
        return False
    await kit.emit(Notice(f"an image or document was left out: {reason}", "warning"))
    await kit.emit(Withheld(entries=found, reason=reason[:LONGEST_REASON]))
    return True


async def make_room_urgently(kit: Kit, tally: Tally) -> bool:
    """After the provider said that the prompt is too long. Once in a turn; False when in vain."""
    if tally.recovered or not kit.limits.reactive:
        return False
    tally.recovered = True
    return await _compact(kit, tally, "reactive")


async def _compact(kit: Kit, tally: Tally, trigger: Trigger) -> bool:
    """Loaded when it is needed: most runs never are."""
    from detent.loop.compacting import compact

    return await compact(kit, tally, trigger)
