"""/model, /effort and /mode without a word: a list, and what a change costs before it is made."""

from msgspec.structs import replace

from detent.sdk.local_models import models_to_choose
from detent.sdk.session import Session
from detent.sdk.switching import look_at_switch, switch_mode, switch_model
from detent.surfaces.commands.mode import MODES
from detent.surfaces.commands.model import cost_of
from detent.surfaces.tui.blocks import Told
from detent.surfaces.tui.dialogs.dialog import Row
from detent.surfaces.tui.dialogs.listing import Listing
from detent.surfaces.tui.seat import Seat
from detent.surfaces.wishes import EFFORTS

CACHE = "From now on the conversation is read anew: the cache belongs to the other setting."


async def model(seat: Seat, session: Session, wanted: str) -> None:
    name = wanted or await _chosen_model(seat, session)
    if not name or name == session.model:
        return
    switch = await look_at_switch(session, name)
    if session.entries and switch.tokens:
        rows = (Row(f"Switch to {switch.model}", value=True), Row("Stay", session.model, False))
        row = await seat.stage.ask(Listing(cost_of(switch), rows))
        if row is None or not row.value:
            return
    await switch_model(session, name)
    seat.options = replace(seat.options, model=name)  # for the sessions after this one
    seat.stage.show(Told(f"{session.model} answers from now on."))


async def _chosen_model(seat: Seat, session: Session) -> str:
    names = dict.fromkeys((session.model, *await models_to_choose()))
    rows = tuple(Row(name, "in use" if name == session.model else "", name) for name in names)
    row = await seat.stage.ask(Listing("Which model? (/model NAME takes any other)", rows))
    return row.value if row is not None else ""


async def effort(seat: Seat, session: Session, wanted: str) -> None:
    if not wanted:
        rows = tuple(Row(level, "in use" if level == session.effort else "", level)
                     for level in EFFORTS)  # fmt: skip
        row = await seat.stage.ask(Listing("How much thinking?", rows))
        if row is None:
            return
        wanted = row.value
    await session.set_effort(wanted)
    seat.stage.show(Told(f"Effort: {wanted}. {CACHE if session.entries else ''}".strip()))


async def mode(seat: Seat, session: Session) -> None:
    rows = tuple(Row(name, about, name) for name, about in MODES.items())
    row = await seat.stage.ask(Listing("What may run without a question?", rows))
    if row is not None:
        await switch_mode(session, row.value)
        seat.stage.touch()
