"""Taking back what a session has done to files, and going back to what was said."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

from msgspec.structs import replace

from detent.app.engine import Engine
from detent.app.options import Options
from detent.app.recorder import to_nobody
from detent.app.truncating import catch_up
from detent.app.undo.doing import Report, look, undo
from detent.app.undo.judging import Left
from detent.app.undo.planning import StepDone, Touched, Wish, listing
from detent.app.undo.rewinding import (
    Part,
    Point,
    Redone,
    Rewinding,
    look_back,
    points,
    redo,
    rewind,
)
from detent.app.undo.standing_on import beside_commands, looked_at, of_engine, stored
from detent.app.wire import assemble
from detent.context.unfinished import unfinished
from detent.sdk.keyless import keyless

__all__ = [
    "Left", "Part", "Point", "Redone", "Report", "Rewinding", "StepDone", "Touched", "Wish",
    "is_cut_off", "look_at", "mend_stored", "points", "redo_now", "redo_stored",
    "rewind_now", "steps_of", "undo_now", "undo_stored",
]  # fmt: skip

T = TypeVar("T")


async def undo_now(engine: Engine, wish: Wish, *, dry_run: bool = False) -> Report:
    ground = of_engine(engine)
    if dry_run:
        return await asyncio.to_thread(look, ground, wish)
    await _begin(engine)
    async with beside_commands(engine):
        return await _to_its_end(lambda: undo(ground, wish))


async def redo_now(engine: Engine) -> Redone:
    ground = of_engine(engine)
    await _begin(engine)
    async with beside_commands(engine):
        done = await _to_its_end(lambda: redo(ground))
    catch_up(engine)
    return done


async def rewind_now(
    engine: Engine, number: int, part: Part = "both", *, dry_run: bool = False
) -> Rewinding:
    ground = of_engine(engine)
    if dry_run:
        return await asyncio.to_thread(look_back, ground, number, part)
    await _begin(engine)
    async with beside_commands(engine):
        done = await _to_its_end(lambda: rewind(ground, number, part))
    catch_up(engine)
    return done


def undo_stored(options: Options, wish: Wish, session: str = "") -> Report:
    """Of a session that nobody has open. Raises BadInput."""
    mend_stored(options, session)
    with stored(options, session) as ground:
        return undo(ground, wish)


def redo_stored(options: Options, session: str = "") -> Redone:
    with stored(options, session) as ground:
        return redo(ground)


def look_at(options: Options, wish: Wish, session: str = "") -> Report:
    with looked_at(options, session) as ground:
        return look(ground, wish)


def steps_of(options: Options, session: str = "") -> tuple[str, tuple[StepDone, ...]]:
    """The session, and what each of its steps has done to files."""
    with looked_at(options, session) as ground:
        return ground.session, listing(ground.entries())


def is_cut_off(options: Options, session: str = "") -> bool:
    """Nobody has found out yet what its last calls have done."""
    with looked_at(options, session) as ground:
        return bool(unfinished(ground.entries()))


def mend_stored(options: Options, session: str = "") -> None:
    """A session that was cut off: what its last calls have done is found out first."""
    with looked_at(options, session) as ground:
        if not unfinished(ground.entries()):
            return
        wanted = replace(options, resume=ground.session, continue_newest=False, cwd=ground.cwd)

    async def mend() -> None:
        engine = assemble(keyless(wanted))
        try:
            await engine.begin()
        finally:
            await engine.aclose()

    asyncio.run(mend())


async def _begin(engine: Engine) -> None:
    engine.recorder.attach(to_nobody, lambda event: None)
    await engine.begin()


async def _to_its_end(job: Callable[[], T]) -> T:
    """In a thread, for disks are slow. Whoever cancels it waits: half an undo helps nobody."""
    running = asyncio.create_task(asyncio.to_thread(job))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        await asyncio.wait([running])
        raise
