"""`--input-format stream-json`: a host program drives many turns, frames both ways."""

import os
import signal
import threading
from typing import Any

import pytest

from detent.testing import call, fault, reply, say

from .conftest import BOTH_WIRES, PATIENCE, Frame, Live, Pipe, Runner

ASKS_HOST = ("--permission-prompt-tool", "stdio")
TELLS_STATE = {"CLAUDE_CODE_SDK_READS_SESSION_STATE": "1"}


def user(text: str) -> Frame:
    return {"type": "user", "message": {"role": "user", "content": text}}


def states(frames: list[Frame]) -> list[str]:
    return [f["state"] for f in frames if f.get("subtype") == "session_state_changed"]


# Turns


@BOTH_WIRES
def test_one_turn(runner: Runner) -> None:
    runner.serve("done")
    live = runner.converse()
    live.say("hello")
    live.end_input()
    ran = live.finish()
    assert (ran.code, ran.stderr) == (0, "")
    assert [frame["type"] for frame in ran.frames] == ["system", "assistant", "result"]
    assert ran.result["result"] == "done"
    assert runner.requests[0].user_texts == ["hello"]


@BOTH_WIRES
def test_several_turns_are_one_session(runner: Runner) -> None:
    runner.serve("one", reply(call("Bash", command="echo hi")), "two", "three")
    live = runner.converse()
    results = []
    for text in ("first", "second", "third"):
        live.say(text)
        results.append(live.next("result"))
    live.end_input()
    ran = live.finish()
    assert ran.code == 0, ran
    assert [result["result"] for result in results] == ["one", "two", "three"]
    assert [result["num_turns"] for result in results] == [1, 2, 1]
    assert len({frame["session_id"] for frame in ran.frames}) == 1
    assert len(ran.of("system", "init")) == 3
    assert runner.requests[-1].user_texts == ["first", "second", "third"]
    assert runner.server.connections == 1
    assert [log.stem for log in runner.logs] == [results[0]["session_id"]]


@BOTH_WIRES
def test_the_end_of_input_does_not_cut_the_turn(runner: Runner) -> None:
    release = threading.Event()
    runner.serve(reply(say("half ", "whole"), hold=release, hold_after=1))
    live = runner.converse()
    live.say("hello")
    live.end_input()
    runner.server.wait_for(1)
    release.set()
    ran = live.finish()
    assert ran.code == 0, ran
    assert ran.result["result"] == "half whole"


def test_the_end_of_input_without_a_prompt_is_a_quiet_end(runner: Runner) -> None:
    runner.serve("never said")
    ran = runner.converse().finish()
    assert (ran.code, ran.stdout, ran.stderr) == (0, "", "")
    assert not runner.state.exists()


@BOTH_WIRES
def test_prompts_that_waited_are_all_heard(runner: Runner) -> None:
    release = threading.Event()
    runner.serve(reply(say("o", "ne"), hold=release, hold_after=1), "two", "three")
    live = runner.converse()
    live.say("first")
    runner.server.wait_for(1)
    live.send(user("second"), user("third"))
    live.control("mcp_status")  # answered in order: both prompts have been read by now
    release.set()
    live.end_input()
    ran = live.finish()
    assert ran.code == 0, ran
    heard = "\n".join(runner.requests[-1].user_texts)
    assert heard.index("first") < heard.index("second") < heard.index("third")


def test_a_prompt_in_blocks_with_a_picture(runner: Runner) -> None:
    runner.serve("a dot")
    data = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="  # noqa: E501
    picture = {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": data},
    }
    live = runner.converse()
    content = [{"type": "text", "text": "what is it?"}, picture]
    live.send({"type": "user", "message": {"role": "user", "content": content}})
    assert live.next("result")["result"] == "a dot"
    assert live.finish().code == 0
    sent = runner.requests[0].messages[-1]["content"]
    assert [block["type"] for block in sent] == ["text", "image"]
    assert sent[1]["source"]["data"] == data


