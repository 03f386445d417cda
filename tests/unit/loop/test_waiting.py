"""The end of a turn while somebody works in the background."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from detent.gate.hooks import HookAnswer, HookSet
from detent.loop.limits import Limits
from detent.testing.script import call, reply
from detent.testing.scripted_model import ScriptedModel
from detent.tools.structured_output import NAME, Beside, StructuredOutput
from detent.types.content import Text
from detent.types.events import Prompted, Reminded, Replied, TurnEnded
from kitbench import Bench, BenchTools, check_valid

NEWS = "[one has ended]"


class Others:
    """Whoever is at work: comes to an end when the turn has rested so many times."""

    def __init__(self, bench: Bench, *rests: str) -> None:
        self._bench, self._left = bench, list(rests)
        self.waits = 0
        bench.inbox.expects = self._expects

    def _expects(self) -> bool:
        """Asked when the turn would end."""
        self.waits += 1
        if not self._left:
            return False
        asyncio.get_running_loop().call_soon(self._bench.inbox.tell, self._left.pop(0))
        return True


def requests(b: Bench) -> list[Any]:
    return b.model.requests  # type: ignore[attr-defined,no-any-return]


def told(b: Bench) -> list[str]:
    return [one.text for one in b.of(Reminded) if one.source == "background"]


def test_each_news_is_read_and_then_the_turn_may_end() -> None:
    b = Bench(ScriptedModel("one", "two", "three"))
    others = Others(b, "first", "second")
    ended = b.run()
    assert (ended.reason, len(ended.steps), others.waits) == ("end_turn", 3, 3)
    assert told(b) == ["first", "second"]
    for request in requests(b):
        check_valid(request.messages)


def test_an_empty_answer_is_no_slip_while_one_waits() -> None:
    b = Bench(ScriptedModel(reply(), "done"))
    Others(b, NEWS)
    assert b.run().reason == "end_turn"
    assert [one.source for one in b.of(Reminded)] == ["background"]


def test_stop_hooks_are_asked_when_nobody_is_waited_for_any_more() -> None:
    seen: list[str] = []

    def stop(event: Any) -> None:
        seen.append(event.text)

    b = Bench(ScriptedModel("one", "two"), hooks=HookSet(stopping=(stop,)))
    Others(b, NEWS)
    assert b.run().reason == "end_turn"
    assert seen == ["two"]


def test_a_value_that_was_handed_over_waits_as_well() -> None:
    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    toolbox = Beside(BenchTools(), StructuredOutput(schema))
    answers = [reply(call(NAME, city=city)) for city in ("Paris", "Rome")]
    b = Bench(ScriptedModel(*answers), toolbox=toolbox, form=NAME)
    Others(b, NEWS)
    ended = b.run()
    assert (ended.reason, ended.output, told(b)) == ("end_turn", {"city": "Rome"}, [NEWS])


@pytest.mark.parametrize("stop", ["refusal", "max_tokens"])
def test_an_answer_that_is_no_rest_is_not_waited_behind(stop: Any) -> None:
    b = Bench(ScriptedModel(*[reply("x", stop=stop)] * 5), limits=Limits(steps=5))
    others = Others(b, NEWS)
    assert b.run().reason != "end_turn"
    assert others.waits == 0 and told(b) == []


def test_what_a_hook_blocks_is_waited_behind_and_not_taken_for_news() -> None:
    def block(event: Any) -> HookAnswer:
        return HookAnswer("deny", "no") if "forbidden" in event.text else HookAnswer()

    b = Bench(ScriptedModel("one", "two"), hooks=HookSet(submitted=(block,)))
    others = Others(b, NEWS)
    b.inbox.expects = lambda: False

    def look(event: Any) -> None:
        if isinstance(event, Replied) and event.step == 1:
            b.inbox.put((Text("forbidden"),))
            b.inbox.expects = others._expects

    b.on_event = look
    assert b.run().reason == "end_turn"
    assert told(b) == [NEWS] and [one.steered for one in b.of(Prompted)] == [False]


def test_a_turn_is_interrupted_while_it_waits() -> None:
    b = Bench(ScriptedModel("one"))
    b.inbox.expects = lambda: True

    async def body() -> None:
        turn = asyncio.create_task(b.turn())
        while not b.of(Replied):
            await asyncio.sleep(0)
        for _ in range(10):
            await asyncio.sleep(0)
        assert not turn.done()
        turn.cancel()
        await asyncio.wait([turn])

    asyncio.run(asyncio.wait_for(body(), 5))
    (ended,) = b.of(TurnEnded)
    assert (ended.reason, len(ended.steps)) == ("user_cancelled", 1)
