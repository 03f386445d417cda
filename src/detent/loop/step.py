"""One step: ask the model, let its calls run while it still speaks, record what came.

An answer that breaks off is asked for again, unless one of its calls has acted: then it is kept as
far as it came, and the next request goes on from there. So nothing can be done twice.
"""

import asyncio
from collections.abc import Callable

from msgspec.structs import replace

from detent.context.conversation import Conversation
from detent.loop.calls import CallRunner
from detent.loop.kit import Kit
from detent.loop.limits import BROKEN_OFF, MORE_ROOM, MOST_TRUNCATION_RETRIES, Tally, exceeded
from detent.loop.listener import Broken, Listener
from detent.loop.room import output_of, widest_of
from detent.loop.spending import lose
from detent.types.content import Call
from detent.types.errors import ModelFailure
from detent.types.events import Discarded, Notice, Replied, StepRecord
from detent.types.messages import Reply, Request
from detent.types.outcomes import Outcome

WHOLE_STOPS = ("end_turn", "stop_sequence", "tool_use")
CUT_STOPS = ("max_tokens", "model_context_window_exceeded")


async def run_step(kit: Kit, tally: Tally) -> tuple[Reply, str]:
    """The answer, and why the turn must stop if a hook or the person said so."""
    request = request_of(kit, tally, is_last=tally.wrapping_up)
    spent = "not run: the budget is spent" if tally.wrapping_up else ""
    async with CallRunner(kit, closed=spent, ran=already_ran(kit, tally)) as runner:
        reply = await sample(kit, tally, request, runner)
        await runner.finish()
        stop = runner.stop
        if reply.calls:
            await kit.remind("calls")
        if reply.calls and kit.gate.hears("after_calls"):
            from detent.loop.occasions import calls_ended

            stop = stop or await calls_ended(kit)
        done = tally.steps[-1]
        await kit.gate.happened(
            "on_iteration_complete",
            turn=tally.turn,
            step=done.step,
            stop=done.stop,
            calls=done.calls,
            usage=done.usage,
        )
        return reply, stop


def request_of(kit: Kit, tally: Tally, *, is_last: bool) -> Request:
    """The last one, when the budget is spent, has no tools but the one that takes the answer."""
    kit.trace("History", "")
    messages = kit.conversation.messages()
    kit.trace("System", "")
    tools = kit.toolbox.specs()
    if is_last:
        tools = [spec for spec in tools if spec.name == kit.form]
    task = kit.task.now(kit.conversation.entries) if kit.task is not None else None
    return Request(kit.system, messages, tools, output_of(kit, tally), task=task)


def already_ran(kit: Kit, tally: Tally) -> Callable[[Call], Outcome | None]:
    """What has run in an answer that broke off; asked for again, it is not run again."""
    if not tally.broken:
        return lambda call: None
    from detent.loop.repeats import Repeats

    return Repeats(kit.conversation.entries).take


async def sample(kit: Kit, tally: Tally, request: Request, runner: CallRunner) -> Reply:
    """Stream one answer into the log; one that never becomes whole as far as it was shown."""
    listener = Listener(kit, tally, runner)
    begun, tally.sent = kit.clock.elapsed(), request.max_output
    asked_at = kit.conversation.last_seq
    kit.trace("API", kit.model.name)
    try:
        reply = await kit.purse.ask(
            kit.model, request, listener, last=tally.wrapping_up, goes_on=True
        )
    except asyncio.CancelledError:
        runner.cancel()  # at once: what is written below may have to wait for the reader
        await keep_partial(kit, tally, listener, "cancelled", begun, runner)
        raise
    except (Broken, ModelFailure) as failure:
        told = listener.unanswered(failure)
        if not runner.acted:
            runner.discard()
            await listener.lose()
            await told()
            raise
        tally.broken.append(str(failure))
        partial = await keep_partial(kit, tally, listener, BROKEN_OFF, begun, runner)
        await told()
        await kit.emit(Notice(f"the answer broke off ({failure}); going on from there", "warning"))
        return partial
    tally.broken.clear()
    step = count(kit, tally, reply, begun)
    if reply.usage.cache_read or reply.usage.cache_write or kit.conversation.asked:
        from detent.loop.cached import watch_cache

        await watch_cache(kit, request, reply, asked_at)
    if reply.stop not in CUT_STOPS:
        tally.truncations = 0
    elif reply.stop == "max_tokens" and not reply.calls and wants_more_room(kit, tally):
        await lose(kit.emit, reply.model, reply.usage, "cut")
        await kit.emit(Discarded("cut at the output limit; asking again with more room"))
        return await sample(kit, tally, _with_room(request, tally), runner)
    return await keep_whole(kit, tally, _with_cut_call_marked(reply), step, runner)