@BOTH_WIRES
def test_rubbish_lines_are_passed_over(runner: Runner) -> None:
    runner.serve("done")
    live = runner.converse()
    rubbish: list[Any] = [
        b"this is not JSON", b"", b"   ", b"[1, 2]", b"null", b'"text"', b"{", b"\xff\xfe\x00",
        {}, {"type": "from_the_future"}, {"type": 7}, {"type": "user"},
        {"type": "user", "message": "x"}, {"type": "user", "message": {"content": 7}},
        {"type": "user", "message": {"content": [7, None, {"type": "text"}]}},
        {"type": "control_response"}, {"type": "control_response", "response": 7},
        {"type": "control_response", "response": {"request_id": "nobody asked"}},
        {"type": "control_cancel_request", "request_id": "x"},
    ]  # fmt: skip
    live.send(*rubbish)
    live.say("hello")
    assert live.next("result")["result"] == "done"
    ran = live.finish()
    assert ran.code == 0, ran
    assert "Traceback" not in ran.stderr
    assert runner.requests[0].user_texts == ["hello"]


def test_the_exit_code_tells_of_a_failed_turn_but_not_of_a_refusal(runner: Runner) -> None:
    """The result frame carries a refusal; the exit is 0."""
    runner.serve(reply(call("Write", file_path="a", content="x")), "I may not", fault(400))
    live = runner.converse()
    live.say("write")
    result = live.next("result")
    assert len(result["permission_denials"]) == 1
    assert live.finish().code == 0

    live = runner.converse()
    live.say("fail")
    result = live.next("result")
    assert (result["is_error"], result["api_error_status"]) == (True, 400)
    assert live.finish().code == 1


def test_without_a_model_there_is_a_result_before_the_exit(runner: Runner) -> None:
    live = runner.converse()
    live.say("hello")
    ran = live.finish()
    assert ran.code == 7
    assert ran.result["is_error"] is True


def test_a_session_that_is_unknown_gives_a_result_before_the_exit(runner: Runner) -> None:
    runner.serve("never said")
    live = runner.converse("--resume", "0b4cf9a2-7c1e-4b69-9a53-0b1f6a1f2a3c")
    live.say("hello")
    ran = live.finish()
    assert ran.code == 2
    assert "0b4cf9a2" in ran.result["result"]


# Flags as hosts send them


@pytest.mark.parametrize(
    "flags",
    [
        ["--verbose", "--model", "claude-haiku-4-5", "--permission-mode", "plan", ""],
        ["--verbose", "--model=claude-haiku-4-5", "--permission-mode=plan", ""],
        ["", "--system-prompt", "", "--model", "claude-haiku-4-5", "--permission-mode", "plan"],
        ["--append-system-prompt", "- a bullet", "--tools", "", "--model=claude-haiku-4-5",
         "--permission-mode=plan", "--setting-sources="],
        ["--replay-user-messages", "", "--allow-dangerously-skip-permissions",
         "--model", "claude-haiku-4-5", "--permission-mode", "plan", "--betas", "a,b",
         "--max-thinking-tokens", "0", "--effort=high", "--strict-mcp-config",
         "--include-hook-events", "--session-mirror", "--thinking", "disabled"],
    ],
)  # fmt: skip
def test_flags_as_the_sdks_and_editors_send_them(runner: Runner, flags: list[str]) -> None:
    runner.serve("done")
    live = runner.converse(*flags)
    live.say("hello")
    init = live.next("system", "init")
    assert (init["model"], init["permissionMode"]) == ("claude-haiku-4-5", "plan")
    assert live.next("result")["result"] == "done"
    assert live.finish().code == 0
    request = runner.requests[0]
    assert request.json["model"] == "claude-haiku-4-5"
    assert request.user_texts == ["hello"]
    if "- a bullet" in flags:
        assert "- a bullet" in str(request.json["system"])
        assert not request.json.get("tools")


# Control requests


def test_initialize_is_answered_before_any_prompt(runner: Runner) -> None:
    runner.serve("done")
    live = runner.converse()
    answer = live.control("initialize", hooks=None)
    assert answer["subtype"] == "success"
    said = answer["response"]
    assert {"commands", "agents", "models", "account", "output_style"} <= set(said)
    assert isinstance(said["commands"], list)
    live.say("hello")
    assert live.next("result")["result"] == "done"
    assert live.finish().code == 0


