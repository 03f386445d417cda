"""What goes wrong between us and the model, and what comes of it."""

import threading

import pytest

from detent.testing import Reply, Request, call, fault, reply, say

from .conftest import BOTH_WIRES, Pipe, Ran, Runner

pytestmark = BOTH_WIRES

SKIP = "--dangerously-skip-permissions"


def said(ran: Ran) -> list[str]:
    """The texts of the whole messages, in order."""
    return [
        "".join(block.get("text", "") for block in frame["message"]["content"])
        for frame in ran.of("assistant")
    ]


def logged(runner: Runner, ran: Ran) -> list[str]:
    """The answers that the log holds."""
    return [
        "".join(block.get("text", "") for block in entry["content"])
        for entry in runner.entries(ran.result["session_id"])
        if entry["type"] == "replied"
    ]


def test_overloaded_twice_and_then_not(runner: Runner) -> None:
    runner.serve(fault(529, retry_after="0"), fault(529), "done")
    ran = runner.frames("x")
    assert ran.code == 0, ran
    assert ran.result["result"] == "done"
    retries = ran.of("system", "api_retry")
    assert [retry["attempt"] for retry in retries] == [1, 2]
    assert [retry["error_status"] for retry in retries] == [529, 529]
    assert ran.result["num_turns"] == 1
    first, *others = (request.json for request in runner.requests)
    assert others == [first, first]


def test_the_wait_that_the_server_asks_for_is_kept(runner: Runner) -> None:
    """Zero: without it the first wait would be announced as longer."""
    runner.serve(fault(429, retry_after="0"), "done")
    ran = runner.frames("x")
    assert ran.code == 0, ran
    (retry,) = ran.of("system", "api_retry")
    assert (retry["error_status"], retry["retry_delay_ms"]) == (429, 0)
    assert len(runner.requests) == 2


def test_retries_come_to_an_end(runner: Runner) -> None:
    runner.serve(fault(500, retry_after="0"), after="repeat_last")
    ran = runner.frames("x")
    assert ran.code == 7, ran
    retries = ran.of("system", "api_retry")
    assert len(retries) == retries[0]["max_retries"]
    assert [retry["attempt"] for retry in retries] == list(range(1, len(retries) + 1))
    assert len(runner.requests) == len(retries) + 1
    result = ran.result
    assert (result["is_error"], result["subtype"]) == (True, "success")
    assert result["terminal_reason"] == "api_error"
    assert result["api_error_status"] == 500
    assert f"after {len(runner.requests)} attempts" in result["result"]


def test_people_are_told_in_one_line(runner: Runner) -> None:
    runner.serve(fault(500, retry_after="0"), after="repeat_last")
    ran = runner.run("-p", "x")
    assert (ran.code, ran.stdout) == (7, "")
    *waits, end = ran.stderr.splitlines()
    assert [wait.partition("retry ")[2] for wait in waits] == [f"{n}/4 in 0 s" for n in (2, 3, 4)]
    assert end.startswith("detent: ")


@pytest.mark.parametrize(("status", "code"), [(401, 7), (403, 7), (400, 1), (404, 1), (422, 1)])
def test_what_will_not_pass_is_not_tried_again(runner: Runner, status: int, code: int) -> None:
    runner.serve(fault(status))
    ran = runner.frames("x")
    assert ran.code == code, ran
    assert ran.of("system", "api_retry") == []
    assert ran.result["api_error_status"] == status
    assert len(runner.requests) == 1


def test_an_error_that_is_no_json(runner: Runner) -> None:
    runner.serve(fault(400, body="<html><h1>Bad gateway keeper</h1></html>"))
    ran = runner.run("-p", "x")
    assert ran.code == 1
    assert "Bad gateway keeper" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_a_stream_that_is_cut_is_asked_for_again(runner: Runner) -> None:
    runner.serve(reply(say("first ", "try"), fault=fault(cut_after=1)), "second try")
    ran = runner.frames("x")
    assert ran.code == 0, ran
    assert ran.result["result"] == "second try"
    assert said(ran) == logged(runner, ran) == ["second try"]
    assert len(ran.of("system", "api_retry")) == 1
    assert runner.requests[0].json == runner.requests[1].json


def test_a_stream_that_is_cut_leaves_no_trace_in_the_text(runner: Runner) -> None:
    first = reply(say("first " * 100, "try"), fault=fault(cut_after=1))
    runner.serve(first, "second try")
    ran = runner.run("-p", "x")
    assert (ran.code, ran.stdout, ran.stderr) == (0, "second try\n", "")


