"""`/model`: the model in use and those that can be had; `/model NAME` goes on with another."""

from detent.sdk.keyless import is_keyless
from detent.sdk.local_models import look_for_models
from detent.sdk.session import Session
from detent.sdk.switching import Switch, switch_model
from detent.surfaces.commands import Hear
from detent.surfaces.tables.model_table import at_hand
from detent.surfaces.tables.widths import one_line
from detent.types.errors import BadInput


async def run(session: Session, rest: str, hear: Hear) -> str:
    if len(rest.split()) > 1:
        raise BadInput(f"/model takes the name of one model; not {rest!r}")
    if not rest:
        found = await look_for_models(session.options.environ)
        return "\n".join([f"In use: {one_line(session.model)}", *at_hand(found, "/model")])
    if is_keyless(session.options) and not session.entries:
        raise BadInput(f"nothing was said yet: --model {rest} chooses it with the first prompt")
    before = session.model
    switch = await switch_model(session, rest)
    if switch.model == before:
        return f"{one_line(before)} is in use already."
    text = f"From the next turn on: {one_line(switch.model)} (before: {one_line(before)})."
    return f"{text}\n{cost_of(switch)}" if switch.tokens else text


def cost_of(switch: Switch) -> str:
    """What a person should know who changes the model in the middle of a conversation."""
    price = "at a price that is not known here"
    if switch.dollars is not None:
        price = f"about ${switch.dollars:,.4f} at its price"
    return (
        f"It reads the conversation of {switch.tokens:,} tokens anew, {price}: what the provider "
        "keeps ready is of the other model."
    )