@BOTH_WIRES
def test_initialize_may_set_the_system_prompt(runner: Runner) -> None:
    runner.serve("done")
    live = runner.converse()
    live.control("initialize", systemPrompt=["You are a pirate."], appendSystemPrompt="Arr.")
    live.say("hello")
    live.next("result")
    live.finish()
    body = runner.requests[0].body.decode()
    assert "You are a pirate." in body
    assert "Arr." in body


@pytest.mark.parametrize("subtype", ["rewind_files", "make_coffee", None])
def test_an_unsupported_control_request_gets_an_error(runner: Runner, subtype: str | None) -> None:
    runner.serve("done")
    live = runner.converse()
    request = {"subtype": subtype} if subtype else {}
    live.send({"type": "control_request", "request_id": "r1", "request": request})
    answer = live.next("control_response")["response"]
    assert (answer["subtype"], answer["request_id"]) == ("error", "r1")
    assert answer["error"]
    live.say("hello")
    assert live.next("result")["result"] == "done"
    assert live.finish().code == 0


def test_the_mode_can_be_set_between_turns(runner: Runner) -> None:
    writes = reply(call("Write", file_path="a.txt", content="x"))
    runner.serve(writes, "refused", writes, "written")
    live = runner.converse()
    live.say("write")
    assert live.next("result")["permission_denials"]
    assert not (runner.work / "a.txt").exists()
    assert live.control("set_permission_mode", mode="acceptEdits")["subtype"] == "success"
    live.say("again")
    assert live.next("system", "init")["permissionMode"] == "acceptEdits"
    assert live.next("result")["permission_denials"] == []
    assert (runner.work / "a.txt").read_text() == "x"
    assert live.finish().code == 0


def test_an_unknown_mode_is_an_error_and_changes_nothing(runner: Runner) -> None:
    runner.serve("one", "two")
    live = runner.converse()
    assert live.control("set_permission_mode", mode="yolo")["subtype"] == "error"
    live.say("hello")
    assert live.next("result")["result"] == "one"
    assert live.control("set_permission_mode", mode="yolo")["subtype"] == "error"
    live.say("hello")
    assert live.next("system", "init")["permissionMode"] == "default"
    assert live.finish().code == 0


@pytest.mark.parametrize("when", ["before the first turn", "between turns"])
def test_the_model_can_be_set(runner: Runner, when: str) -> None:
    runner.serve("one", "two")
    live = runner.converse()
    if when == "between turns":
        live.say("first")
        assert live.next("system", "init")["model"] == runner.model
        live.next("result")
    assert live.control("set_model", model="claude-haiku-4-5")["subtype"] == "success"
    live.say("next")
    assert live.next("system", "init")["model"] == "claude-haiku-4-5"
    assert live.next("result")["is_error"] is False
    assert live.finish().code == 0
    assert runner.requests[-1].json["model"] == "claude-haiku-4-5"


def test_the_budget_for_thinking_counts_from_the_next_turn(runner: Runner) -> None:
    hold = threading.Event()
    runner.serve(reply("one", hold=hold, hold_after=0), "two", "three")
    live = runner.converse("--max-thinking-tokens", "2000")
    live.say("first")
    live.next("system", "init")
    assert live.control("set_max_thinking_tokens", max_thinking_tokens=0)["subtype"] == "success"
    hold.set()
    live.next("result")
    live.say("second")
    live.next("result")
    wrong = live.control("set_max_thinking_tokens", max_thinking_tokens="lots")
    assert wrong["subtype"] == "error" and "lots" in wrong["error"]
    live.control("set_max_thinking_tokens", max_thinking_tokens=None)
    live.say("third")
    live.next("result")
    assert live.finish().code == 0
    said = [request.json.get("thinking", {}).get("type") for request in runner.requests]
    assert said[0] in ("adaptive", "enabled")
    assert said[1:] == ["disabled", None]