@pytest.mark.parametrize("how", ["reset", "no_stop", "cut at once", "garbage"])
def test_other_ways_to_lose_an_answer(runner: Runner, how: str) -> None:
    broken = {
        "reset": fault(reset=True),
        "no_stop": fault(no_stop=True),
        "cut at once": fault(cut_after=0),
        "garbage": fault(garbage_after=1),
    }
    runner.serve(reply(say("first ", "try"), fault=broken[how]), "second try")
    ran = runner.frames("x")
    assert ran.code == 0, ran
    assert said(ran) == logged(runner, ran) == ["second try"]


def test_an_error_in_the_middle_of_the_stream(runner: Runner) -> None:
    broken = fault(error_after=1, error_type="overloaded_error", error_message="Overloaded")
    runner.serve(reply(say("first ", "try"), fault=broken), "second try")
    ran = runner.frames("x")
    assert ran.code == 0, ran
    assert said(ran) == logged(runner, ran) == ["second try"]
    (retry,) = ran.of("system", "api_retry")
    assert "Overloaded" in retry["error"]


def test_a_stream_that_goes_silent_is_given_up(runner: Runner) -> None:
    """A slow machine may find the healthy answer silent too; then it is asked for once more."""
    stalled = reply(say("first ", "try"), fault=fault(stall_after=1))
    runner.serve(stalled, "second try", after="repeat_last")
    ran = runner.frames("x", env={"DETENT_IDLE_TIMEOUT": "0.3"})
    assert ran.code == 0, ran
    assert said(ran) == ["second try"]
    assert "silent" in ran.of("system", "api_retry")[0]["error"]
    runner.server.wait_for_mark(1, "gone")


def test_pings_are_no_sign_of_life(runner: Runner) -> None:
    dripping: Reply = reply(say("first ", "try"), tail=1000.0)
    runner.serve(dripping, "second try", after="repeat_last")
    ran = runner.frames("x", env={"DETENT_IDLE_TIMEOUT": "0.3"})
    assert ran.code == 0, ran
    assert said(ran) == ["second try"]


def test_a_server_that_never_answers_is_given_up(runner: Runner) -> None:
    runner.serve(reply("late", delay=1000.0), "second try", after="repeat_last")
    ran = runner.frames("x", env={"DETENT_IDLE_TIMEOUT": "0.3"})
    assert ran.code == 0, ran
    assert said(ran) == ["second try"]


def test_a_request_that_takes_too_long_is_given_up(runner: Runner) -> None:
    never = threading.Event()
    runner.serve(
        reply(say("first ", "try"), hold=never, hold_after=1), "second try", after="repeat_last"
    )
    ran = runner.frames("x", env={"DETENT_REQUEST_TIMEOUT": "0.3"})
    assert ran.code == 0, ran
    assert said(ran) == ["second try"]


def test_an_overloaded_model_is_replaced_by_its_fallback(runner: Runner) -> None:
    runner.serve(fault(529), "from the other")
    ran = runner.frames("x", "--fallback-model", "claude-haiku-4-5")
    assert ran.code == 0, ran
    assert ran.result["result"] == "from the other"
    used = [request.json["model"] for request in runner.requests]
    assert used == [runner.model, "claude-haiku-4-5"]
    assert list(ran.result["modelUsage"]) == ["claude-haiku-4-5"]
    (notice,) = ran.of("system", "informational")
    assert "claude-haiku-4-5" in notice["content"]
    assert ran.of("assistant")[0]["message"]["model"] == "claude-haiku-4-5"


def test_a_fallback_is_no_excuse_for_other_errors(runner: Runner) -> None:
    runner.serve(fault(401))
    ran = runner.frames("x", "--fallback-model", "claude-haiku-4-5")
    assert ran.code == 7, ran
    assert len(runner.requests) == 1


