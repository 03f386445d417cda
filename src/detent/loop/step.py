"""One step: ask the model, let its calls run while it still speaks, record what came."""

import asyncio

from msgspec.structs import replace

from detent.loop.calls import CallRunner
from detent.loop.kit import Kit
from detent.loop.limits import MOST_TRUNCATION_RETRIES, Tally, exceeded
from detent.types.content import AssistantBlock, Call, Text, Thinking
from detent.types.events import (
    CallReady,
    Counted,
    Delta,
    Discarded,
    Replied,
    StepRecord,
    TextDelta,
)
from detent.types.messages import Reply, Request
from detent.types.usage import Usage


async def run_step(kit: Kit, tally: Tally) -> tuple[Reply, str]:
    """The answer, and why the turn must stop if a hook or the person said so."""
    kit.trace("History", "")
    messages = kit.conversation.messages()
    kit.trace("System", "")
    tools = kit.toolbox.specs()
    if tally.wrapping_up:
        tools = [spec for spec in tools if spec.name == kit.form]
    request = Request(kit.system, messages, tools, tally.max_output)
    spent = "not run: the budget is spent" if tally.wrapping_up else ""
    async with CallRunner(kit, closed=spent) as runner:
        reply = await sample(kit, tally, request, runner)
        tally.calls += await runner.finish()
        return reply, runner.stop


async def sample(kit: Kit, tally: Tally, request: Request, runner: CallRunner) -> Reply:
    """Stream one answer into the log. A cancelled one is kept as far as it was shown."""
    listener = Listener(kit, tally, runner)
    begun = kit.clock.elapsed()
    kit.trace("API", kit.model.name)
    try:
        reply = await kit.model.stream(request, listener)
    except asyncio.CancelledError:
        runner.cancel()  # at once: what is written below may have to wait for the reader
        if partial := listener.partial():
            shown = Reply(partial, "cancelled", listener.counted, kit.model.name)
            await keep(kit, tally, shown, count(kit, tally, shown, begun))
        raise
    reply = _with_cut_call_marked(reply)
    step = count(kit, tally, reply, begun)
    if reply.stop == "max_tokens" and not reply.calls and wants_more_room(kit, tally):
        await kit.emit(Discarded("cut at the output limit; asking again with more room"))
        return await sample(kit, tally, _with_room(request, tally), runner)
    kit.trace("Tools?", str(len(reply.calls)))
    whole = replace(reply, content=runner.adopt(reply.content))
    await keep(kit, tally, whole, step)
    return whole


def _with_cut_call_marked(reply: Reply) -> Reply:
    """The output limit cut the last call before its first argument: it is no call without any."""
    last = reply.content[-1] if reply.content else None
    if reply.stop != "max_tokens" or not isinstance(last, Call) or last.arguments.strip():
        return reply
    return replace(reply, content=(*reply.content[:-1], replace(last, arguments="{")))


def count(kit: Kit, tally: Tally, reply: Reply, begun: float) -> StepRecord:
    """Every answer was paid for, also one that is asked for again."""
    kit.trace("Tokens", str(reply.usage.total))
    ms = round((kit.clock.elapsed() - begun) * 1000)
    number = len(tally.steps) + 1
    step = StepRecord(number, reply.model, reply.stop, reply.usage, len(reply.calls), ms)
    tally.count(step, kit.price(reply.model, reply.usage))
    return step


async def keep(kit: Kit, tally: Tally, reply: Reply, step: StepRecord) -> None:
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
        )
    )


def wants_more_room(kit: Kit, tally: Tally) -> bool:
    """A cut answer is asked for again with twice the room, while model and budget allow it."""
    current = tally.max_output
    if tally.truncations >= MOST_TRUNCATION_RETRIES or current >= kit.model.max_output:
        return False
    if exceeded(kit.limits, tally, kit.clock.elapsed()):
        return False
    tally.truncations += 1
    tally.max_output = min(current * 2, kit.model.max_output)
    return True


def _with_room(request: Request, tally: Tally) -> Request:
    return Request(request.system, request.messages, request.tools, tally.max_output)


class Listener:
    """The sink of one answer: shows it, starts its calls, remembers it in case it is cut."""

    def __init__(self, kit: Kit, tally: Tally, runner: CallRunner) -> None:
        self._kit = kit
        self._tally = tally
        self._emit = kit.emit
        self._early = kit.limits.early_calls
        self._runner = runner
        self._texts: dict[int, list[str]] = {}
        self.counted = Usage()
        """What the attempt at hand has cost so far."""

    async def __call__(self, delta: Delta) -> None:
        if isinstance(delta, CallReady):
            # No arguments may be none, or a cut before the first: only the end of the answer tells.
            if self._early and delta.call.arguments.strip():
                self._runner.begin(delta.index, delta.call)
            return
        if isinstance(delta, Counted):
            self.counted = delta.usage
            return
        if isinstance(delta, TextDelta):
            self._texts.setdefault(delta.index, []).append(delta.text)
        elif isinstance(delta, Discarded):
            self._texts.clear()
            self._runner.discard()
            self._pay()
        await self._emit(delta)

    def _pay(self) -> None:
        """A failed attempt costs what it had come to."""
        self._tally.spend(self.counted, self._kit.price(self._kit.model.name, self.counted))
        self.counted = Usage()

    def partial(self) -> tuple[AssistantBlock, ...]:
        blocks: dict[int, Text | Thinking | Call] = {
            index: Text("".join(pieces)) for index, pieces in self._texts.items()
        }
        blocks.update(self._runner.ready())
        return tuple(blocks[index] for index in sorted(blocks))
