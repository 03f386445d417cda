"""A turn: from a prompt to rest. Reads as the specification; features live elsewhere."""

import asyncio

from msgspec.structs import replace

from detent.context.media import sound
from detent.loop.form import handed_over
from detent.loop.kit import Kit
from detent.loop.limits import (
    Halt,
    Tally,
    begin,
    blocked,
    exceeded,
    failed,
    record_of,
    session_time,
    settle,
)
from detent.loop.rest import at_rest, last_word, take_steering
from detent.loop.room import make_room, recovered, widest_of
from detent.loop.step import run_step
from detent.types.content import UserBlock, plain_text
from detent.types.errors import ModelFailure, Overdrawn, PromptBlocked
from detent.types.events import Prompted, Reminded, Rewound, TurnEnded


async def run_turn(
    kit: Kit, content: tuple[UserBlock, ...], turn: int, uuid: str = ""
) -> TurnEnded:
    """Emits everything that happens, `TurnEnded` last, and returns it. `uuid` is what the program
    that sent the prompt calls it."""
    tally = begin(kit.limits, kit.account, turn, kit.clock.elapsed(), kit.model.max_output)
    tally.settled = kit.conversation.last_seq
    kit.trace("Input", "")
    try:
        halt = await answer(kit, content, tally, uuid)
        if kit.gate.hears("stop_failed"):
            from detent.loop.occasions import has_failed

            await has_failed(kit, halt)
    except asyncio.CancelledError:
        await finish(kit, tally, Halt("user_cancelled", "Interrupted."))
        raise
    return await finish(kit, tally, halt)


async def answer(kit: Kit, content: tuple[UserBlock, ...], tally: Tally, uuid: str) -> Halt:
    """Why the turn came to rest, whatever brought it there but a cancellation."""
    before = kit.conversation.last_seq
    try:
        in_time = session_time(kit.account, kit.clock, tally)
        async with asyncio.timeout(kit.limits.seconds) as limit, in_time:
            before = await open_session(kit) or before
            await take_prompt(kit, content, tally, uuid)
            halt = await converse(kit, tally)
            await make_room(kit, tally, asks=False)
            return halt
    except TimeoutError:
        if not limit.expired():
            raise
        text = f"Time is up: {kit.limits.seconds:g} seconds."
        return Halt("budget_exceeded", text, limit="seconds")
    except PromptBlocked as blocked_by_hook:
        await kit.emit(Rewound(to=before))
        return Halt("hook_stopped", str(blocked_by_hook))
    except ModelFailure as failure:
        return failed(failure)


async def open_session(kit: Kit) -> int:
    """What hooks say of the session comes before its first prompt, and stays when that is
    blocked: gives the last entry then, else 0."""
    if not (source := kit.gate.opened()):
        return 0
    from detent.loop.occasions import session_started

    await session_started(kit, source)
    return kit.conversation.last_seq


async def take_prompt(kit: Kit, content: tuple[UserBlock, ...], tally: Tally, uuid: str) -> None:
    """Recorded before the model or a hook sees it: a crash loses nothing that was typed."""
    kit.trace("Message", "")
    await kit.emit(Prompted(turn=tally.turn, content=sound(content), uuid=uuid))
    await kit.remind("prompt")
    await take_steering(kit, tally)  # what an interrupted turn did not come to hear
    if added := await kit.gate.prompted(content):
        await kit.emit(Reminded(text=added, source="prompt hook"))
    await kit.gate.happened("on_loop_start", turn=tally.turn, prompt=plain_text(content))


async def converse(kit: Kit, tally: Tally) -> Halt:
    """Steps, until the model rests or a limit holds it."""
    while True:
        await make_room(kit, tally)
        if halt := blocked(kit.conversation.tokens(), widest_of(kit)):
            return halt
        settle(tally, kit.conversation.entries)
        spent = exceeded(kit.limits, kit.account, tally, kit.clock.elapsed())
        if spent and not await last_word(kit, tally):
            return spent
        try:
            reply, stopped = await run_step(kit, tally)
        except Overdrawn as lacking:
            spent = failed(lacking)
            if not await last_word(kit, tally):
                return spent
            reply, stopped = await run_step(kit, tally)
        except ModelFailure as failure:
            if await recovered(kit, tally, failure):
                continue
            raise
        kit.trace("Compact", "")
        await make_room(kit, tally, asks=False)
        if stopped:
            return Halt("hook_stopped", stopped)
        if tally.wrapping_up and spent:
            return replace(spent, output=handed_over(kit, reply))
        steered = await take_steering(kit, tally)
        if halt := await at_rest(kit, tally, reply, steered):
            return halt


async def finish(kit: Kit, tally: Tally, halt: Halt) -> TurnEnded:
    kit.trace("Return", halt.reason)
    settle(tally, kit.conversation.entries)
    now, ms = kit.clock.elapsed(), kit.lap(tally.started, "turn")
    ended = record_of(tally, halt, kit.account, now, ms)
    await kit.emit(ended)
    return ended
