"""One compaction: what is old is told in short, hooks are asked, the log says so."""

from typing import Literal

from detent.context.compact.local import compact_locally
from detent.loop.kit import Kit
from detent.loop.limits import Tally


async def compact(
    kit: Kit, tally: Tally, trigger: Literal["auto", "manual", "reactive"], instructions: str = ""
) -> bool:
    """Whether the conversation has become shorter."""
    tally.compactions += 1
    reactive = trigger == "reactive"
    compacted = compact_locally(
        kit.conversation.entries,
        keep=kit.shaping.keep // 2 if reactive else kit.shaping.keep,
        before_tokens=kit.conversation.tokens(),
        reactive=reactive,
    )
    if compacted is None:
        return False
    if kit.gate.hears("before_compact") or kit.gate.hears("on_context_compact"):
        from detent.loop.occasions import may_compact

        if not await may_compact(kit, compacted):
            return False
    await kit.emit(compacted)
    await kit.remind("compacted")
    if kit.gate.hears("after_compact"):
        from detent.loop.occasions import has_compacted

        await has_compacted(kit, compacted)
    return True
