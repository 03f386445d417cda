"""A person's question beside the work of a session, between turns or while one runs."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from detent.app.recorder import to_nobody
from detent.loop.aside import ask_aside
from detent.types.durable import Durable
from detent.types.errors import BadInput
from detent.types.events import Entry, Event

if TYPE_CHECKING:
    from detent.app.engine import Engine


async def aside(
    engine: "Engine", question: str, hear: Callable[[str], None], *, is_running: bool
) -> str:
    """Raises BadInput, and ModelFailure."""
    if not question.strip():
        raise BadInput("there is no question")
    if not is_running:  # else the session has begun, and its reader is the turn's
        engine.recorder.attach(to_nobody, lambda event: None)
        await engine.begin()

    async def record(event: Event) -> None:
        """Whoever reads the turn is not waited for."""
        if isinstance(event, Durable):
            entry: Entry = event
            engine.recorder.record(entry)

    return await ask_aside(engine.kit, question.strip(), hear, record)
