"""What unusual stop reasons mean for the turn."""

from __future__ import annotations

from typing import Any

import pytest

from detent.loop.limits import MOST_PAUSES
from detent.loop.rest import CONTINUE, CUT_CALL, GO_ON
from detent.ports import Desk
from detent.sdk.summary import summarise
from detent.testing.script import call, reply, think
from detent.testing.scripted_model import ScriptedModel
from detent.types.codec import ends_early
from detent.types.events import CallEnded, CallStarted, Compacted, Notice, Reminded
from detent.types.messages import Request
from kitbench import Bench, BenchTool, bench, check_valid, results


def test_a_paused_answer_goes_on() -> None:
    b = Bench(ScriptedModel(reply("searching", stop="pause_turn"), "found"))
    assert b.run().reason == "end_turn"
    assert len(b.model.requests) == 2  # type: ignore[attr-defined]


def test_endless_pauses_end_the_turn() -> None:
    b = Bench(ScriptedModel(*[reply("wait", stop="pause_turn")] * (MOST_PAUSES + 5)))
    assert b.run().reason == "invalid_response"
    assert len(b.model.requests) == MOST_PAUSES + 1  # type: ignore[attr-defined]


def test_a_full_window_makes_room_once_and_goes_on() -> None:
    full = reply("half", stop="model_context_window_exceeded")
    b = Bench(ScriptedModel("old " * 3_000, full, "the rest"))
    assert b.run().reason == "end_turn"
    assert b.run().reason == "end_turn"
    assert [c.trigger for c in b.of(Compacted)] == ["reactive"]
    assert [r.text for r in b.of(Reminded)] == [CONTINUE]
    assert "half" in str(b.model.requests[-1].messages), "there must be something to go on from"  # type: ignore[attr-defined]
    for request in b.model.requests:  # type: ignore[attr-defined]
        check_valid(request.messages)


def test_a_window_that_stays_full_ends_the_turn() -> None:
    full = reply("half", stop="model_context_window_exceeded")
    b = Bench(ScriptedModel("old " * 3_000, full, full, full))
    b.run()
    assert b.run().reason == "prompt_too_long"
    assert len(b.of(Compacted)) == 1


def test_an_unknown_stop_reason_is_the_end_and_is_told() -> None:
    b = Bench(ScriptedModel(reply("done", stop="cosmic_ray")))
    assert b.run().reason == "end_turn"
    (notice,) = b.of(Notice)
    assert "cosmic_ray" in notice.text


def requests(b: Bench) -> list[Request]:
    return b.model.requests  # type: ignore[attr-defined,no-any-return]


# Silence


async def _echo(args: dict[str, Any], desk: Desk) -> str:
    return "echo"


ECHO = BenchTool("echo", _echo)


@pytest.mark.parametrize("silence", [reply(), reply(" \n"), reply(think("hm"))])
def test_silence_after_results_is_answered_with_a_word(silence: Any) -> None:
    b = bench(reply(call("echo")), silence, "done", tools=[ECHO])
    assert b.run().reason == "end_turn"
    assert [r.text for r in b.of(Reminded)] == [GO_ON]
    asked, again = requests(b)[1:]
    assert GO_ON not in repr(asked.messages)
    assert GO_ON in repr(again.messages[-1])
    check_valid(again.messages)


def test_silence_twice_is_an_error() -> None:
    b = bench(reply(), reply(call("echo")), reply(), "never asked", tools=[ECHO])
    ended = b.run()
    assert (ended.reason, len(requests(b))) == ("invalid_response", 3)
    assert "empty" in ended.error


def test_nothing_to_add_to_a_cut_answer_is_its_end() -> None:
    b = bench(reply("all of it", stop="max_tokens"), reply())
    ended = b.run()
    assert (ended.reason, len(requests(b))) == ("end_turn", 2)
    assert summarise(b.events).text == "all of it"


def test_a_refusal_without_words_is_a_refusal() -> None:
    assert bench(reply(stop="refusal")).run().reason == "refusal"


# Calls that were cut


def test_a_cut_call_never_runs_is_told_and_gets_more_room() -> None:
    cut = reply(call("echo", raw='{"n": "lo'), stop="max_tokens")
    b = bench(cut, reply(call("echo")), "done", tools=[ECHO], max_output=128_000)
    assert b.run().reason == "end_turn"
    assert len(b.of(CallStarted)) == 1
    ((_, text, is_error),) = results(requests(b)[1].messages)
    assert is_error and "cut off" in text
    assert [r.max_output for r in requests(b)] == [32_000, 64_000, 64_000]
    assert not b.of(Reminded)


def test_a_whole_call_of_a_cut_answer_runs_and_nothing_else_changes() -> None:
    b = bench(reply(call("echo", n=1), stop="max_tokens"), "done", tools=[ECHO], max_output=128_000)
    assert b.run().reason == "end_turn"
    assert [r.max_output for r in requests(b)] == [32_000, 32_000]
    assert len(b.of(CallStarted)) == 1


def test_a_call_that_is_cut_again_and_again_ends_the_turn() -> None:
    cut = reply(call("echo", raw='{"n": "lo'), stop="max_tokens")
    b = bench(*[cut] * 20, tools=[ECHO], max_output=64_000)
    assert b.run().reason == "max_tokens"
    assert len(requests(b)) == 5, "three times more room or a word about it, then room made once"
    assert {r.text for r in b.of(Reminded)} == {CUT_CALL}
    assert not b.of(CallStarted)
    assert len(b.of(CallEnded)) == 5
    assert len(b.of(Compacted)) == 1
    for request in requests(b):
        check_valid(request.messages)


def test_a_broken_call_that_was_not_cut_changes_no_limit() -> None:
    b = bench(reply(call("echo", raw="{bad")), "done", tools=[ECHO], max_output=128_000)
    assert b.run().reason == "end_turn"
    assert [r.max_output for r in requests(b)] == [32_000, 32_000]


def test_a_call_without_arguments_was_not_cut() -> None:
    assert [ends_early(text) for text in ("", " ", "{}", "{bad", '{"a": "b')] == [False] * 4 + [
        True
    ]
