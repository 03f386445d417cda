"""A question beside the work: the request at hand and one message more, so that the provider reads
the conversation from its cache. Nothing of it stays but what it has cost."""

from collections.abc import Callable

from detent.context.prompt import section
from detent.loop.kit import Kit
from detent.loop.spending import Purse, lose
from detent.loop.summarising import FEWEST_OUTPUT, request_with, room_left
from detent.ports import Emit
from detent.types.content import plain_text
from detent.types.deltas import Delta
from detent.types.errors import BadInput
from detent.types.events import TextDelta

NO_ROOM = "the conversation leaves no room for a question; /compact makes some"


async def ask_aside(kit: Kit, question: str, hear: Callable[[str], None], emit: Emit) -> str:
    """The answer; `hear` gets it as it comes, also of an attempt that comes to nothing. Calls in it
    are never run. Raises BadInput, and ModelFailure."""
    if room_left(kit) < FEWEST_OUTPUT:
        raise BadInput(NO_ROOM)

    async def listen(delta: Delta) -> None:
        if isinstance(delta, TextDelta):
            hear(delta.text)

    purse = Purse(kit.account, kit.price, emit, "aside")
    text = f"{section('aside').strip()}\n\n{question}"
    reply = await purse.ask(kit.model, request_with(kit, text), listen)
    await lose(emit, reply.model, reply.usage, "aside")
    return plain_text(reply.content)
