"""Shortening a session by hand, and undoing it."""

from collections.abc import Awaitable, Callable

from detent.app.engine import Engine
from detent.app.recorder import to_nobody
from detent.app.uncompacting import Uncompacted, report, uncompact
from detent.context.compact.undoing import undoable
from detent.context.pressure import window_of
from detent.loop.compacting import compact
from detent.loop.limits import Tally, first_output
from detent.types.events import Compacted, Event, Restored

__all__ = ["Hear", "Uncompacted", "compact_now", "uncompact", "uncompact_now"]

Hear = Callable[[Event], Awaitable[None]]
"""Gets what happens, as it happens."""


async def compact_now(
    engine: Engine, instructions: str = "", hear: Hear = to_nobody
) -> Compacted | None:
    """The entry; None when nothing could be made shorter, or a hook did not want it."""
    kit, heard = engine.kit, list[Compacted]()

    offered: list[Event] = []
    """Told without waiting: they go before what is told next."""

    async def catch_up() -> None:
        while offered:
            await hear(offered.pop(0))

    async def listen(event: Event) -> None:
        if isinstance(event, Compacted):
            heard.append(event)
        await catch_up()
        await hear(event)

    engine.recorder.attach(listen, offered.append)
    await engine.begin()
    tally = Tally(engine.turns, kit.clock.elapsed(), first_output(kit.limits, kit.model.max_output))
    await compact(kit, tally, "manual", instructions)
    await catch_up()
    return heard[-1] if heard else None


async def uncompact_now(engine: Engine, *, last: bool, hear: Hear = to_nobody) -> Uncompacted:
    before = list(engine.journal.log.entries)
    undone = undoable(before, last=last)
    engine.recorder.attach(hear, lambda event: None)
    if undone:
        await engine.recorder.emit(Restored(entries=undone))
    model, now = engine.kit.model, engine.kit.conversation
    window = window_of(engine.kit.shaping, model.window, now.window)
    return report(engine.journal.session, undone, before, now, model.name, window)
