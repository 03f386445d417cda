"""Another model or mode for a session that is open, and what that means."""

import asyncio
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from detent.app.recorder import to_nobody
from detent.app.scales import scales_of
from detent.sdk.keyless import is_keyless
from detent.types.errors import BadInput, NoModel
from detent.types.events import Replied
from detent.types.usage import Usage

if TYPE_CHECKING:
    from detent.sdk.session import Session

__all__ = ["Switch", "look_at_switch", "switch_mode", "switch_model"]


class Switch(Struct, frozen=True):
    """What another model would have to read, for what the provider keeps ready is of the one
    before."""

    model: str
    """As it calls itself."""
    tokens: int = 0
    """About; 0 where nothing was read yet."""
    dollars: float | None = None
    """About; None when the price is not known."""


async def look_at_switch(session: "Session", name: str) -> Switch:
    """Asks nobody, and changes nothing."""
    grounds = session._engine.grounds
    wanted = replace(session.options, model=name, fallback_models=())
    scales = scales_of(wanted, grounds.settings, grounds.environ, None)
    return await _cost(session, scales.name)


async def switch_model(session: "Session", name: str) -> Switch:
    """From the next turn on; what it costs was weighed before. Raises BadInput where the model
    cannot be had."""
    before = session.model
    seen = await _cost(session, before)
    try:
        await session.switch_model(name)
    except NoModel as error:
        first = str(error).partition("\n")[0]
        raise BadInput(f"{name} cannot be had: {first}") from None
    if session.model == before:
        return Switch(before)
    return Switch(session.model, seen.tokens, _dollars(session, session.model, seen.tokens))


async def switch_mode(session: "Session", mode: str) -> str:
    """At once, also for a turn that runs. A session that nobody runs notes it down, as far as a
    log may say what is permitted. Raises BadInput."""
    session.mode = mode
    engine = session._engine
    if is_keyless(session.options) and not engine.journal.is_new:
        engine.recorder.attach(to_nobody, lambda event: None)
        await engine.begin()
    return session.mode


async def _cost(session: "Session", model: str) -> Switch:
    if not any(isinstance(entry, Replied) for entry in session.entries):
        return Switch(model)
    ledger = await asyncio.to_thread(session.context)
    return Switch(model, ledger.tokens, _dollars(session, model, ledger.tokens))


def _dollars(session: "Session", model: str, tokens: int) -> float | None:
    """Where keeping it ready costs more than reading it, that is what is paid."""
    ways = (Usage(input=tokens), Usage(cache_write=tokens))
    prices = [price for usage in ways if (price := session.price(model, usage)) is not None]
    return max(prices, default=None)
