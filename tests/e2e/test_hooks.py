"""Hooks of a settings file, with the installed command."""

from __future__ import annotations

import json
import shlex
import signal
from pathlib import Path
from typing import Any

import pytest

from detent.testing import call, fault, reply

from .conftest import BOTH_WIRES, Frame, Live, Pipe, Runner


def declare(runner: Runner, where: Path | None = None, **hooks: Any) -> None:
    """In the user's settings, or in another file: a command, or whole handlers, per event."""
    table = {}
    for event, given in hooks.items():
        handlers = given if isinstance(given, list) else [given]
        whole = [{"command": h} if isinstance(h, str) else h for h in handlers]
        table[event] = [{"hooks": [{"type": "command", **handler} for handler in whole]}]
    path = where or runner.state / "settings.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"hooks": table}))


def saying(answer: Any) -> str:
    return f"printf %s {shlex.quote(json.dumps(answer))}"


def special(event: str, **fields: Any) -> str:
    return saying({"hookSpecificOutput": {"hookEventName": event, **fields}})


@BOTH_WIRES
def test_a_call_is_denied(runner: Runner) -> None:
    runner.serve(reply(call("Bash", command="echo hi > out.txt", id="t1")), "I see")
    declare(runner, PreToolUse=f"cat > '{runner.folder}/in'; echo not today >&2; exit 2")
    ran = runner.prompt("do it", "--dangerously-skip-permissions")
    assert (ran.code, ran.result["result"]) == (3, "I see")
    assert "not today" in runner.requests[1].tool_results[0].text
    assert not (runner.work / "out.txt").exists()
    assert [denial["tool_use_id"] for denial in ran.result["permission_denials"]] == ["t1"]
    given = json.loads((runner.folder / "in").read_text())
    assert given["tool_input"] == {"command": "echo hi > out.txt"}
    assert given["session_id"] == ran.result["session_id"]
    assert given["transcript_path"] == str(runner.logs[0])
    assert (given["cwd"], given["permission_mode"]) == (str(runner.work), "bypassPermissions")


def test_the_trace_tells_which_hook_decided(runner: Runner) -> None:
    runner.serve(reply(call("Bash", command="echo hi")), "I see")
    declare(runner, PreToolUse="echo no >&2; exit 2")
    ran = runner.run("-p", "do it", "--debug")
    assert "the PreToolUse hook 'echo no >&2; exit 2' ended with exit code 2" in ran.stderr
    assert "Bash did not run, by hook: no" in ran.stderr


def test_a_file_tool_shows_its_whole_path(runner: Runner) -> None:
    (runner.work / "a.txt").write_text("x")
    runner.serve(reply(call("Read", file_path="a.txt")), "done")
    declare(runner, PreToolUse=f"cat > '{runner.folder}/in'")
    assert runner.prompt("read it").code == 0
    given = json.loads((runner.folder / "in").read_text())
    assert given["tool_input"] == {"file_path": str(runner.work / "a.txt")}


def test_a_changed_call_is_judged_again_and_what_was_judged_runs(runner: Runner) -> None:
    runner.serve(*[reply(call("Bash", command="pwd")), "done"] * 2)
    changed = special("PreToolUse", updatedInput={"command": "echo changed"})
    declare(runner, PreToolUse=changed)
    ran = runner.prompt("go")
    assert ran.result["commands"][0] == {"command": "echo changed", "exit_code": 0}
    denied = runner.prompt("go", "--disallowedTools", "Bash(echo:*)")
    assert denied.result["permission_denials"]


def test_a_hook_that_allows_does_not_beat_a_rule(runner: Runner) -> None:
    runner.serve(reply(call("Bash", command="touch x")), "done")
    declare(runner, PreToolUse=special("PreToolUse", permissionDecision="allow"))
    ran = runner.prompt("go", "--disallowedTools", "Bash(touch:*)")
    assert ran.code == 3 and not (runner.work / "x").exists()


def test_a_hook_answers_in_place_of_the_person(runner: Runner) -> None:
    runner.serve(reply(call("Bash", command="touch x")), "done")
    decision = {"behavior": "allow", "updatedInput": {"command": "touch y"}}
    declare(runner, PermissionRequest=special("PermissionRequest", decision=decision))
    assert runner.prompt("go").code == 0
    assert (runner.work / "y").exists() and not (runner.work / "x").exists()