def _with_cut_call_marked(reply: Reply) -> Reply:
    """What ended the answer cut its last call before the first argument: it is not without any."""
    last = reply.content[-1] if reply.content else None
    if reply.stop in WHOLE_STOPS or not isinstance(last, Call) or last.arguments.strip():
        return reply
    return replace(reply, content=(*reply.content[:-1], replace(last, arguments="{")))


def count(kit: Kit, tally: Tally, reply: Reply, begun: float) -> StepRecord:
    """Every answer was paid for, also one that is asked for again."""
    kit.trace("Tokens", str(reply.usage.total))
    number = len(tally.steps) + 1
    ms = kit.lap(begun, f"step {number}")
    step = StepRecord(number, reply.model, reply.stop, reply.usage, len(reply.calls), ms)
    tally.count(step)
    return step


async def keep_whole(
    kit: Kit, tally: Tally, reply: Reply, step: StepRecord, runner: CallRunner
) -> Reply:
    kit.trace("Tools?", str(len(reply.calls)))
    whole = replace(reply, content=runner.adopt(reply.content))
    await keep(kit, tally, whole, step, runner)
    return whole


async def keep_partial(
    kit: Kit, tally: Tally, listener: Listener, stop: str, begun: float, runner: CallRunner
) -> Reply:
    """Where nothing was shown there is nothing to keep, but it has cost something all the same."""
    reply = listener.partial(stop)
    if reply.content:
        await keep(kit, tally, reply, count(kit, tally, reply, begun), runner)
    else:
        await listener.lose()
    return reply


async def keep(kit: Kit, tally: Tally, reply: Reply, step: StepRecord, runner: CallRunner) -> None:
    await kit.emit(
        Replied(
            turn=tally.turn,
            step=step.step,
            model=reply.model,
            content=reply.content,
            stop=reply.stop,
            usage=reply.usage,
            message_id=reply.message_id,
            ms=step.ms,
            provider=reply.provider,
            head=_new_head(kit.conversation),
            max_output=tally.sent,
            sent=runner.sent(),
        )
    )


def _new_head(conversation: Conversation) -> str:
    asked = conversation.asked
    return asked.head if asked is not None and asked.head != conversation.head else ""


def wants_more_room(kit: Kit, tally: Tally) -> bool:
    """A cut answer is asked for again with twice the room, while model and budget allow it."""
    left = widest_of(kit) - kit.conversation.tokens()
    wanted = min(tally.sent * 2, kit.model.max_output, left)
    if tally.truncations >= MOST_TRUNCATION_RETRIES or wanted < max(1, tally.sent * MORE_ROOM):
        return False
    if exceeded(kit.limits, kit.account, tally, kit.clock.elapsed()):
        return False
    if kit.account.is_strict and not _affords(kit, tally, wanted):
        return False
    tally.truncations += 1
    tally.max_output = wanted
    return True


def _affords(kit: Kit, tally: Tally, output: int) -> bool:
    from detent.loop.worst import affords

    request = request_of(kit, tally, is_last=False)
    return affords(kit.purse, kit.model.name, request, output)


def _with_room(request: Request, tally: Tally) -> Request:
    return replace(request, max_output=tally.max_output)
