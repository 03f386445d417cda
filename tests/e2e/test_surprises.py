"""Small things a person would stumble over."""

from __future__ import annotations

import json
from typing import Any

from detent.testing import call, fault, reply, say


def test_a_prompt_may_begin_with_a_dash(runner: Any) -> None:
    runner.serve("ok")
    assert runner.run("-p", "- fix it").code == 0
    assert "- fix it" in runner.requests[0].user_texts[-1]


def test_the_time_limit_cuts_a_running_command(runner: Any) -> None:
    runner.serve(reply(call("Bash", command="sleep 60")), "never")
    ran = runner.prompt("hi", "--max-time", "0.5", "--dangerously-skip-permissions")
    assert ran.code == 4
    assert ran.result["reason"] == "budget_exceeded"
    assert len(runner.requests) == 1


def test_sessions_of_another_folder(runner: Any) -> None:
    runner.serve("ok")
    runner.prompt("remember me")
    (runner.folder / "elsewhere").mkdir()
    there = runner.run("sessions", "json", "--cwd", str(runner.folder / "elsewhere"))
    here = runner.run("sessions", "json")
    assert json.loads(there.stdout) == []
    assert [card["title"] for card in json.loads(here.stdout)] == ["remember me"]


def test_a_resumed_session_keeps_its_id(runner: Any) -> None:
    runner.serve("ok", "never")
    first = runner.prompt("hi").result["session_id"]
    other = "11111111-2222-4333-8444-555555555555"
    ran = runner.prompt("again", "-r", first, "--session-id", other)
    assert ran.code == 2
    assert len(runner.requests) == 1


def test_the_demo_tells_why_it_failed(runner: Any) -> None:
    runner.serve(fault(401), fault(401))
    ran = runner.run("demo")
    assert ran.code == 1
    assert "401" in ran.stderr or "authentication" in ran.stderr.lower()


def test_an_answer_that_starts_again_is_told(runner: Any) -> None:
    long = "word " * 200
    runner.serve(reply(say(long, "more"), fault=fault(cut_after=1)), "short answer")
    ran = runner.prompt("hi", output="text")
    assert ran.code == 0
    assert ran.stdout.endswith("short answer\n")
    assert "starts again" in ran.stderr


def test_an_interrupt_sent_with_the_prompt_ends_its_turn(runner: Any) -> None:
    runner.serve(reply(say(*["x"] * 2000), gap=0.01))
    live = runner.converse()
    user = {"type": "user", "message": {"role": "user", "content": "hi"}}
    stop = {"type": "control_request", "request_id": "1", "request": {"subtype": "interrupt"}}
    live.send(user, stop)
    result = live.next("result")
    assert result["reason"] == "user_cancelled"
    live.end_input()
    live.finish()


def test_a_question_after_the_host_has_gone_is_a_no(runner: Any) -> None:
    runner.serve(reply(call("Bash", command="touch made")), "as you like")
    live = runner.converse("--permission-prompt-tool", "stdio")
    live.say("hi")
    live.end_input()
    ran = live.finish()
    assert ran.result["permission_denials"]
    assert not (runner.work / "made").exists()
