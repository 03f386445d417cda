"""Answers that are cut at the output limit: more room, then going on, then what there is."""

from __future__ import annotations

from detent.testing import Call, call, reply

from .conftest import BOTH_WIRES, Runner

AT_THE_CAP = {"CLAUDE_CODE_MAX_OUTPUT_TOKENS": "100000000"}
"""Nothing can be more than the model's own limit, so that is what is asked for at once."""


def limits(runner: Runner) -> list[int]:
    names = ("max_tokens", "max_completion_tokens")
    bodies = [request.json for request in runner.requests]
    return [next(body[name] for name in names if name in body) for body in bodies]


@BOTH_WIRES
def test_a_cut_answer_is_asked_for_again_with_more_room(runner: Runner) -> None:
    runner.serve(reply("half an ", stop="max_tokens"), "a whole answer")
    ran = runner.prompt("x", env={"CLAUDE_CODE_MAX_OUTPUT_TOKENS": "1000"})
    assert (ran.code, ran.result["result"]) == (0, "a whole answer")
    assert limits(runner) == [1000, 2000]
    first, second = (request.json["messages"] for request in runner.requests)
    assert first == second, "the piece is forgotten"


@BOTH_WIRES
def test_at_the_cap_it_goes_on_and_the_pieces_are_joined(runner: Runner) -> None:
    pieces = reply("one ", stop="max_tokens"), reply("two ", stop="max_tokens"), "three"
    runner.serve(*pieces)
    ran = runner.prompt("x", env=AT_THE_CAP)
    assert (ran.code, ran.result["result"]) == (0, "one two three")
    assert len(set(limits(runner))) == 1
    assert "Go on exactly where it stopped" in str(runner.requests[1].json["messages"][-1])
    runner.serve(*pieces)
    assert runner.run("-p", "x", env=AT_THE_CAP).stdout == "one two three\n"


@BOTH_WIRES
def test_5_what_never_ends_ends_with_what_there_is(runner: Runner) -> None:
    runner.serve(reply("more ", stop="max_tokens"), after="repeat_last")
    ran = runner.frames("x", env=AT_THE_CAP)
    assert ran.code == 5, ran
    assert (ran.result["reason"], ran.result["is_error"]) == ("max_tokens", True)
    assert ran.result["text"] == "more " * len(runner.requests)
    assert len(runner.requests) == 5, "three continuations, and one more after making room"
    (boundary,) = ran.of("system", "compact_boundary")
    metadata = boundary["compact_metadata"]
    assert (metadata["trigger"], metadata["is_reactive"]) == ("auto", True)


@BOTH_WIRES
def test_a_cut_call_never_runs(runner: Runner) -> None:
    cut = Call("Bash", raw='{"command": "touch ran; echo ')
    runner.serve(reply("Now:", cut, stop="max_tokens"), reply(call("Bash", command="true")), "ok")
    ran = runner.frames("x", env={"CLAUDE_CODE_MAX_OUTPUT_TOKENS": "1000"})
    assert ran.code == 0, ran
    assert not (runner.work / "ran").exists()
    told = runner.requests[1].tool_results[0]
    assert "cut off in the middle of its arguments" in told.text
    assert limits(runner) == [1000, 2000, 2000], "with more room it may come whole"
    assert [result["is_error"] for result in ran.tool_results] == [True, False]
