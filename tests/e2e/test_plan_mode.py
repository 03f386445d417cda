"""Plan mode, in and out: what may run when, and who decides."""

from typing import Any

import pytest

from detent.testing import call, reply

from .conftest import BOTH_WIRES, Frame, Live, Runner

ASKS_HOST = ("--permission-prompt-tool", "stdio")
PLAN = call("ExitPlanMode", plan="1. write a")


def write(name: str = "a") -> Any:
    return call("Write", file_path=name, content=name)


def asked(live: Live) -> Frame:
    return live.next("control_request", where=lambda f: f["request"]["subtype"] == "can_use_tool")


def modes(frames: list[Frame]) -> list[str]:
    return [frame["permissionMode"] for frame in frames if frame.get("subtype") == "status"]


def approve(live: Live, **more: Any) -> None:
    question = asked(live)
    assert question["request"]["tool_name"] == "ExitPlanMode"
    given = {**question["request"]["input"], **more.pop("changes", {})}
    live.answer(question, behavior="allow", updatedInput=given, **more)


@BOTH_WIRES
def test_from_the_idea_to_the_work(runner: Runner) -> None:
    """Entered in one answer with a write behind it: that is judged in the new mode already."""
    (runner.work / "seen").write_text("hello")
    runner.serve(
        reply(call("EnterPlanMode"), write()),
        reply(call("Read", file_path="seen"), call("Bash", command="touch b"), PLAN),
        reply(write()),
        "done",
    )
    live = runner.converse(*ASKS_HOST, "--permission-mode", "acceptEdits")
    live.say("do it")
    live.answer(asked(live), behavior="deny", message="later")  # the touch
    approve(live)
    assert live.next("result")["result"] == "done"
    ran = live.finish()
    assert ran.code == 0, ran
    entered, early = runner.requests[1].tool_results
    assert "plan mode now" in entered.text
    assert early.text == "Not run. In plan mode nothing is written; present the plan instead."
    read, touched, left = runner.requests[2].tool_results
    assert "hello" in read.text
    assert "needs permission" in touched.text
    assert left.text == "The plan was approved. You are in acceptEdits mode now: go on."
    assert "Created" in runner.requests[3].tool_results[0].text
    assert (runner.work / "a").read_text() == "a"
    assert modes(ran.frames) == ["plan", "acceptEdits"]
    (data,) = [r["data"] for r in ran.tool_results if r["data"] and "plan" in r["data"]]
    assert data == {"plan": "1. write a", "filePath": None}
    kinds = [e["mode"] for e in runner.entries(ran.result["session_id"]) if e["type"] == "switched"]
    assert kinds == ["plan", "acceptEdits"]


@BOTH_WIRES
def test_a_plan_that_is_refused_leaves_the_mode_as_it_is(runner: Runner) -> None:
    runner.serve(reply(PLAN), reply(write()), "I see")
    live = runner.converse(*ASKS_HOST, "--permission-mode", "plan")
    live.say("do it")
    live.answer(asked(live), behavior="deny", message="Tests first.")
    live.next("result")
    ran = live.finish()
    assert "Tests first." in runner.requests[1].tool_results[0].text
    assert "In plan mode" in runner.requests[2].tool_results[0].text
    assert modes(ran.frames) == []
    assert not (runner.work / "a").exists()


@pytest.mark.parametrize(
    ("answer", "mode"),
    [
        ({}, "default"),
        ({"changes": {"mode": "acceptEdits"}}, "acceptEdits"),
        ({"updatedPermissions": [{"type": "setMode", "mode": "acceptEdits"}]}, "acceptEdits"),
        ({"updatedPermissions": [{"type": "setMode", "mode": "other"}, 7]}, "default"),
    ],
    ids=["plain", "input", "update", "unknown"],
)
def test_the_host_chooses_the_mode_behind_the_plan(runner: Runner, answer: Any, mode: str) -> None:
    runner.serve(reply(PLAN), reply(write()), "done")
    live = runner.converse(*ASKS_HOST, "--permission-mode", "plan")
    live.say("do it")
    approve(live, **answer)
    if mode == "default":
        assert asked(live)["request"]["tool_name"] == "Write"
        live.end_input()
    ran = live.finish()
    assert f"You are in {mode} mode now" in runner.requests[1].tool_results[0].text
    assert modes(ran.frames) == [mode]
    assert (runner.work / "a").exists() is (mode == "acceptEdits")


def test_a_model_cannot_choose_it(runner: Runner) -> None:
    wish = call("ExitPlanMode", plan="1. write a", mode="acceptEdits")
    runner.serve(reply(wish), "done")
    live = runner.converse(*ASKS_HOST, "--permission-mode", "plan")
    live.say("do it")
    approve(live, changes={"planFilePath": "/x"})
    live.next("result")
    assert modes(live.finish().frames) == ["default"]


def test_a_plan_changed_by_the_host(runner: Runner) -> None:
    runner.serve(reply(PLAN), "done")
    live = runner.converse(*ASKS_HOST, "--permission-mode", "plan")
    live.say("do it")
    approve(live, changes={"plan": "1. write b"})
    live.next("result")
    live.finish()
    assert runner.requests[1].tool_results[0].text.endswith("to follow:\n\n1. write b")


def test_outside_plan_mode_nobody_is_asked(runner: Runner) -> None:
    runner.serve(reply(PLAN), "done")
    live = runner.converse(*ASKS_HOST)
    live.say("do it")
    live.next("result")
    ran = live.finish()
    assert not ran.of("control_request")
    assert "You are not in plan mode" in runner.requests[1].tool_results[0].text


def test_the_host_switches_and_the_way_back_is_remembered(runner: Runner) -> None:
    runner.serve("hello", reply(PLAN), "done")
    live = runner.converse(*ASKS_HOST, "--permission-mode", "acceptEdits")
    live.say("hello")
    live.next("result")
    live.control("set_permission_mode", mode="plan")
    live.say("do it")
    assert live.next("system", "init")["permissionMode"] == "plan"
    approve(live)
    live.next("result")
    assert modes(live.finish().frames) == ["acceptEdits"]
