"""A turn with wishes: its rules, its model and its effort, each as it was before when it ends."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from detent.app.commands.record import TurnWishes
from detent.app.engine import Engine
from detent.gate.lending import lent
from detent.types.errors import BadInput, NoModel
from detent.types.events import Notice


@asynccontextmanager
async def granted(engine: Engine, wishes: TurnWishes) -> AsyncIterator[None]:
    """A model that cannot be had is told of, and the turn goes on with that of the session. Raises
    BadInput for rules that are none."""
    with lent(engine.gate, wishes.allowed, wishes.denied):
        if not (wishes.model or wishes.effort):
            yield
            return
        await engine.begin()  # the log tells first what the session goes by
        try:
            model = engine.model_for(wishes.model, wishes.effort)
        except (BadInput, NoModel) as error:
            why = str(error).partition("\n")[0]
            named = wishes.model or f"effort {wishes.effort}"
            text = f"{named} cannot be had ({why}); going on with {engine.kit.model.name}"
            await engine.recorder.emit(Notice(text, "warning"))
            yield
            return
        async with engine.lent_model(model):
            yield