@BOTH_WIRES
def test_a_prompt_gets_context_or_is_blocked(runner: Runner) -> None:
    runner.serve("hello")
    declare(
        runner,
        UserPromptSubmit="grep -q secret && { echo no secrets >&2; exit 2; }; echo it is Monday",
    )
    blocked = runner.prompt("the secret is 5")
    assert (blocked.code, blocked.result["terminal_reason"]) == (1, "hook_stopped")
    assert blocked.result["errors"] == ["no secrets"] and runner.requests == []
    session = blocked.result["session_id"]
    assert runner.prompt("hi", "-r", session).code == 0
    heard = "\n".join(runner.requests[0].user_texts)
    assert "it is Monday" in heard and "hi" in heard and "secret" not in heard


@BOTH_WIRES
def test_a_turn_goes_on_until_the_hook_is_content(runner: Runner) -> None:
    runner.serve("finished?", "now it is")
    given = f"'{runner.folder}/given'"
    is_content = f"cat > {given}; grep -q '\"stop_hook_active\":true' {given}"
    declare(runner, Stop=f"{is_content} || {{ echo run the tests >&2; exit 2; }}")
    ran = runner.prompt("work")
    assert (ran.code, ran.result["result"]) == (0, "now it is")
    assert "run the tests" in runner.requests[1].user_texts[-1]
    assert (
        json.loads((runner.folder / "given").read_text())["last_assistant_message"] == "now it is"
    )


def test_a_stubborn_hook_is_obeyed_five_times(runner: Runner) -> None:
    runner.serve(*["no"] * 6)
    declare(runner, Stop="echo again >&2; exit 2")
    ran = runner.prompt("work")
    assert ran.code == 0 and len(runner.requests) == 6
    assert "more than 5 times" in ran.stderr


def test_a_session_begins_and_ends(runner: Runner) -> None:
    runner.serve("hello", "again")
    log = f"'{runner.folder}/log'"
    declare(
        runner,
        SessionStart=f"cat >> {log}; echo >> {log}; echo the house is blue",
        SessionEnd=f"cat >> {log}; echo >> {log}; echo oops >&2; exit 1",
    )
    first = runner.prompt("hi")
    assert first.code == 0
    assert "SessionEnd hook" in first.stderr and "oops" in first.stderr
    runner.prompt("more", "-r", first.result["session_id"])
    told = [json.loads(line) for line in (runner.folder / "log").read_text().splitlines()]
    assert [(t["hook_event_name"], t.get("source"), t.get("reason")) for t in told] == [
        ("SessionStart", "startup", None),
        ("SessionEnd", None, "other"),
        ("SessionStart", "resume", None),
        ("SessionEnd", None, "other"),
    ]
    assert told[0]["model"] == runner.model
    assert "the house is blue" in "\n".join(runner.requests[0].user_texts)


def test_a_session_ends_also_when_it_is_interrupted(runner: Runner, pipe: Pipe) -> None:
    runner.serve(reply(call("Bash", command="echo hi")))
    waits = f"echo here > {pipe.path}; sleep 60"
    declare(runner, PreToolUse=waits, SessionEnd=f"cat > '{runner.folder}/ended'")
    live = runner.start("-p", "wait")
    assert pipe.line() == "here"
    live.process.send_signal(signal.SIGINT)
    assert live.finish().code == 130
    assert json.loads((runner.folder / "ended").read_text())["reason"] == "other"


def test_an_interrupt_does_not_wait_for_a_hook(runner: Runner, pipe: Pipe) -> None:
    runner.serve("never")
    declare(runner, SessionStart=f"echo here > {pipe.path}; sleep 60")
    live = runner.start("-p", "wait")
    assert pipe.line() == "here"
    live.process.send_signal(signal.SIGINT)
    assert live.finish().code == 130
    assert runner.requests == []


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("/nowhere/at-all", "could not be run"),
        ("echo oops >&2; exit 7", "exit code 7: oops"),
        ("echo '{'", "JSON that cannot be read"),
    ],
)
def test_a_broken_hook_is_told_on_stderr_and_decides_nothing(
    runner: Runner, command: str, said: str
) -> None:
    runner.serve(reply(call("Bash", command="echo hi")), "done")
    declare(runner, PreToolUse=command)
    ran = runner.run("-p", "go")
    assert (ran.code, ran.stdout) == (0, "done\n")
    assert said in ran.stderr and "PreToolUse" in ran.stderr
    assert runner.requests[1].tool_results[0].text == "hi"


