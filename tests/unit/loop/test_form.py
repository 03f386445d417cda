"""An answer of a given form: accepted, refused, forgotten, and what else may happen meanwhile."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from msgspec import UNSET

from detent.context.account import Account
from detent.gate.hooks import HookAnswer, HookSet
from detent.loop.limits import MOST_FORM_TRIES, Limits
from detent.ports import Answer, Desk
from detent.testing.script import call, reply
from detent.testing.scripted_model import ScriptedModel
from detent.tools.structured_output import NAME, Beside, StructuredOutput
from detent.types.budget import Budget
from detent.types.content import Text
from detent.types.events import CallEnded, CallStarted, Prompted, Reminded, Replied
from kitbench import WRITES, Approving, Bench, BenchTool, BenchTools, check_calls, check_valid

SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
}
GOOD = call(NAME, city="Paris")
BAD = call(NAME, city=1)


def formed(*replies: Any, tools: Any = (), schema: Any = SCHEMA, **options: Any) -> Bench:
    toolbox = Beside(BenchTools(*tools), StructuredOutput(schema))
    return Bench(ScriptedModel(*replies), toolbox=toolbox, form=NAME, **options)


def requests(b: Bench) -> list[Any]:
    return b.model.requests  # type: ignore[attr-defined,no-any-return]


def test_a_good_value_ends_the_turn_at_once() -> None:
    b = formed(reply(GOOD), "never asked")
    ended = b.run()
    assert (ended.reason, ended.output, ended.error) == ("end_turn", {"city": "Paris"}, "")
    assert len(requests(b)) == 1
    assert [spec.name for spec in requests(b)[0].tools] == [NAME]


def test_without_a_form_there_is_no_value() -> None:
    assert Bench(ScriptedModel("hi")).run().output is UNSET


def test_calls_beside_it_are_finished_first() -> None:
    go = asyncio.Event()

    async def slow(args: dict[str, Any], desk: Desk) -> str:
        await go.wait()
        return "written"

    b = formed(reply(GOOD, call("act")), tools=[BenchTool("act", slow, effects=WRITES)])
    b.on_event = lambda event: go.set() if isinstance(event, Replied) else None
    assert b.run().output == {"city": "Paris"}
    assert [e.name for e in b.of(CallEnded)] == [NAME, "act"]
    check_calls(b.log.entries)


def test_no_permission_is_asked_for_it() -> None:
    asked = Approving(Answer(False, "no"))
    for mode in ("default", "plan", "dontAsk"):
        b = formed(reply(GOOD), mode=mode, approver=asked)
        assert b.run().output == {"city": "Paris"}, mode
    assert asked.questions == []


def test_a_bad_value_is_told_where_it_does_not_fit_and_may_be_given_again() -> None:
    b = formed(reply(BAD), reply(GOOD))
    assert b.run().output == {"city": "Paris"}
    refused = b.of(CallEnded)[0].outcome.text
    assert "$.city" in refused and "string" in refused
    assert not b.of(Reminded), "the result has said it"
    assert len(b.of(CallStarted)) == 1, "what does not fit never runs"


def test_a_rest_without_it_is_reminded() -> None:
    b = formed("It is Paris.", reply(GOOD))
    assert b.run().output == {"city": "Paris"}
    (reminder,) = b.of(Reminded)
    assert NAME in reminder.text
    for request in requests(b):
        check_valid(request.messages)


@pytest.mark.parametrize("last", ["words", reply(BAD)], ids=["forgotten", "refused"])
def test_five_tries_in_all(last: Any) -> None:
    b = formed("words", reply(BAD), reply(BAD, BAD), "words", last, reply(GOOD))
    ended = b.run()
    assert ended.reason == "schema_mismatch"
    assert ended.output is UNSET
    assert len(requests(b)) == MOST_FORM_TRIES == 5
    assert ("$.city" in ended.error) == (last != "words")


def test_work_between_costs_no_try() -> None:
    async def look(args: dict[str, Any], desk: Desk) -> str:
        return "seen"

    b = formed(*[reply(call("look"))] * 9, reply(GOOD), tools=[BenchTool("look", look)])
    assert b.run().output == {"city": "Paris"}


def test_of_two_values_in_one_answer_the_last_good_one_counts() -> None:
    b = formed(reply(call(NAME, city="Rome"), GOOD, BAD))
    assert b.run().output == {"city": "Paris"}


def test_what_was_said_meanwhile_is_heard_before_the_turn_ends() -> None:
    b = formed(reply(GOOD), reply(call(NAME, city="Rome")))

    def steer(event: Any) -> None:
        if isinstance(event, Replied) and len(requests(b)) == 1:
            b.inbox.put((Text("No, Italy"),))

    b.on_event = steer
    assert b.run().output == {"city": "Rome"}
    assert [p.steered for p in b.of(Prompted)] == [False, True]


def test_a_stop_hook_has_its_say() -> None:
    said = iter([HookAnswer("deny", "the tests fail"), HookAnswer()])
    b = formed(reply(GOOD), reply(GOOD), hooks=HookSet(stopping=(lambda e: next(said),)))
    assert b.run().output == {"city": "Paris"}
    assert [r.text for r in b.of(Reminded)] == ["the tests fail"]
    assert len(requests(b)) == 2


def test_a_hook_that_stops_the_turn_wins() -> None:
    b = formed(reply(GOOD), hooks=HookSet(before_call=(lambda e: HookAnswer(stop="enough"),)))
    ended = b.run()
    assert (ended.reason, ended.output) == ("hook_stopped", UNSET)


def test_a_limit_holds_while_the_value_is_tried() -> None:
    b = formed(reply(BAD), reply(GOOD), limits=Limits(steps=1))
    ended = b.run()
    assert (ended.reason, ended.output) == ("max_turns", UNSET)


def test_the_last_word_of_a_spent_budget_can_still_be_the_value() -> None:
    async def look(args: dict[str, Any], desk: Desk) -> str:
        return "seen"

    b = formed(
        reply(call("look")),
        reply(call("look"), GOOD),
        tools=[BenchTool("look", look)],
        limits=Limits(wrap_up=True),
        account=Account(Budget(calls=1)),
    )
    ended = b.run()
    assert (ended.reason, ended.output) == ("budget_exceeded", {"city": "Paris"})
    assert [spec.name for spec in requests(b)[1].tools] == [NAME]
    assert NAME in b.of(Reminded)[0].text
    assert len(b.of(CallStarted)) == 2, "the other call of the last word is not run"


def test_a_cancelled_turn_has_no_value() -> None:
    b = formed(reply(GOOD, delay=0.0))

    async def main() -> None:
        task = asyncio.create_task(b.turn())
        b.on_event = lambda event: task.cancel() if isinstance(event, CallEnded) else None
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert b.log.entries[-1].reason == "user_cancelled"  # type: ignore[union-attr]
    check_calls(b.log.entries)


def test_a_cut_value_is_no_value() -> None:
    cut = reply(call(NAME, raw='{"city": "Par'), stop="max_tokens")
    b = formed(cut, reply(GOOD))
    assert b.run().output == {"city": "Paris"}
    assert "cut off" in b.of(CallEnded)[0].outcome.text


def test_null_is_a_value_and_survives_the_log() -> None:
    from detent.session.log import frame
    from detent.types.codec import decode_entry

    b = formed(reply(call(NAME, {"value": None})), schema={"type": "null"})
    ended = b.run()
    assert (ended.reason, ended.output) == ("end_turn", None)
    line = frame(ended)
    assert b'"output":null' in line
    assert decode_entry(line).output is None  # type: ignore[union-attr]
    plain = Bench(ScriptedModel("hi")).run()
    assert b"output" not in frame(plain).replace(b'"output":5', b"")


def test_the_next_turn_has_tries_of_its_own() -> None:
    b = formed(*["words"] * 5, *["words"] * 4, reply(GOOD))
    assert b.run().reason == "schema_mismatch"
    assert b.run().output == {"city": "Paris"}
    for request in requests(b):
        check_valid(request.messages)


def test_a_tool_of_the_same_name_gives_way() -> None:
    async def other(args: dict[str, Any], desk: Desk) -> str:
        return "mine"

    b = formed(reply(GOOD), tools=[BenchTool(NAME, other)])
    assert b.run().output == {"city": "Paris"}
    assert [spec.name for spec in requests(b)[0].tools] == [NAME]
