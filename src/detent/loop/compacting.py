"""One compaction: hooks are asked, what is old is told in short, the log says so."""

from collections.abc import Sequence
from typing import Literal

from msgspec.structs import replace

from detent.context.compact.boundary import Boundary, boundary_of, replaced_messages
from detent.context.compact.contract import MOST_CHARACTERS, Whole, restored
from detent.context.compact.local import summary_of
from detent.context.pressure import widest
from detent.context.project import effective
from detent.context.tokens import Sizes
from detent.loop.kit import Kit
from detent.loop.limits import Tally
from detent.loop.spending import lose
from detent.loop.summarising import Told, ask_for_summary, has_given_up
from detent.types.events import Compacted, Compacting, Entry, Notice
from detent.types.running import Unanswered

Trigger = Literal["auto", "manual", "reactive"]

MOST_LEFT = 0.8
"""Of the conversation: a compaction that leaves more is none."""
LEAST_CONTRACT = 2_000


async def compact(
    kit: Kit, tally: Tally, trigger: Trigger, instructions: str = "", keep: int | None = None
) -> bool:
    """Whether the conversation has become shorter. Only one at a time: a hook that is told of it
    must not begin another."""
    if kit.conversation.is_compacting:
        return False
    if trigger == "manual" and not kit.shaping.manual:
        await _in_vain(kit, trigger, "DISABLE_COMPACT has switched it off")
        return False
    kit.conversation.is_compacting = True
    try:
        kept = kit.shaping.keep if keep is None else keep
        made = await _compact(kit, tally, trigger, instructions, kept)
        tally.compactions += made
        return made
    finally:
        kit.conversation.is_compacting = False


async def _compact(kit: Kit, tally: Tally, trigger: Trigger, instructions: str, keep: int) -> bool:
    entries, begun = kit.conversation.entries, kit.clock.elapsed()
    boundary = boundary_of(entries, keep)
    again = kit.conversation.sizes.together(boundary.told_again) if boundary else 0
    if boundary is None or not _can_help(kit.conversation.sizes, boundary, again):
        await _in_vain(kit, trigger, "what must stay word for word is nearly all of it")
        return False
    draft = Compacted(
        summary="",
        keeps_from=boundary.keeps_from,
        keeps=boundary.keeps,
        before_tokens=kit.conversation.tokens(),
        trigger=trigger,
        depth=boundary.depth,
        lineage=boundary.lineage,
        instructions=instructions,
    )
    if not await _may_compact(kit, draft):
        return False
    told = await _told(kit, tally, trigger, instructions)
    draft = replace(
        draft,
        model=told.model,
        usage=told.usage,
        ms=kit.lap(begun, "compaction"),
        written=told.written,
    )
    before = _size(kit, entries)
    for text in (told.text, "") if told.text else ("",):
        whole = _whole(kit, boundary, text)
        compacted = replace(
            draft,
            summary=whole.text,
            restored=whole.added,
            by="model" if text else "local",
            failures=len(told.failures) + (told.text != text),  # it was too long
        )
        after = _size(kit, [*entries, compacted]) + again
        if after <= before * MOST_LEFT:
            await _keep(kit, compacted, whole, after)
            return True
    await lose(kit.emit, told.model, told.usage, "compaction")
    if told.text:
        unused = Unanswered(model=told.model, kind="unused", error=told.written, usage=told.usage)
        await kit.emit(unused)
    await _in_vain(kit, trigger, f"a summary would leave {after:,} of {before:,} tokens")
    return False


async def _keep(kit: Kit, compacted: Compacted, whole: Whole, size: int) -> None:
    saved = kit.conversation
    if whole.left_out:
        text = f"{whole.left_out} older facts had no room beside the summary; the log has them"
        await kit.emit(Notice(text, "warning"))
    made = replace(
        compacted,
        after_tokens=round((saved.base + size) * saved.scale),
        replaced=replaced_messages(saved.entries, compacted),
    )
    await kit.emit(made)
    await kit.remind("compacted")
    if kit.gate.hears("after_compact"):
        from detent.loop.occasions import has_compacted

        await has_compacted(kit, made)


async def _may_compact(kit: Kit, draft: Compacted) -> bool:
    if not (kit.gate.hears("before_compact") or kit.gate.hears("on_context_compact")):
        return True
    from detent.loop.occasions import may_compact

    return await may_compact(kit, draft)


async def _told(kit: Kit, tally: Tally, trigger: Trigger, instructions: str) -> Told:
    """By the model, unless the user does without, it is a small one, it has failed too often, or
    the conversation is already too long to be sent."""
    does_without = kit.shaping.summariser == "local" or getattr(kit.model, "is_small", False)
    if does_without or trigger == "reactive":
        return Told("")
    if trigger == "auto" and has_given_up(kit.conversation.entries):
        return Told("")
    await kit.emit(Compacting())
    try:
        told = await ask_for_summary(kit, tally, instructions)
    finally:
        kit.hint(Compacting(is_over=True))
    if not told.text:
        text = f"the model gave no summary ({told.failures[-1]}); it was made without one"
        await kit.emit(Notice(text, "warning"))
    return told


def _whole(kit: Kit, boundary: Boundary, text: str) -> Whole:
    """With what the model wrote, or without it."""
    entries = kit.conversation.entries
    window = widest(kit.shaping, kit.model.window, kit.conversation.window)
    most = min(MOST_CHARACTERS, max(LEAST_CONTRACT, window // 2))
    return restored(text or summary_of(boundary, entries), entries, boundary.kept, most)


def _can_help(sizes: Sizes, boundary: Boundary, again: int) -> bool:
    """Known before anybody is asked."""
    kept, older = sizes.together(boundary.kept), sizes.together(boundary.older)
    return kept + again <= MOST_LEFT * (kept + older)


def _size(kit: Kit, entries: Sequence[Entry]) -> int:
    return kit.conversation.sizes.together(effective(entries))


async def _in_vain(kit: Kit, trigger: Trigger, why: str) -> None:
    level: Literal["info", "warning"] = "info" if trigger == "manual" else "warning"
    await kit.emit(Notice(f"the conversation could not be made shorter: {why}", level))
