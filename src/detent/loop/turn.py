"""A turn: from a prompt to rest. Reads as the specification; features live elsewhere."""

import asyncio
from collections.abc import Sequence

from detent.loop.kit import Kit
from detent.loop.limits import (
    MOST_FORCED_CONTINUATIONS,
    MOST_TRUNCATION_RETRIES,
    Halt,
    Tally,
    blocked,
    exceeded,
    first_output,
)
from detent.loop.room import make_room, make_room_urgently
from detent.loop.step import run_step
from detent.types.content import UserBlock, plain_text
from detent.types.errors import ModelFailure, PromptBlocked
from detent.types.events import Prompted, Reason, Reminded, Rewound, TurnEnded
from detent.types.messages import Reply

CONTINUE = "Your answer was cut at its length limit. Go on exactly where it stopped."


async def run_turn(kit: Kit, content: tuple[UserBlock, ...], turn: int) -> TurnEnded:
    """Emits everything that happens, `TurnEnded` last, and returns it."""
    tally = Tally(turn, kit.clock.elapsed(), first_output(kit.limits, kit.model.max_output))
    before = kit.conversation.last_seq
    kit.trace("Input", "")
    try:
        await take_prompt(kit, content, tally)
        halt = await converse(kit, tally)
    except asyncio.CancelledError:
        await finish(kit, tally, Halt("user_cancelled", "Interrupted."))
        raise
    except PromptBlocked as blocked_by_hook:
        await kit.emit(Rewound(to=before))
        halt = Halt("hook_stopped", str(blocked_by_hook))
    except ModelFailure as failure:
        halt = Halt(reason_of(failure), failure.message, failure.status)
    return await finish(kit, tally, halt)


async def take_prompt(kit: Kit, content: tuple[UserBlock, ...], tally: Tally) -> None:
    """Recorded before the model or a hook sees it: a crash loses nothing that was typed."""
    kit.trace("Message", "")
    await kit.emit(Prompted(turn=tally.turn, content=content))
    if added := await kit.gate.prompted(content):
        await kit.emit(Reminded(text=added, source="prompt hook"))


async def converse(kit: Kit, tally: Tally) -> Halt:
    """Steps, until the model rests or a limit holds it."""
    while True:
        kit.trace("Compact", "")
        await make_room(kit, tally)
        if halt := exceeded(kit.limits, tally, kit.clock.elapsed()) or blocked(
            kit.conversation.tokens(), kit.model.window
        ):
            return halt
        try:
            reply, stopped = await run_step(kit, tally)
        except ModelFailure as failure:
            if failure.kind == "prompt_too_long" and await make_room_urgently(kit, tally):
                continue
            raise
        if stopped:
            return Halt("hook_stopped", stopped)
        steered = await take_steering(kit, tally)
        if reply.calls or reply.stop == "pause_turn" or steered:
            continue
        if reply.stop in ("refusal", "max_tokens"):
            if not await continued(kit, tally, reply):
                return Halt(_UNUSUAL[reply.stop], _UNUSUAL_TEXT[reply.stop])
            continue
        if not await forced_on(kit, tally, reply):
            return Halt("end_turn")


_UNUSUAL: dict[str, Reason] = {"refusal": "refusal", "max_tokens": "max_tokens"}
_UNUSUAL_TEXT = {
    "refusal": "The model declined to answer.",
    "max_tokens": "The answer was cut at the model's output limit.",
}


async def take_steering(kit: Kit, tally: Tally) -> bool:
    """Prompts that arrived while the step ran join the conversation now."""
    arrived: Sequence[tuple[UserBlock, ...]] = kit.inbox.take()
    for content in arrived:
        await kit.emit(Prompted(turn=tally.turn, content=content, steered=True))
    return bool(arrived)


async def continued(kit: Kit, tally: Tally, reply: Reply) -> bool:
    """A cut answer at the model's own limit goes on in a further message.

    When that did not help three times, room is made once: perhaps the window was what was full.
    """
    if reply.stop != "max_tokens":
        return False
    if tally.truncations >= MOST_TRUNCATION_RETRIES and not await make_room_urgently(kit, tally):
        return False
    tally.truncations += 1
    await kit.emit(Reminded(text=CONTINUE, source="truncation"))
    return True


async def forced_on(kit: Kit, tally: Tally, reply: Reply) -> bool:
    """Stop hooks may make the turn go on, but not for ever."""
    again = tally.continuations > 0
    if tally.continuations >= MOST_FORCED_CONTINUATIONS:
        return False
    feedback = await kit.gate.stopping(plain_text(reply.content), again)
    if not feedback:
        return False
    tally.continuations += 1
    await kit.emit(Reminded(text=feedback, source="stop hook"))
    return True


async def finish(kit: Kit, tally: Tally, halt: Halt) -> TurnEnded:
    kit.trace("Return", halt.reason)
    ended = TurnEnded(
        turn=tally.turn,
        reason=halt.reason,
        steps=tuple(tally.steps),
        usage=tally.usage,
        ms=round((kit.clock.elapsed() - tally.started) * 1000),
        api_ms=tally.api_ms,
        error=halt.message,
        status=halt.status,
    )
    await kit.emit(ended)
    return ended


def reason_of(failure: ModelFailure) -> Reason:
    if failure.exhausted:
        return "retries_exhausted"
    if failure.kind in ("prompt_too_long", "invalid_response"):
        return failure.kind
    return "api_error"
