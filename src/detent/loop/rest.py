"""Does the model rest? What its answer means for the turn: go on, or end and why."""

from msgspec import UNSET

from detent.context.media import sound
from detent.loop.form import handed_over, out_of_form
from detent.loop.kit import Kit
from detent.loop.limits import (
    MOST_BROKEN_OFF,
    MOST_PAUSES,
    MOST_TRUNCATION_RETRIES,
    Halt,
    Tally,
)
from detent.loop.room import make_room_urgently
from detent.loop.step import CUT_STOPS, WHOLE_STOPS, request_of, wants_more_room
from detent.types.budget import Shortage
from detent.types.codec import arguments_object
from detent.types.content import UserBlock, plain_text
from detent.types.errors import PromptBlocked
from detent.types.events import Notice, Prompted, Reason, Reminded
from detent.types.messages import Reply

CONTINUE = "Your answer was cut at its length limit. Go on exactly where it stopped."
CUT_CALL = "Your last call was cut at the length limit. Send what it was to do in smaller parts."
GO_ON = "Your answer was empty. Go on with the task, or say that you are done."
WRAP_UP = "The budget is spent. Answer now with what you have; no tool can be used any more."
WRAP_UP_IN_FORM = (
    "The budget is spent. Give your final answer now by calling {tool}; no other tool can be used."
)


async def at_rest(kit: Kit, tally: Tally, reply: Reply, steered: bool) -> Halt | None:
    """None when the turn goes on."""
    halt = None if steered else await rests(kit, tally, reply)
    if halt is None and (reason := kit.gate.interruption()):
        return Halt("hook_stopped", reason)
    return halt


async def rests(kit: Kit, tally: Tally, reply: Reply) -> Halt | None:
    """Calls decide; the stop reason only refines."""
    if reply.calls:
        return await after_calls(kit, tally, reply) or given_up(tally)
    match reply.stop:
        case "pause_turn":
            return paused(tally)
        case "refusal":
            return Halt("refusal", "The model declined to answer.")
        case "max_tokens":
            text = "The answer was cut at the model's output limit."
            return await cut(kit, tally, CONTINUE, Halt("max_tokens", text))
        case "model_context_window_exceeded":
            tally.truncations = MOST_TRUNCATION_RETRIES  # more output will not help, room may
            text = "The answer was cut because the model's window is full."
            return await cut(kit, tally, CONTINUE, Halt("prompt_too_long", text))
        case unusual if unusual not in WHOLE_STOPS:
            text = f"the model stopped for a reason we do not know ({unusual}); taken as its end"
            await kit.emit(Notice(text, "warning"))
    if await heard_more(kit, tally):
        return None
    if kit.form:
        return await in_form(kit, tally, reply)
    if not plain_text(reply.content).strip() and not was_cut(tally):
        return await silent(kit, tally)
    return None if await forced_on(kit, tally, reply) else Halt("end_turn")


async def after_calls(kit: Kit, tally: Tally, reply: Reply) -> Halt | None:
    """Results want to be read; but a call may have handed the final answer over."""
    if kit.form:
        halt = await in_form(kit, tally, reply)
        if halt is not None or handed_over(kit, reply) is not UNSET:
            return halt
    is_whole = arguments_object(reply.calls[-1].arguments) is not None
    if reply.stop != "max_tokens" or is_whole or wants_more_room(kit, tally):
        return None
    text = "A call was cut at the model's output limit again and again."
    return await cut(kit, tally, CUT_CALL, Halt("max_tokens", text))


async def in_form(kit: Kit, tally: Tally, reply: Reply) -> Halt | None:
    """The value ends the turn, if no hook wants it to go on; without it the model tries again."""
    value = handed_over(kit, reply)
    if value is UNSET:
        return await out_of_form(kit, tally, reply)
    if await heard_more(kit, tally) or await forced_on(kit, tally, reply):
        return None
    return Halt("end_turn", output=value)


async def heard_more(kit: Kit, tally: Tally) -> bool:
    """Whoever works in the background may have to be waited for; what comes of it is read."""
    while await kit.inbox.arrival():
        if await take_steering(kit, tally):
            return True
    return False


