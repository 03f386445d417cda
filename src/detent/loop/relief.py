"""The stages that make room: each proposes what may read shorter; the log says what was taken."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from detent.context.compact.view import View, chosen
from detent.context.pressure import window_of
from detent.context.project import effective
from detent.context.shaping import Stage
from detent.context.tokens import estimate
from detent.context.trims import shorter
from detent.loop.kit import Kit
from detent.types.events import CallEnded, Trimmed

if TYPE_CHECKING:
    from detent.context.compact.view import Group

TARGET = 0.6
"""Of the room: how far a stage shortens, so that the cached beginning of requests breaks rarely."""
WORTH_IT = 0.1
"""Of the room: less is not worth a broken cache, unless the window is nearly full. So one that was
broken holds for a while."""


async def bound_results(kit: Kit, fresh: list[CallEnded]) -> None:
    """Before a request holds them for the first time."""
    from detent.context.compact.result_budget import budget_of, trims
    from detent.loop.calls import put_away

    def keep(entry: CallEnded, text: str) -> str:
        return put_away(kit.desk.shop.outputs, f"{entry.name}-{entry.call_id}", text)

    window = window_of(kit.shaping, kit.model.window, kit.conversation.window)
    found = trims(fresh, budget_of(window, kit.limits.characters), keep)
    if not found:
        return
    texts = {trim.entry: trim for trim in found}
    cut = [entry for entry in fresh if entry.seq in texts]
    family, used = kit.conversation.family, kit.conversation.tokens()
    saved = sum(
        estimate(entry, family) - estimate(shorter(entry, texts[entry.seq]), family)
        for entry in cut
    )
    await kit.emit(
        Trimmed(stage="result_budget", trims=found, before_tokens=used, after_tokens=used - saved)
    )


async def shorten(kit: Kit, stage: Stage, room: int, *, is_critical: bool) -> None:
    conversation = kit.conversation
    used, scale = conversation.tokens(), conversation.scale
    view = View(
        effective(conversation.entries),
        kit.shaping.keep,
        is_critical=is_critical,
        family=conversation.family,
    )
    choice = chosen(view, proposals(stage, view), round((used - room * TARGET) / scale))
    saved = round(choice.saved * scale)
    least = 0 if is_critical else room * WORTH_IT
    if choice.trims and saved >= least:
        await kit.emit(
            Trimmed(
                stage=stage,
                trims=choice.trims,
                before_tokens=used,
                after_tokens=max(0, used - saved),
            )
        )


def proposals(stage: Stage, view: View) -> "Iterator[Group]":
    """A stage that is switched off is never loaded."""
    match stage:
        case "snip_window":
            from detent.context.compact.snip_window import trims
        case "snip_messages":
            from detent.context.compact.snip_messages import trims
        case "micro":
            from detent.context.compact.micro import trims
        case "collapse":
            from detent.context.compact.collapse import trims
        case _:
            return iter(())
    return trims(view)
