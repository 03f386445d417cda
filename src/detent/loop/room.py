"""Making room in the window: before a request when it gets full, after one that was refused."""

from detent.context.media import suspects
from detent.context.pressure import (
    RESERVE,
    has_read_enough,
    room_of,
    state_of,
    widest,
    window_of,
)
from detent.context.project import effective
from detent.context.shaping import KEEP
from detent.loop.kit import Kit
from detent.loop.limits import BLOCKED_AT, Tally
from detent.types.errors import ModelFailure
from detent.types.events import Notice, Withheld

LONGEST_REASON = 300
MOST_COMPACTIONS = 2
"""In one turn, without whole steps between them: one that needs more would only go in circles."""
FEWEST = 2
"""Messages that stay word for word when the window is nearly full."""
PROGRESS = 5
"""Steps after which a long turn may be summed up again."""


async def make_room(kit: Kit, tally: Tally, *, asks: bool = True) -> None:
    """Before each request, after each answer, and at the end of a turn; where nothing is due it
    does nothing, so it may be called at any time. Without `asks` no summary is made: it may cost a
    request, and is made only when another request needs it."""
    if "result_budget" in kit.shaping.order and (fresh := kit.conversation.fresh_results()):
        from detent.loop.relief import bound_results

        await bound_results(kit, fresh)
    used, room = kit.conversation.tokens(), room_for(kit, tally)
    await tell_state(kit, tally, used)
    if not kit.shaping.is_automatic:
        return
    if room is not None and used > room:
        await relieve(kit, tally, room, asks=asks)
    elif asks and has_read_enough(
        kit.shaping, kit.conversation.read_since, kit.conversation.new_since
    ):
        await sum_up(kit, tally)


def room_for(kit: Kit, tally: Tally) -> int | None:
    """Never so much that the next request would be held back for it."""
    shaping, window, learned = kit.shaping, kit.model.window, kit.conversation.window
    room = room_of(shaping, window, tally.max_output, learned)
    return None if room is None else min(room, round(widest_of(kit) * BLOCKED_AT))


def widest_of(kit: Kit) -> int:
    return widest(kit.shaping, kit.model.window, kit.conversation.window)


def output_of(kit: Kit, tally: Tally) -> int:
    """What the next answer may have: no more than the window leaves it, and some in any case.
    Halved as often as it takes, so that it changes rarely: it stands at the head of a request."""
    wanted, left = tally.max_output, widest_of(kit) - kit.conversation.tokens()
    while wanted > max(left, RESERVE):
        wanted //= 2
    return max(wanted, min(tally.max_output, RESERVE))


async def tell_state(kit: Kit, tally: Tally, used: int) -> None:
    window = window_of(kit.shaping, kit.model.window, kit.conversation.window)
    state = state_of(used, window)
    if state == tally.pressure:
        return
    tally.pressure = state
    await kit.emit(Notice(f"context {state}: {used / max(window, 1):.0%} of the window is in use"))


async def relieve(kit: Kit, tally: Tally, room: int, *, asks: bool) -> None:
    """Stage by stage, in the user's order, while there is too much."""
    from detent.loop.relief import shorten

    for stage in kit.shaping.order:
        if kit.conversation.tokens() <= room:
            return
        if stage == "auto":
            if not asks:
                return  # what the user has put behind it waits as well
            await sum_up(kit, tally)
        elif stage != "result_budget":
            await shorten(kit, stage, room, is_critical=tally.pressure == "CRITICAL")


async def sum_up(kit: Kit, tally: Tally) -> None:
    """Not worth a word where nothing is old yet: the prompt alone may fill a small window."""
    least = FEWEST if tally.pressure == "CRITICAL" else KEEP
    is_young = len(kit.conversation.messages()) <= least + 1
    if is_young or "auto" not in kit.shaping.order:
        return
    # What was in vain is not tried again at once, unless fewer messages may stay by now.
    if may_compact(tally) and tally.in_vain not in ("CRITICAL", tally.pressure):
        tally.in_vain = None if await _compact(kit, tally) else tally.pressure


def may_compact(tally: Tally) -> bool:
    """Whole steps begin the count anew."""
    if not _is_stuck(tally):
        tally.compactions, tally.in_vain = 0, None
    return tally.compactions < MOST_COMPACTIONS


def _is_stuck(tally: Tally) -> bool:
    return len(tally.steps) - tally.compacted_step < PROGRESS


async def recovered(kit: Kit, tally: Tally, failure: ModelFailure) -> bool:
    """Whether the conversation was changed so that the request may be accepted now."""
    match failure.kind:
        case "prompt_too_long":
            if await make_room_urgently(kit, tally, failure):
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


async def make_room_urgently(kit: Kit, tally: Tally, failure: ModelFailure | None = None) -> bool:
    """After the provider said that the prompt is too long. Once for each recovery: whole steps lie
    between two. False when in vain."""
    if (tally.recovered and _is_stuck(tally)) or not kit.shaping.reactive:
        return False
    tally.recovered = True
    from detent.loop.urgent import make_room_now

    return await make_room_now(kit, tally, failure)


async def _compact(kit: Kit, tally: Tally) -> bool:
    """Loaded when it is needed: most runs never are. In a window that is nearly full fewer messages
    stay, where the usual number would leave too little room."""
    from detent.loop.compacting import compact

    keep = None
    room = room_for(kit, tally) if tally.pressure == "CRITICAL" else None
    if room is not None:
        from detent.loop.urgent import fitting

        keep = fitting(kit, room, FEWEST)
    tally.compacted_step = len(tally.steps)
    return await compact(kit, tally, "auto", keep=keep)
