"""`--debug` answers the five usual questions, on stderr, and leaves stdout alone."""

from __future__ import annotations

import json

from detent.testing import call, fault, reply

from .conftest import Ran, Runner

TOO_LONG = json.dumps({"error": {"message": "prompt is too long: 9 tokens > 8 maximum"}})


def debug(runner: Runner, *args: str, **more: object) -> Ran:
    return runner.run("-p", "x", "--debug", *args, **more)  # type: ignore[arg-type]


def test_why_it_does_not_stop(runner: Runner) -> None:
    runner.serve(reply(call("Bash", command="true")), after="repeat_last")
    ran = debug(runner, "--max-turns", "3")
    assert ran.stderr.count("Bash may run") == 3
    assert "ended after 3 requests: max_turns" in ran.stderr


def test_why_the_tool_did_not_run(runner: Runner) -> None:
    runner.serve(reply(call("Write", file_path="a", content="b")), "well")
    ran = debug(runner, "--disallowedTools", "Write(a)")
    assert ran.stdout == "well\n"
    assert "Write did not run, by rule Write(a)" in ran.stderr


def test_what_was_done_about_a_full_window(runner: Runner) -> None:
    runner.serve("an old answer " * 400, fault(400, body=TOO_LONG), "done")
    runner.run("-p", "first")
    assert "room was made (reactive)" in debug(runner, "-c").stderr


def test_why_another_model_answers(runner: Runner) -> None:
    runner.serve(fault(529), "done")
    ran = debug(runner, "--fallback-model", "claude-haiku-4-5")
    assert "claude-haiku-4-5 answers from now on" in ran.stderr


def test_what_became_of_an_answer_that_was_cut(runner: Runner) -> None:
    cut = reply("half", stop="max_tokens")
    runner.serve(cut, *[cut] * 3, "end")
    ran = debug(runner, env={"CLAUDE_CODE_MAX_OUTPUT_TOKENS": "20000"})
    assert "an answer was thrown away: cut at the output limit" in ran.stderr
    assert "the turn goes on (truncation)" in ran.stderr


def test_why_it_waits(runner: Runner) -> None:
    runner.serve(fault(500), "done")
    ran = debug(runner, "--settings", '{"retryDelays": [0]}')
    assert (ran.code, ran.stdout) == (0, "done\n")
    assert "attempt 1 of 1 in 0 s" in ran.stderr