@BOTH_WIRES
def test_an_interrupt_while_the_model_speaks_ends_the_turn_only(runner: Runner) -> None:
    never = threading.Event()
    runner.serve(reply(say("half ", "whole"), hold=never, hold_after=1), "still here")
    live = runner.converse("--include-partial-messages")
    live.say("first")
    live.next("stream_event", where=lambda frame: "delta" in frame["event"])
    live.send({"type": "control_request", "request_id": "i", "request": {"subtype": "interrupt"}})
    result = live.next("result")
    assert result["terminal_reason"] == "aborted_streaming"
    runner.server.wait_for_mark(1, "gone")
    live.say("second")
    assert live.next("result")["result"] == "still here"
    ran = live.finish()
    assert ran.code == 0, ran
    answers = [frame["response"] for frame in ran.of("control_response")]
    assert [(a["subtype"], a["request_id"]) for a in answers] == [("success", "i")]
    assert [result["is_error"] for result in ran.of("result")] == [True, False]


@BOTH_WIRES
def test_an_interrupt_while_a_command_runs(runner: Runner, pipe: Pipe) -> None:
    command = f"echo here > {pipe.path}; exec sleep 1000"
    runner.serve(reply(call("Bash", command=command)), "still here")
    live = runner.converse("--dangerously-skip-permissions")
    live.say("first")
    assert pipe.line() == "here"
    assert live.control("interrupt")["subtype"] == "success"
    assert live.next("result")["terminal_reason"] == "aborted_tools"
    live.say("second")
    assert live.next("result")["result"] == "still here"
    assert live.finish().code == 0


def test_an_interrupt_at_rest_is_harmless(runner: Runner) -> None:
    runner.serve("done")
    live = runner.converse()
    assert live.control("interrupt")["subtype"] == "success"
    live.say("hello")
    assert live.next("result")["result"] == "done"
    assert live.finish().code == 0


# can_use_tool


def asked(live: Live) -> Frame:
    return live.next("control_request", where=lambda f: f["request"]["subtype"] == "can_use_tool")


def adding(*rules: Any) -> list[Frame]:
    return [{"type": "addRules", "behavior": "allow", "rules": rules, "destination": "session"}]


@BOTH_WIRES
def test_the_host_allows_with_a_changed_input(runner: Runner) -> None:
    runner.serve(reply(call("Bash", command="touch x", id="t1")), "done")
    live = runner.converse(*ASKS_HOST)
    live.say("touch it")
    question = asked(live)
    request = question["request"]
    assert (request["tool_name"], request["tool_use_id"]) == ("Bash", "t1")
    assert request["input"] == {"command": "touch x"}
    assert request["permission_suggestions"][0]["rules"][0]["toolName"] == "Bash"
    live.answer(question, behavior="allow", updatedInput={"command": "touch y"})
    assert live.next("result")["result"] == "done"
    assert live.finish().code == 0
    assert sorted(path.name for path in runner.work.iterdir()) == ["y"]


@BOTH_WIRES
def test_the_host_allows_as_it_is(runner: Runner) -> None:
    runner.serve(reply(call("Bash", command="touch x")), "done")
    live = runner.converse(*ASKS_HOST)
    live.say("touch it")
    question = asked(live)
    live.answer(question, behavior="allow", updatedInput=question["request"]["input"])
    assert live.next("result")["permission_denials"] == []
    assert live.finish().code == 0
    assert (runner.work / "x").exists()


@BOTH_WIRES
def test_the_host_denies_with_a_reason_for_the_model(runner: Runner) -> None:
    runner.serve(reply(call("Bash", command="touch x")), "I see")
    live = runner.converse(*ASKS_HOST)
    live.say("touch it")
    live.answer(asked(live), behavior="deny", message="not on a Friday")
    result = live.next("result")
    assert result["result"] == "I see"
    assert [denial["tool_name"] for denial in result["permission_denials"]] == ["Bash"]
    assert live.finish().code == 0
    assert "not on a Friday" in runner.requests[1].tool_results[0].text
    assert not (runner.work / "x").exists()


def test_the_host_denies_and_interrupts(runner: Runner) -> None:
    runner.serve(reply(call("Bash", command="touch x")), "still here")
    live = runner.converse(*ASKS_HOST)
    live.say("touch it")
    live.answer(asked(live), behavior="deny", message="stop", interrupt=True)
    assert live.next("result")["is_error"] is True
    assert len(runner.requests) == 1
    live.say("and now?")
    assert live.next("result")["result"] == "still here"
    live.finish()