@pytest.mark.parametrize("raw", ['{"command":"%s"}', '{"description":"Append","command":"%s"}'])
def test_a_call_that_ran_before_the_cut_is_not_run_again(
    runner: Runner, pipe: Pipe, raw: str
) -> None:
    """The command tells that it has run; only then is the stream cut.

    What the model would have said, had it been asked for the same again, is never heard: the next
    request goes on behind the result.
    """
    cut = threading.Event()
    command = f"echo line >> log; echo ran > {pipe.path}"
    broken = reply(
        "Appending. ",
        call("Bash", raw=raw % command, id="begun"),
        fault=fault(cut_after=99),
        hold=cut,
        hold_after=99,
    )

    def next_answer(request: Request) -> Reply:
        again = reply("Appending. ", call("Bash", command=command))
        return reply("done") if request.tool_results else again

    runner.serve(broken, next_answer)
    live = runner.start("-p", "x", "--output-format", "stream-json", SKIP)
    assert pipe.line() == "ran"
    cut.set()
    ran = live.finish()
    assert ran.code == 0, ran
    assert (runner.work / "log").read_text() == "line\n"
    assert said(ran) == logged(runner, ran) == ["Appending. ", "done"]
    assert [f["message"]["stop_reason"] for f in ran.of("assistant")] == ["broken_off", "end_turn"]
    (result,) = ran.tool_results
    assert result["is_error"] is False
    (told,) = runner.requests[1].tool_results
    assert told.id == result["tool_use_id"]
    assert ran.result["commands"] == [{"command": command, "exit_code": 0}]
    assert ran.of("system", "api_retry") == []
    (notice,) = ran.of("system", "informational")
    assert "broke off" in notice["content"]


def test_what_failed_attempts_have_cost_is_on_the_bill(runner: Runner) -> None:
    lost = reply(say("half ", "x"), input=1_000_000, fault=fault(error_after=1))
    quick = ("--settings", '{"retryDelays": [0]}')
    runner.serve(lost, reply("ok", input=1_000_000))
    once = runner.prompt("x", *quick)
    runner.serve(lost, lost)
    never = runner.prompt("x", *quick)
    assert (once.code, never.code) == (0, 7)
    told = (
        runner.wire == "anthropic"
    )  # the other wire counts at the end, so what is lost is unknown
    for ran, attempts in ((once, 2 if told else 1), (never, 2 if told else 0)):
        result = ran.result
        assert result["usage"]["input_tokens"] == attempts * 1_000_000
        used = [model["inputTokens"] for model in result["modelUsage"].values()]
        assert used == ([attempts * 1_000_000] if attempts else [])
        assert (result["total_cost_usd"] > 0) == bool(attempts)
        assert result["budget"]["used"]["usd"] == result["total_cost_usd"]


def test_many_requests_use_one_connection(runner: Runner) -> None:
    look = reply(call("Bash", command="true"))
    runner.serve(look, look, fault(529, retry_after="0"), look, "done")
    ran = runner.prompt("x")
    assert ran.code == 0, ran
    assert len(runner.requests) == 5
    assert runner.server.connections == 1


def test_a_server_that_closes_after_each_answer(runner: Runner) -> None:
    look = reply(call("Bash", command="true"), headers={"connection": "close"})
    runner.serve(look, look, "done")
    ran = runner.frames("x")
    assert ran.code == 0, ran
    assert ran.of("system", "api_retry") == []
    assert runner.server.connections == 3


def test_the_parts_of_an_answer_cut_at_the_length_limit_are_joined(runner: Runner) -> None:
    """The model's own limit is reached, so the answer goes on in a further message."""
    cut = reply("one ", stop="max_tokens")
    most = {"CLAUDE_CODE_MAX_OUTPUT_TOKENS": "1000000"}
    runner.serve(cut, "two")
    ran = runner.prompt("x", env=most)
    assert ran.code == 0, ran
    assert ran.result["result"] == "one two"
    assert len(runner.requests) == 2
    assert ran.result["num_turns"] == 2


def test_the_delays_are_a_setting(runner: Runner) -> None:
    runner.serve(fault(500), fault(500), "never asked for")
    ran = runner.frames("hi", "--settings", '{"retryDelays": [0]}')
    assert ran.code == 7
    assert [f["retry_delay_ms"] for f in ran.of("system", "api_retry")] == [0]
    assert len(runner.requests) == 2


@pytest.mark.parametrize("value", ["0.2", '["a"]', "[-1]", "[true]", "{}"])
def test_delays_that_are_none_are_named(runner: Runner, value: str) -> None:
    ran = runner.prompt("hi", "--settings", f'{{"retryDelays": {value}}}', output="text")
    assert ran.code == 2
    assert "retryDelays" in ran.stderr


def test_the_longest_wait_is_a_setting(runner: Runner) -> None:
    runner.serve(fault(429, retry_after="50"), "ok")
    ran = runner.frames("hi", "--settings", '{"retryLongestWait": 0}')
    assert ran.code == 0
    assert [f["retry_delay_ms"] for f in ran.of("system", "api_retry")] == [0]
