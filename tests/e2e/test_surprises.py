"""Small things a person would stumble over."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import Any

import pytest

from detent.testing import call, fault, reply, say

from .conftest import DETENT


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


def test_a_signal_ends_it_although_nobody_reads(runner: Any) -> None:
    runner.serve(reply(say("x" * 3_000_000)))
    process = subprocess.Popen(
        [DETENT, "-p", "hi"],
        cwd=runner.work,
        env=runner.env(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    runner.server.wait_for_mark(1, "stop")
    process.terminate()
    assert process.wait(30) == 143
    assert process.stdout is not None
    process.stdout.close()


def test_an_unreadable_stdin_is_the_end_of_input(runner: Any) -> None:
    target = runner.work / "write-only"
    with open(target, "wb") as write_only:
        done = subprocess.run(
            [DETENT, "--input-format", "stream-json", "--output-format", "stream-json"],
            cwd=runner.work,
            env=runner.env() if runner._server else {"PATH": os.environ["PATH"], "HOME": "/"},
            stdin=write_only,
            capture_output=True,
            timeout=30,
            check=False,
        )
    assert done.returncode == 0
    assert b"Traceback" not in done.stderr


def test_a_deeply_nested_line_is_rubbish_like_any_other(runner: Any) -> None:
    runner.serve("still here")
    live = runner.converse()
    live.send(b"[" * 200_000 + b"\n")
    live.say("hi")
    assert live.next("result")["result"] == "still here"
    live.end_input()
    assert "Traceback" not in live.finish().stderr


def test_a_host_name_that_cannot_be_encoded(runner: Any) -> None:
    runner.serve("unused")
    more = {"ANTHROPIC_BASE_URL": "http://a..b/", "OPENAI_BASE_URL": "http://a..b/"}
    ran = runner.prompt("hi", "--settings", '{"retryDelays": []}', env=more)
    assert ran.code == 7
    assert "Traceback" not in ran.stderr


def test_a_search_leaves_secrets_out(runner: Any) -> None:
    (runner.work / ".env").write_text("SECRET=1\n")
    (runner.work / "id_rsa").write_text("SECRET\n")
    (runner.work / "code.py").write_text("SECRET = 'no'\n")
    search = call("Grep", pattern="SECRET", output_mode="content")
    runner.serve(reply(search, call("Grep", pattern="SECRET", glob="id_rsa")), "ok")
    assert runner.prompt("look").code == 0
    texts = " ".join(result.text for result in runner.requests[1].tool_results)
    assert "code.py" in texts
    assert ".env" not in texts
    assert "id_rsa" not in texts.replace("glob", "")


@pytest.mark.parametrize("words", [("mcp", "list"), ("skills",)])
def test_subcommands_of_later_versions_are_never_sent_to_a_model(
    runner: Any, words: tuple[str, ...]
) -> None:
    runner.serve("never")
    ran = runner.run(*words)
    assert ran.code == 2
    assert "not part of this version" in ran.stderr
    assert not runner.requests


def test_a_fork_needs_something_to_fork(runner: Any) -> None:
    runner.serve("never")
    assert runner.prompt("hi", "--fork-session").code == 2
    assert not runner.requests


def test_the_title_of_a_piped_run_is_its_instruction(runner: Any) -> None:
    runner.serve("ok")
    runner.run("-p", "review this", stdin="diff --git a b\n")
    (card,) = json.loads(runner.run("sessions", "json").stdout)
    assert card["title"] == "review this"


def test_no_rule_is_offered_that_would_not_help(runner: Any) -> None:
    hook = call("Write", file_path=".git/hooks/pre-commit", content="x")
    runner.serve(reply(hook), "ok")
    ran = runner.prompt("hi", "--permission-mode", "acceptEdits")
    (denied,) = ran.result["permission_denials"]
    assert "would permit" not in denied["reason"]
    assert "runs later" in denied["reason"]


def test_the_demo_works_without_git(runner: Any, tmp_path: Any) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "python3").symlink_to(os.path.realpath(sys.executable))
    (programs / "bash").symlink_to(shutil.which("bash") or "/nowhere")
    done = subprocess.run(
        [DETENT, "demo", "--scripted"],
        env={"PATH": str(programs), "HOME": str(tmp_path)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "words",
    [("undo", "--all"), ("redo", "--model", "x"), ("sessions", "--trust"), ("replay", "--at", "3")],
)
def test_a_flag_that_a_subcommand_does_not_know_is_not_passed_over(
    runner: Any, words: tuple[str, ...]
) -> None:
    ran = runner.run(*words)
    assert ran.code == 2 and f"detent {words[0]} does not take {words[1]}" in ran.stderr