def test_the_host_adds_a_rule_that_holds_for_the_next_call(runner: Runner) -> None:
    runner.serve(
        reply(call("Bash", command="touch x")), reply(call("Bash", command="touch y")), "done"
    )
    live = runner.converse(*ASKS_HOST)
    live.say("touch both")
    question = asked(live)
    rules = adding({"toolName": "Bash", "ruleContent": "touch:*"})
    live.answer(question, behavior="allow", updatedPermissions=rules)
    assert live.next("result")["permission_denials"] == []
    ran = live.finish()
    assert len(ran.of("control_request")) == 1
    assert (runner.work / "y").exists()


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"behavior": "perhaps"},
        {"behavior": "allow", "updatedInput": {"command": 5}},
        {"behavior": "allow", "updatedPermissions": [7, {"type": "addRules", "rules": [{}]}]},
        {"behavior": "allow", "updatedPermissions": adding({"toolName": "9 ("})},
        {"behavior": "allow", "updatedPermissions": adding({"ruleContent": "x"}, 5)},
    ],
    ids=range(6),
)
def test_a_strange_answer_of_the_host_is_survived(runner: Runner, answer: Frame) -> None:
    runner.serve(reply(call("Bash", command="touch x")), "done")
    live = runner.converse(*ASKS_HOST)
    live.say("touch it")
    live.answer(asked(live), **answer)
    assert live.next("result")["result"] == "done"
    ran = live.finish()
    assert ran.code == 0, ran
    assert "Traceback" not in ran.stderr
    assert len(ran.tool_results) == 1


def test_a_host_that_answers_with_an_error_has_not_allowed(runner: Runner) -> None:
    runner.serve(reply(call("Bash", command="touch x")), "done")
    live = runner.converse(*ASKS_HOST)
    live.say("touch it")
    request_id = asked(live)["request_id"]
    body = {"subtype": "error", "request_id": request_id, "error": "no such callback"}
    live.send({"type": "control_response", "response": body})
    assert live.next("result")["permission_denials"]
    assert live.finish().code == 0
    assert not (runner.work / "x").exists()


def test_a_host_that_hangs_up_while_asked_has_not_allowed(runner: Runner) -> None:
    runner.serve(reply(call("Bash", command="touch x")), "done")
    live = runner.converse(*ASKS_HOST)
    live.say("touch it")
    asked(live)
    live.end_input()
    ran = live.finish()
    assert ran.code == 0, ran
    assert ran.result["permission_denials"]
    assert not (runner.work / "x").exists()


def test_an_interrupt_withdraws_the_open_question(runner: Runner) -> None:
    runner.serve(reply(call("Bash", command="touch x")), "still here")
    live = runner.converse(*ASKS_HOST)
    live.say("touch it")
    question = asked(live)
    live.control("interrupt")
    result = live.next("result")
    assert result["is_error"] is True
    live.say("and now?")
    assert live.next("result")["result"] == "still here"
    ran = live.finish()
    (withdrawn,) = ran.of("control_cancel_request")
    assert withdrawn["request_id"] == question["request_id"]
    assert not (runner.work / "x").exists()


# Hooks


def hooked(runner: Runner, event: str = "PreToolUse", matcher: str | None = "Bash") -> Live:
    live = runner.converse(*ASKS_HOST)
    entry = {"matcher": matcher, "hookCallbackIds": ["hook_0"], "timeout": 7}
    assert live.control("initialize", hooks={event: [entry]})["subtype"] == "success"
    return live


def hook_called(live: Live) -> Frame:
    return live.next("control_request", where=lambda f: f["request"]["subtype"] == "hook_callback")


@BOTH_WIRES
def test_a_hook_denies(runner: Runner) -> None:
    runner.serve(reply(call("Bash", command="echo hi", id="t1")), "I see")
    live = hooked(runner)
    live.say("say hi")
    asking = hook_called(live)
    request = asking["request"]
    assert (request["callback_id"], request["tool_use_id"]) == ("hook_0", "t1")
    given = request["input"]
    assert given["hook_event_name"] == "PreToolUse"
    assert (given["tool_name"], given["tool_input"]) == ("Bash", {"command": "echo hi"})
    assert given["cwd"] == str(runner.work)
    assert given["permission_mode"] == "default"
    assert given["session_id"]
    output = {"hookEventName": "PreToolUse", "permissionDecision": "deny"}
    live.answer(asking, hookSpecificOutput={**output, "permissionDecisionReason": "no echoes"})
    assert live.next("result")["result"] == "I see"
    assert live.finish().code == 0
    assert "no echoes" in runner.requests[1].tool_results[0].text


