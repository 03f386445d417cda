"""After the provider refused a prompt as too long: its window is learned, and room is made."""

from detent.context.compact.boundary import boundary_of
from detent.context.media import suspects
from detent.context.pressure import RESERVE
from detent.context.project import effective
from detent.loop.kit import Kit
from detent.loop.limits import Tally
from detent.loop.room import may_compact, widest_of
from detent.types.errors import ModelFailure
from detent.types.events import Learned

ROUNDS = (4, 2, 1, 0)
"""Messages that stay word for word, the first number that fits."""
FOR_SUMMARY = 3_000
"""Tokens that a summary may have at most, as a rule."""
MARGIN = 0.03
"""Of the window: what a server counts and does not tell."""
UNKNOWN = 0.5
"""Of what was refused, where nobody says how much would do."""


async def make_room_now(kit: Kit, tally: Tally, failure: ModelFailure | None) -> bool:
    """Whether a request may be accepted now. Asks no model: it would be refused as well."""
    has_leave = may_compact(tally)
    tally.compacted_step = len(tally.steps)
    if failure is not None:
        await learn(kit, failure)
        if _only_the_answer_is_too_long(tally, failure.window, failure.tokens):
            return True
    room = _room(kit, tally, failure)
    if await _snipped(kit, round(room)):
        return True
    if not has_leave:
        return False
    from detent.loop.compacting import compact

    return await compact(kit, tally, "reactive", keep=fitting(kit, room, _least(kit, failure)))


async def learn(kit: Kit, failure: ModelFailure) -> None:
    """In the log, whatever is made of it: a resumed session knows it, too."""
    if failure.window and failure.window != kit.conversation.window:
        await kit.emit(Learned(window=failure.window))
    kit.conversation.was_counted(failure.tokens)


def _only_the_answer_is_too_long(tally: Tally, window: int, tokens: int) -> bool:
    """Some servers count what the answer may have as part of the prompt."""
    free = round(window * (1 - MARGIN)) - tokens
    wanted = tally.sent or tally.max_output
    if not (window and tokens) or free < RESERVE // 4 or not wanted or free >= wanted:
        return False
    tally.max_output = free
    return True


def _room(kit: Kit, tally: Tally, failure: ModelFailure | None) -> float:
    """How many tokens the prompt may have."""
    used = kit.conversation.tokens()
    if failure is None or not (kit.conversation.window or used > widest_of(kit)):
        return used * UNKNOWN
    window = widest_of(kit)
    tally.max_output = min(tally.max_output, max(window // 4, RESERVE // 4))
    return min(window * (1 - MARGIN) - tally.max_output, used * (1 - MARGIN))


async def _snipped(kit: Kit, room: int) -> bool:
    """What costs nothing is tried first; whether it was enough."""
    from detent.loop.relief import shorten

    for stage in kit.shaping.order:
        if stage != "auto":
            await shorten(kit, stage, room, is_critical=True)
        if kit.conversation.tokens() <= room:
            return True
    return False


def _least(kit: Kit, failure: ModelFailure | None) -> int:
    """An answer that was cut must be there to go on from; and of a request with too many bytes the
    pictures can be left out, rather than what is new."""
    if failure is None:
        return 2
    return 2 if failure.status == 413 and suspects(effective(kit.conversation.entries)) else 0


def fitting(kit: Kit, room: float, least: int) -> int:
    conversation = kit.conversation
    keep = least
    wanted = kit.shaping.keep
    for keep in (n for n in (wanted, *ROUNDS) if least <= n <= max(wanted, least)):
        boundary = boundary_of(conversation.entries, keep)
        if boundary is None:
            continue
        again = conversation.sizes.together((*boundary.kept, *boundary.told_again))
        left = conversation.base + again + FOR_SUMMARY
        if left * conversation.scale <= room:
            break
    return keep
