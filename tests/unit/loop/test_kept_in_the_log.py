"""What a replay needs is in the log, also when somebody interrupts in a bad moment."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from detent.gate.hooks import HookAnswer, HookSet
from detent.ports import DeltaSink
from detent.testing import call, reply
from detent.testing.scripted_model import ScriptedModel
from detent.types.content import Call, Text
from detent.types.deltas import Begun, CallReady, Counted
from detent.types.errors import ModelFailure
from detent.types.events import CallEnded, Discarded, Event, Lost, Replied, TextDelta, TurnEnded
from detent.types.messages import Reply, Request
from detent.types.running import Unanswered
from detent.types.usage import Usage
from kitbench import READS, Bench, BenchTool, bench, check_calls

PAID = Usage(input=7)


class Breaking:
    """Breaks off after a call, or takes back what it said."""

    name, window, max_output = "breaking", 200_000, 32_000

    def __init__(self, *, calls: bool) -> None:
        self._calls = calls

    async def stream(self, request: Request, deltas: DeltaSink) -> Reply:
        await deltas(Begun(self.name))
        await deltas(Counted(PAID))
        if self._calls:
            await deltas(CallReady(0, Call("c1", "look", "{}")))
            for _ in range(20):
                await asyncio.sleep(0)
            raise ModelFailure("network", "the line was cut")
        await deltas(TextDelta(0, "to be taken back"))
        await deltas(Discarded("the stream broke"))
        raise AssertionError("it was interrupted")

    async def aclose(self) -> None:
        pass


async def _looks(args: dict[str, Any], desk: Any) -> str:
    return "seen"


def interrupted_at(made: Bench, kind: type[Event]) -> TurnEnded:
    """The end of a turn that is cancelled when such an event comes."""

    async def body() -> None:
        turn = asyncio.create_task(made.turn())
        made.on_event = lambda event: isinstance(event, kind) and turn.cancel()  # type: ignore[func-returns-value]
        await asyncio.wait([turn], timeout=20)
        assert turn.cancelled()

    asyncio.run(body())
    (ended,) = made.of(TurnEnded)
    return ended  # type: ignore[no-any-return]


def test_what_an_attempt_has_cost_is_kept_also_when_interrupted() -> None:
    made = Bench(Breaking(calls=False))
    ended = interrupted_at(made, Discarded)
    assert [(lost.model, lost.usage) for lost in made.of(Lost)] == [("breaking", PAID)]
    assert ended.lost == {"breaking": PAID}


def test_an_answer_that_has_acted_is_kept_before_its_failure_is_told() -> None:
    made = Bench(Breaking(calls=True), BenchTool("look", _looks, effects=READS))
    ended = interrupted_at(made, Unanswered)
    check_calls(made.log.entries)
    assert [entry.stop for entry in made.of(Replied)] == ["broken_off"]
    assert ended.reason == "user_cancelled"


@pytest.mark.parametrize("kind", ["auth", "server"])
def test_a_request_without_an_answer_is_told_once(kind: Any) -> None:
    def fails(request: Request) -> str:
        raise ModelFailure(kind, "it would not", status=500)

    made = bench(fails)
    made.run()
    (told,) = made.of(Unanswered)
    assert (told.kind, told.error, told.status, told.usage) == (kind, "it would not", 500, Usage())


def test_a_steered_prompt_that_is_blocked_makes_no_request() -> None:
    def deny(event: Any) -> HookAnswer | None:
        return HookAnswer(decision="deny", reason="no") if event.text == "not this" else None

    model = ScriptedModel("one", "two")
    made = Bench(model, hooks=HookSet(submitted=(deny,)))

    def steer(event: Event) -> None:
        if isinstance(event, Replied):
            made.inbox.put((Text("not this"),))

    made.on_event = steer
    assert made.run().reason == "end_turn"
    assert len(model.requests) == 1


def test_a_call_that_ends_the_turn_says_so() -> None:
    def stop(event: Any) -> HookAnswer:
        return HookAnswer(stop="enough")

    tool = BenchTool("look", _looks, effects=READS)
    made = bench(reply(call("look")), tools=[tool], hooks=HookSet(after_call=(stop,)))
    assert made.run().reason == "hook_stopped"

    (ended,) = made.of(CallEnded)
    assert ended.stop == "enough"