@BOTH_WIRES
def test_a_hook_changes_the_input_and_adds_context(runner: Runner) -> None:
    runner.serve(reply(call("Bash", command="echo hi")), "done")
    live = hooked(runner)
    live.say("say hi")
    output = {
        "hookEventName": "PreToolUse",
        "updatedInput": {"command": "echo changed"},
        "additionalContext": "by the way",
    }
    live.answer(hook_called(live), hookSpecificOutput=output)
    live.next("result")
    ran = live.finish()
    assert ran.code == 0, ran
    told = runner.requests[1].tool_results[0].text
    assert "changed" in told
    assert "by the way" in told
    assert ran.result["commands"] == [{"command": "echo changed", "exit_code": 0}]


def test_a_changed_input_is_judged_again(runner: Runner) -> None:
    """A hook cannot turn a harmless call into one that nobody permitted."""
    runner.serve(reply(call("Bash", command="echo hi")), "done")
    live = hooked(runner)
    live.say("say hi")
    output = {"hookEventName": "PreToolUse", "updatedInput": {"command": "touch x"}}
    live.answer(hook_called(live), hookSpecificOutput=output)
    question = asked(live)
    assert question["request"]["input"] == {"command": "touch x"}
    live.answer(question, behavior="deny", message="no")
    live.next("result")
    live.finish()
    assert not (runner.work / "x").exists()


def test_a_hook_is_not_called_for_other_tools(runner: Runner) -> None:
    (runner.work / "a.txt").write_text("x")
    runner.serve(reply(call("Read", file_path="a.txt")), "done")
    live = hooked(runner)
    live.say("read it")
    assert live.next("result")["result"] == "done"
    assert live.finish().of("control_request") == []


def test_a_hook_that_fails_does_not_stop_the_call(runner: Runner) -> None:
    runner.serve(reply(call("Bash", command="echo hi")), "done")
    live = hooked(runner)
    live.say("say hi")
    request_id = hook_called(live)["request_id"]
    body = {"subtype": "error", "request_id": request_id, "error": "callback crashed"}
    live.send({"type": "control_response", "response": body})
    assert live.next("result")["result"] == "done"
    assert live.finish().code == 0
    assert runner.requests[1].tool_results[0].text == "hi"


def test_a_hook_after_the_call_ends_the_turn(runner: Runner) -> None:
    runner.serve(reply(call("Bash", command="echo hi")))
    live = hooked(runner, "PostToolUse")
    live.say("say hi")
    asking = hook_called(live)
    assert asking["request"]["input"]["tool_response"]["stdout"] == "hi\n"
    live.answer(asking, **{"continue": False, "stopReason": "enough"})
    assert live.next("result")["terminal_reason"] == "hook_stopped"
    live.finish()
    assert len(runner.requests) == 1


@pytest.mark.parametrize(
    ("event", "command"), [("PostToolUse", "false"), ("PostToolUseFailure", "echo hi")]
)
def test_hooks_after_success_and_after_failure_are_two(
    runner: Runner, event: str, command: str
) -> None:
    runner.serve(reply(call("Bash", command=command)), "done")
    live = hooked(runner, event)
    live.say("run it")
    assert live.next("result")["result"] == "done"
    assert live.finish().of("control_request") == []


def test_a_hook_after_a_failure_hears_the_error_and_adds_context(runner: Runner) -> None:
    runner.serve(reply(call("Bash", command="false")), "done")
    live = hooked(runner, "PostToolUseFailure")
    live.say("run it")
    asking = hook_called(live)
    assert "Exit code 1" in asking["request"]["input"]["error"]
    output = {"hookEventName": "PostToolUseFailure", "additionalContext": "try again"}
    live.answer(asking, hookSpecificOutput=output)
    live.next("result")
    live.finish()
    assert "try again" in runner.requests[1].tool_results[0].text


