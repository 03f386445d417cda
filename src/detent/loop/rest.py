"""Does the model rest? What its answer means for the turn: go on, or end and why."""

from detent.loop.kit import Kit
from detent.loop.limits import (
    MOST_FORCED_CONTINUATIONS,
    MOST_PAUSES,
    MOST_TRUNCATION_RETRIES,
    Halt,
    Tally,
)
from detent.loop.room import make_room_urgently
from detent.types.content import plain_text
from detent.types.events import Notice, Reason, Reminded
from detent.types.messages import Reply

CONTINUE = "Your answer was cut at its length limit. Go on exactly where it stopped."
WRAP_UP = "The budget is spent. Answer now with what you have; no tool can be used any more."
USUAL_STOPS = ("end_turn", "stop_sequence", "tool_use")


async def at_rest(kit: Kit, tally: Tally, reply: Reply, steered: bool) -> Halt | None:
    """None when the turn goes on. Calls decide; the stop reason only refines."""
    if reply.calls or steered:
        return None
    match reply.stop:
        case "pause_turn":
            return paused(tally)
        case "refusal":
            return Halt("refusal", "The model declined to answer.")
        case "max_tokens":
            text = "The answer was cut at the model's output limit."
            return await cut(kit, tally, Halt("max_tokens", text))
        case "model_context_window_exceeded":
            tally.truncations = MOST_TRUNCATION_RETRIES  # more output will not help, room may
            text = "The answer was cut because the model's window is full."
            return await cut(kit, tally, Halt("prompt_too_long", text))
        case unusual if unusual not in USUAL_STOPS:
            text = f"the model stopped for a reason we do not know ({unusual}); taken as its end"
            await kit.emit(Notice(text, "warning"))
    return None if await forced_on(kit, tally, reply) else Halt("end_turn")


async def last_word(kit: Kit, tally: Tally, spent: Halt) -> bool:
    """A spent budget may allow one answer more, without tools, to say what there is."""
    if not kit.limits.wrap_up or tally.wrapping_up:
        return False
    tally.wrapping_up = True
    await kit.emit(Notice(spent.message, "warning"))
    await kit.emit(Reminded(text=WRAP_UP, source="budget"))
    return True


def paused(tally: Tally) -> Halt | None:
    """The provider paused and wants the conversation back to go on; but not for ever."""
    tally.pauses += 1
    if tally.pauses <= MOST_PAUSES:
        return None
    reason: Reason = "invalid_response"
    return Halt(reason, "The model paused again and again without going on.")


async def cut(kit: Kit, tally: Tally, otherwise: Halt) -> Halt | None:
    """A cut answer goes on in a further message.

    When that did not help three times, room is made once: perhaps the window was what was full.
    """
    if tally.truncations >= MOST_TRUNCATION_RETRIES and not await make_room_urgently(kit, tally):
        return otherwise
    tally.truncations += 1
    await kit.emit(Reminded(text=CONTINUE, source="truncation"))
    return None


async def forced_on(kit: Kit, tally: Tally, reply: Reply) -> bool:
    """Stop hooks may make the turn go on, but not for ever."""
    if tally.continuations >= MOST_FORCED_CONTINUATIONS:
        return False
    again = tally.continuations > 0
    feedback = await kit.gate.stopping(plain_text(reply.content), again)
    if not feedback:
        return False
    tally.continuations += 1
    await kit.emit(Reminded(text=feedback, source="stop hook"))
    return True