async def take_steering(kit: Kit, tally: Tally) -> bool:
    """Prompts and news that arrived while the step ran join the conversation now."""
    news, arrived = kit.inbox.news(), kit.inbox.take()
    for text in news:
        await kit.emit(Reminded(text=text, source="background"))
    taken = [await take_steered(kit, tally, content) for content in arrived]
    return bool(news) or any(taken)


async def take_steered(kit: Kit, tally: Tally, content: tuple[UserBlock, ...]) -> bool:
    """Hooks look at these as well; one that they block is left out, as if it had not come."""
    try:
        added = await kit.gate.prompted(content)
    except PromptBlocked as blocked_by_hook:
        await kit.emit(Notice(f"a prompt was blocked by a hook: {blocked_by_hook}", "warning"))
        return False
    await kit.emit(Prompted(turn=tally.turn, content=sound(content), steered=True))
    if added:
        await kit.emit(Reminded(text=added, source="prompt hook"))
    return True


def given_up(tally: Tally) -> Halt | None:
    """A server that breaks off every answer gets no more calls out of us."""
    if len(tally.broken) < MOST_BROKEN_OFF:
        return None
    message = f"{MOST_BROKEN_OFF} answers in a row broke off. The last one: {tally.broken[-1]}"
    return Halt("retries_exhausted", message)


async def silent(kit: Kit, tally: Tally) -> Halt | None:
    """Some models say nothing at all after a result. The same request would give the same."""
    if tally.nudged:
        return Halt("invalid_response", "The model gave an empty answer.")
    tally.nudged = True
    await kit.emit(Reminded(text=GO_ON, source="empty answer"))
    return None


def was_cut(tally: Tally) -> bool:
    """The answer before this one was cut: nothing more to add is a good end for it."""
    return len(tally.steps) > 1 and tally.steps[-2].stop in CUT_STOPS


async def last_word(kit: Kit, tally: Tally) -> bool:
    """A spent budget may allow one answer more, without tools, to say what there is."""
    if not kit.limits.wrap_up or tally.wrapping_up or not affords_last_word(kit, tally):
        return False
    tally.wrapping_up = True
    text = WRAP_UP_IN_FORM.format(tool=kit.form) if kit.form else WRAP_UP
    await kit.emit(Reminded(text=text, source="budget"))
    return True


def affords_last_word(kit: Kit, tally: Tally) -> bool:
    """A strict account has to hold what it may take. With others, a turn that found the budget
    spent has nothing to wrap up; else each would go beyond it anew."""
    if isinstance(tally.reserved, Shortage):
        return False
    if not kit.account.is_strict:
        return bool(tally.steps)
    from detent.loop.worst import fits_last

    return fits_last(kit.purse, kit.model, request_of(kit, tally, is_last=True))


def paused(tally: Tally) -> Halt | None:
    """The provider paused and wants the conversation back to go on; but not for ever."""
    tally.pauses += 1
    if tally.pauses <= MOST_PAUSES:
        return None
    reason: Reason = "invalid_response"
    return Halt(reason, "The model paused again and again without going on.")


async def cut(kit: Kit, tally: Tally, text: str, otherwise: Halt) -> Halt | None:
    """A cut answer goes on in a further message.

    When that did not help three times, room is made once: perhaps the window was what was full.
    """
    if tally.truncations >= MOST_TRUNCATION_RETRIES and not await make_room_urgently(kit, tally):
        return otherwise
    tally.truncations += 1
    await kit.emit(Reminded(text=text, source="truncation"))
    return None


async def forced_on(kit: Kit, tally: Tally, reply: Reply) -> bool:
    """Stop hooks may make the turn go on, but not for ever."""
    again = tally.continuations > 0
    feedback = await kit.gate.stopping(plain_text(reply.content), again)
    if not feedback:
        return False
    if tally.continuations >= kit.limits.forced:
        text = f"a stop hook wanted the turn to go on for more than {kit.limits.forced} times"
        await kit.emit(Notice(f"{text}; it ends here", "warning"))
        return False
    tally.continuations += 1
    await kit.emit(Reminded(text=feedback, source="stop hook"))
    return True