@pytest.mark.parametrize("hooks", [{"PreToolUse": [5]}, {"PreToolUse": 7}, {"Stop": {"a": 1}}])
def test_hooks_that_make_no_sense_are_an_error_response(runner: Runner, hooks: Any) -> None:
    runner.serve("done")
    live = runner.converse()
    assert live.control("initialize", hooks=hooks)["subtype"] == "error"
    live.say("hello")
    assert live.next("result")["result"] == "done"
    assert live.finish().code == 0


def test_a_hook_on_prompts_adds_context_or_blocks(runner: Runner) -> None:
    runner.serve("done")
    live = hooked(runner, "UserPromptSubmit", None)
    live.say("blocked")
    asking = hook_called(live)
    assert asking["request"]["input"]["prompt"] == "blocked"
    live.answer(asking, decision="block", reason="not this")
    assert "not this" in live.next("result")["result"]
    live.say("hello")
    output = {"hookEventName": "UserPromptSubmit", "additionalContext": "it is Tuesday"}
    live.answer(hook_called(live), hookSpecificOutput=output)
    assert live.next("result")["result"] == "done"
    live.finish()
    (request,) = runner.requests
    heard = "\n".join(request.user_texts)
    assert "hello" in heard and "it is Tuesday" in heard and "blocked" not in heard


def test_a_stop_hook_makes_the_turn_go_on(runner: Runner) -> None:
    runner.serve("finished?", "now finished")
    live = hooked(runner, "Stop", None)
    live.say("work")
    first = hook_called(live)
    assert first["request"]["input"]["stop_hook_active"] is False
    live.answer(first, decision="block", reason="run the tests first")
    second = hook_called(live)
    assert second["request"]["input"]["stop_hook_active"] is True
    live.answer(second)
    assert live.next("result")["result"] == "now finished"
    live.finish()
    assert "run the tests first" in runner.requests[1].user_texts[-1]


# State


@BOTH_WIRES
def test_hosts_that_ask_for_it_are_told_the_state(runner: Runner) -> None:
    runner.serve(reply(call("Bash", command="touch x")), "done")
    live = runner.converse(*ASKS_HOST, env=TELLS_STATE)
    live.say("touch it")
    live.answer(asked(live), behavior="allow")
    live.next("system", "session_state_changed", where=lambda frame: frame["state"] == "idle")
    ran = live.finish()
    assert states(ran.frames) == ["running", "requires_action", "running", "idle"]
    shapes = [frame.get("subtype") or frame["type"] for frame in ran.frames]
    assert shapes[:2] == ["session_state_changed", "init"]
    assert shapes[-2:] == ["success", "session_state_changed"]
    assert all(f["sdk_host_only"] for f in ran.of("system", "session_state_changed"))


def test_nobody_is_told_the_state_who_did_not_ask(runner: Runner) -> None:
    runner.serve("done")
    live = runner.converse()
    live.say("hello")
    live.next("result")
    assert states(live.finish().frames) == []


def test_a_session_is_resumed_by_a_later_host(runner: Runner) -> None:
    runner.serve("one", "two")
    live = runner.converse()
    live.say("first")
    session = live.next("result")["session_id"]
    live.finish()
    live = runner.converse(f"--resume={session}")
    live.say("second")
    assert live.next("result")["session_id"] == session
    live.finish()
    assert runner.requests[1].user_texts == ["first", "second"]


def test_a_signal_ends_a_host_session_with_its_code(runner: Runner) -> None:
    never = threading.Event()
    runner.serve(reply(say("half ", "whole"), hold=never, hold_after=1))
    live = runner.converse()
    live.say("first")
    runner.server.wait_for(1)
    os.kill(live.pid, signal.SIGTERM)
    assert live.next("result")["is_error"] is True
    ran = live.finish()
    assert ran.code == 143, ran


def test_a_signal_at_rest_ends_a_host_session(runner: Runner) -> None:
    runner.serve("done")
    live = runner.converse()
    live.say("hello")
    live.next("result")
    os.kill(live.pid, signal.SIGTERM)
    assert live.process.wait(PATIENCE) == 143
    assert "Traceback" not in live.finish().stderr