def test_one_that_fails_closed_denies(runner: Runner) -> None:
    runner.serve(reply(call("Bash", command="touch x")), "done")
    declare(runner, PreToolUse={"command": "/nowhere/at-all", "fail_closed": True})
    ran = runner.prompt("go", "--dangerously-skip-permissions")
    assert ran.code == 3 and not (runner.work / "x").exists()
    assert "set to deny" in runner.requests[1].tool_results[0].text


def test_a_bad_declaration_is_an_error_before_anything_happens(runner: Runner) -> None:
    runner.serve("never")
    declare(runner, PreToolUse={"command": ""})
    ran = runner.run("-p", "go")
    assert ran.code == 2 and runner.requests == []
    assert "settings.json: hooks.PreToolUse[0].hooks[0] needs a command" in ran.stderr


def test_hooks_of_a_project_run_only_when_it_is_trusted(runner: Runner) -> None:
    runner.serve("one", "two")
    declare(
        runner,
        runner.work / ".detent" / "settings.json",
        UserPromptSubmit=f"touch '{runner.folder}/ran'",
    )
    assert runner.run("-p", "go").code == 0
    assert not (runner.folder / "ran").exists()
    assert runner.run("-p", "go", "--trust").code == 0
    assert (runner.folder / "ran").exists()


def test_the_end_by_a_failed_request_is_told(runner: Runner) -> None:
    runner.serve(fault(400, body='{"error": {"message": "no such parameter"}}'))
    declare(runner, StopFailure=f"cat > '{runner.folder}/in'", Stop=f"touch '{runner.folder}/stop'")
    assert runner.run("-p", "x").code == 1
    given = json.loads((runner.folder / "in").read_text())
    assert given["error"] == "api_error" and "no such parameter" in given["error_details"]
    assert not (runner.folder / "stop").exists()


# Frames


def test_frames_of_hooks_are_for_those_who_want_them(runner: Runner) -> None:
    runner.serve(*[reply(call("Bash", command="echo hi")), "done"] * 2)
    declare(runner, SessionStart="echo blue", PreToolUse="echo looked at >&2; exit 0")
    plain = runner.frames("go")
    assert {f["hook_event"] for f in plain.of("system", "hook_response")} == {"SessionStart"}
    every = runner.frames("go", "--include-hook-events")
    started, ended = every.of("system", "hook_started"), every.of("system", "hook_response")
    assert [f["hook_event"] for f in started] == ["SessionStart", "PreToolUse"]
    assert [f["hook_id"] for f in ended] == [f["hook_id"] for f in started]
    assert [f["exit_code"] for f in ended] == [0, 0]
    assert (ended[0]["stdout"], ended[1]["stderr"]) == ("blue\n", "looked at\n")
    assert {f["outcome"] for f in ended} == {"success"}
    assert all(f["session_id"] and f["uuid"] for f in (*started, *ended))


# Callbacks of a host program


def hooked(runner: Runner, event: str, *args: str, **entry: Any) -> Live:
    live = runner.converse("--permission-prompt-tool", "stdio", *args)
    hooks = {event: [{"hookCallbackIds": ["hook_0"], **entry}]}
    assert live.control("initialize", hooks=hooks)["subtype"] == "success"
    return live


def hook_called(live: Live) -> Frame:
    return live.next("control_request", where=lambda f: f["request"]["subtype"] == "hook_callback")


def test_a_host_hears_of_the_session_and_of_batches(runner: Runner) -> None:
    runner.serve(reply(call("Bash", command="echo hi", id="t1")), "done")
    live = runner.converse()
    each = [{"hookCallbackIds": ["h"]}]
    live.control("initialize", hooks={"SessionStart": each, "PostToolBatch": each})
    live.say("go")
    started = hook_called(live)
    assert started["request"]["input"]["source"] == "startup"
    output = {"hookEventName": "SessionStart", "additionalContext": "it is Monday"}
    live.answer(started, hookSpecificOutput=output)
    batch = hook_called(live)
    (told,) = batch["request"]["input"]["tool_calls"]
    assert (told["tool_use_id"], told["tool_input"]) == ("t1", {"command": "echo hi"})
    live.answer(batch)
    assert live.next("result")["result"] == "done"
    live.finish()
    assert "it is Monday" in "\n".join(runner.requests[0].user_texts)


