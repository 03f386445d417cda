"""Making room in the window: before a request when it gets full, after one that was too long."""

from detent.context.compact.local import KEEP, compact_locally
from detent.loop.kit import Kit
from detent.loop.limits import Tally

WARNING = 0.80
"""Share of the window from which on room is made."""
MOST_COMPACTIONS = 2
"""In one turn. A turn that needs more would only go round in circles."""


async def make_room(kit: Kit, tally: Tally) -> None:
    """A compaction that would hardly help is not made twice."""
    used = kit.conversation.tokens()
    if used > kit.model.window * WARNING and tally.compactions < MOST_COMPACTIONS:
        await _compact(kit, tally, used, KEEP, reactive=False)


async def make_room_urgently(kit: Kit, tally: Tally) -> bool:
    """After the provider said that the prompt is too long. Once in a turn; False when in vain."""
    if tally.recovered:
        return False
    tally.recovered = True
    used = kit.conversation.tokens()
    return await _compact(kit, tally, used, KEEP // 2, reactive=True)


async def _compact(kit: Kit, tally: Tally, used: int, keep: int, *, reactive: bool) -> bool:
    tally.compactions += 1
    compacted = compact_locally(
        kit.conversation.entries, keep=keep, before_tokens=used, reactive=reactive
    )
    if compacted is None:
        return False
    await kit.emit(compacted)
    return True