def test_a_host_answers_the_wrong_event(runner: Runner) -> None:
    """It ends the turn, and no request is sent."""
    runner.serve("never")
    live = hooked(runner, "UserPromptSubmit")
    live.say("go")
    live.answer(hook_called(live), hookSpecificOutput={"hookEventName": "Stop"})
    result = live.next("result")
    assert (result["subtype"], result["is_error"]) == ("error_during_execution", True)
    assert "'Stop'" in result["errors"][0] and "UserPromptSubmit" in result["errors"][0]
    live.finish()
    assert runner.requests == []


def test_a_host_that_is_late_permits_nothing(runner: Runner) -> None:
    runner.serve(reply(call("Bash", command="echo hi")), "done")
    live = hooked(runner, "PreToolUse", timeout=0.05)
    live.say("go")
    hook_called(live)
    assert live.next("result")["permission_denials"]
    live.finish()
    assert "did not answer" in runner.requests[1].tool_results[0].text


@pytest.mark.parametrize("entry", [{"matcher": "("}, {"matcher": 5}, {"timeout": "5"}])
def test_a_bad_matcher_is_an_error_response(runner: Runner, entry: Any) -> None:
    runner.serve("done")
    live = runner.converse()
    hooks = {"PreToolUse": [{"hookCallbackIds": ["h"], **entry}]}
    assert live.control("initialize", hooks=hooks)["subtype"] == "error"
    live.say("go")
    assert live.next("result")["result"] == "done"
    live.finish()


def test_a_host_answers_in_place_of_the_person(runner: Runner) -> None:
    runner.serve(reply(call("Bash", command="touch x")), "done")
    live = hooked(runner, "PermissionRequest")
    live.say("go")
    asking = hook_called(live)
    assert asking["request"]["input"]["permission_suggestions"]
    decision = {"behavior": "allow"}
    live.answer(
        asking, hookSpecificOutput={"hookEventName": "PermissionRequest", "decision": decision}
    )
    live.next("result")
    assert (runner.work / "x").exists()
    live.finish()


def test_a_host_hears_that_somebody_is_asked(runner: Runner) -> None:
    runner.serve(reply(call("Bash", command="touch x")), "done")
    live = hooked(runner, "Notification", matcher="permission_prompt")
    live.say("go")
    asked = [live.next("control_request") for _ in range(2)]
    by_kind = {frame["request"]["subtype"]: frame for frame in asked}
    assert by_kind["hook_callback"]["request"]["input"]["notification_type"] == "permission_prompt"
    live.answer(by_kind["hook_callback"])
    live.answer(by_kind["can_use_tool"], behavior="allow")
    assert live.next("result")["result"] == "done"
    live.finish()


def test_a_host_that_has_left_is_not_told_of_the_end(runner: Runner) -> None:
    runner.serve("done")
    live = hooked(runner, "SessionEnd")
    live.say("go")
    assert live.next("result")["result"] == "done"
    ran = live.finish()
    assert ran.code == 0 and "SessionEnd" not in ran.stderr


def test_a_guard_of_the_host_cannot_be_left_out_by_leaving(runner: Runner) -> None:
    runner.serve(reply(call("Bash", command="echo hi")), "done")
    live = hooked(runner, "PreToolUse")
    live.say("go")
    hook_called(live)
    live.end_input()
    assert live.next("result")["permission_denials"]
    live.finish()
    assert "the host is gone" in runner.requests[1].tool_results[0].text


def test_each_answer_that_a_stop_hook_did_not_accept_has_its_own_line(runner: Runner) -> None:
    runner.serve("first", "second")
    command = "test -e seen || { touch seen; echo 'look again' >&2; exit 2; }"
    stop = {"Stop": [{"hooks": [{"type": "command", "command": command}]}]}
    ran = runner.run("-p", "go", "--settings", json.dumps({"hooks": stop}))
    assert (ran.code, ran.stdout) == (0, "first\nsecond\n")
