"""Subagents as people and hosts see them, with the installed command: in the background, in
frames, on stderr, and when somebody presses ctrl-c."""

from __future__ import annotations

import json
import os
import re
import secrets
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from detent.testing import Request, call, reply

from .conftest import PATIENCE, Frame, Pipe, Runner
from .crew import Model, serve
from .test_background_jobs import running_with

FREELY = ("--permission-mode", "bypassPermissions")
WITHIN = 2.0
"""Seconds in which all descendants of an interrupted run are gone."""


def agent(name: str, **more: Any) -> Any:
    given = {"description": f"about {name}", "prompt": f"TASK {name}", "name": name}
    return call("Agent", {**given, **more}, id=f"toolu_{name}")


def behind(name: str, **more: Any) -> Any:
    return agent(name, run_in_background=True, **more)


def held(text: str) -> tuple[Callable[[Request], Any], threading.Event, threading.Event]:
    """An answer that comes when the second event is set; the first is, when it was asked for."""
    asked, go_on = threading.Event(), threading.Event()

    def answer(request: Request) -> Any:
        asked.set()
        return reply(text, hold=go_on)

    return answer, asked, go_on


def says(text: str) -> Callable[[Frame], bool]:
    return lambda frame: frame["message"]["content"][0].get("text") == text


def children_of(runner: Runner) -> list[list[Frame]]:
    logs = sorted(runner.state.glob("sessions/*/*/agents/*.jsonl"))
    return [[json.loads(line) for line in log.read_text().splitlines()] for log in logs]


def read(model: Model, request: int) -> str:
    """All that the session read with this one."""
    return json.dumps(model.heard[""][request].json["messages"])


def news_in(model: Model, request: int) -> bool:
    return "has ended: completed" in read(model, request)


# The end of a turn


@pytest.mark.parametrize("output", ["text", "json", "stream-json"])
def test_a_run_goes_on_with_what_those_in_the_background_came_to(
    runner: Runner, output: str
) -> None:
    slow, asked, go_on = held("the answer is 42")

    def resting(request: Request) -> str:
        assert asked.wait(PATIENCE)
        go_on.set()
        return "I have set one to work."

    model = serve(runner, reply(behind("a")), resting, "It is 42.", a=[slow])
    ran = runner.prompt("go", output=output)
    assert ran.code == 0, ran
    assert [news_in(model, number) for number in range(3)] == [False, False, True]
    assert "the answer is 42" in read(model, 2)
    if output == "text":
        assert ran.stdout == "I have set one to work.\nIt is 42.\n"
    else:
        assert ran.result["result"] == "It is 42." and ran.result["num_turns"] == 3


def test_the_end_of_the_input_is_no_reason_not_to_wait(runner: Runner) -> None:
    slow, asked, go_on = held("the answer is 42")
    serve(runner, reply(behind("a")), "waiting", "It is 42.", a=[slow])
    live = runner.converse()
    live.say("go")
    live.end_input()
    assert asked.wait(PATIENCE)
    live.next("assistant", where=says("waiting"))
    go_on.set()
    assert live.next("result")["result"] == "It is 42."
    assert live.finish().code == 0


def test_a_host_that_says_more_need_not_wait(runner: Runner) -> None:
    slow, asked, go_on = held("the answer is 42")

    def second(request: Request) -> str:
        go_on.set()
        return "second"

    model = serve(runner, reply(behind("a")), "waiting", second, "It is 42.", a=[slow])
    live = runner.converse()
    live.say("go")
    assert asked.wait(PATIENCE)
    live.next("assistant", where=says("waiting"))
    live.say("something else")
    assert live.next("result")["result"] == "waiting"
    assert live.next("result")["result"] == "It is 42."
    assert "something else" in read(model, 2) and not news_in(model, 2) and news_in(model, 3)
    assert live.finish().code == 0


def test_who_is_ended_with_the_run_is_named(runner: Runner) -> None:
    slow, asked, go_on = held("never")

    def again(request: Request) -> Any:
        assert asked.wait(PATIENCE)
        return reply(call("Glob", {"pattern": "*.none"}))

    serve(runner, reply(behind("a")), again, a=[slow])
    ran = runner.prompt("go", "--max-turns", "2")
    go_on.set()
    assert ran.result["reason"] == "max_turns"
    (ended,) = ran.result["background_agents_ended"]
    assert ended["description"] == "about a" and Path(ended["output_file"]).is_file()
    assert f"the agent {ended['task_id']} (a) was ended with the run" in ran.stderr
    (child,) = children_of(runner)
    assert child[-1]["reason"] == "user_cancelled"


# Frames


def frames_of_a_child(runner: Runner, *flags: str) -> tuple[Model, list[Frame]]:
    (runner.work / "a.txt").write_text("hello")
    child = [reply("I look.", call("Read", {"file_path": "a.txt"}, id="toolu_in")), "it says hello"]
    model = serve(runner, reply(agent("a", subagent_type="Explore")), "done", a=child)
    ran = runner.frames("go", *flags)
    assert ran.code == 0, ran
    return model, ran.frames


def test_what_a_child_calls_stands_under_its_call(runner: Runner) -> None:
    _, frames = frames_of_a_child(runner)
    session = frames[-1]["session_id"]
    assert {frame["session_id"] for frame in frames} == {session}
    assert len({frame["uuid"] for frame in frames}) == len(frames)
    below = [frame for frame in frames if frame.get("parent_tool_use_id") == "toolu_a"]
    assert [frame["type"] for frame in below] == ["assistant", "user"]
    said, result = (frame["message"]["content"] for frame in below)
    assert [block["type"] for block in said] == ["tool_use"], "not what it says"
    assert said[0]["name"] == "Read" and below[0]["message"]["model"]
    assert result[0]["tool_use_id"] == "toolu_in" and "hello" in str(result[0]["content"])
    own = [f for f in frames if f["type"] in ("assistant", "user") and f not in below]
    assert all(frame["parent_tool_use_id"] is None for frame in own)


def test_what_it_says_is_told_when_it_is_asked_for(runner: Runner) -> None:
    _, frames = frames_of_a_child(runner, "--forward-subagent-text")
    below = [frame for frame in frames if frame.get("parent_tool_use_id") == "toolu_a"]
    told = [(f["type"], [b.get("text") for b in f["message"]["content"]]) for f in below]
    assert told == [
        ("user", ["TASK a"]),
        ("assistant", ["I look.", None]),
        ("user", [None]),
        ("assistant", ["it says hello"]),
    ]


def test_a_host_asks_for_it_at_the_start(runner: Runner) -> None:
    serve(runner, reply(agent("a")), "done", a=["child speaking"])
    live = runner.converse()
    live.control("initialize", forwardSubagentText=True)
    live.say("go")
    live.next("result")
    below = [f for f in live.finish().frames if f.get("parent_tool_use_id") == "toolu_a"]
    assert below[-1]["message"]["content"] == [{"type": "text", "text": "child speaking"}]


def test_agents_are_tasks(runner: Runner) -> None:
    _, frames = frames_of_a_child(runner)
    tasks = [frame for frame in frames if frame.get("subtype", "").startswith("task_")]
    started, progress, updated, ended = tasks
    (log,) = runner.state.glob("sessions/*/*/agents/*.jsonl")
    for frame in tasks:
        assert frame["type"] == "system"
        assert frame["task_id"] == log.stem and frame["task_type"] == "local_agent"
        assert frame["tool_use_id"] == "toolu_a" and frame["description"] == "about a"
    assert started["subtype"] == "task_started"
    assert (started["subagent_type"], started["is_backgrounded"]) == ("Explore", False)
    assert progress["subtype"] == "task_progress" and progress["last_tool_name"] == "Read"
    assert progress["usage"]["total_tokens"] == 15 and progress["usage"]["tool_uses"] == 1
    assert progress["usage"]["duration_ms"] >= 0
    assert updated["subtype"] == "task_updated"
    assert updated["patch"]["status"] == "completed" and updated["patch"]["end_time"] > 1e12
    assert ended["subtype"] == "task_notification" and ended["status"] == "completed"
    assert ended["output_file"] == str(log) and ended["summary"] == "it says hello"
    assert ended["usage"]["total_tokens"] == 30 and ended["usage"]["tool_uses"] == 1


def test_a_child_of_a_child_stands_under_the_call_of_its_own_parent(runner: Runner) -> None:
    inner = [reply(call("Glob", {"pattern": "*.none"}, id="toolu_deep")), "deep"]
    serve(
        runner, reply(agent("a")), "done", a=[reply(agent("b")), "middle"], b=inner
    )  # fmt: skip
    ran = runner.frames("go")
    under = {
        block["id"]: frame["parent_tool_use_id"]
        for frame in ran.of("assistant")
        for block in frame["message"]["content"]
        if block["type"] == "tool_use"
    }
    assert under == {"toolu_a": None, "toolu_b": "toolu_a", "toolu_deep": "toolu_b"}
    calls = [frame["tool_use_id"] for frame in ran.of("system", "task_started")]
    assert calls == ["toolu_a", "toolu_b"]
    assert [f["tool_use_id"] for f in ran.of("system", "task_notification")] == calls[::-1]


def test_the_result_has_what_children_cost_and_not_their_steps(runner: Runner) -> None:
    """`total_cost_usd` and `modelUsage`: all; `num_turns` and `usage`: its own."""
    child = [reply(call("Glob", {"pattern": "*.none"}), input=1_000, output=100), "inner"]
    serve(
        runner,
        reply(agent("a", model="claude-haiku-4-5"), input=10_000, output=1_000),
        reply("done", input=20_000, output=2_000),
        a=child,
    )
    result = runner.prompt("go").result
    own, below = result["modelUsage"][runner.model], result["modelUsage"]["claude-haiku-4-5"]
    assert (own["inputTokens"], below["inputTokens"], below["outputTokens"]) == (30_000, 1_010, 105)
    assert own["costUSD"] > 0 and below["costUSD"] > 0
    assert result["total_cost_usd"] == pytest.approx(own["costUSD"] + below["costUSD"])
    assert result["num_turns"] == 2 and result["usage"]["input_tokens"] == 30_000


def test_a_host_stops_a_task(runner: Runner) -> None:
    slow, asked, go_on = held("never")
    model = serve(runner, reply(behind("a")), "waiting", "It was stopped.", a=[slow])
    live = runner.converse()
    live.say("go")
    task = live.next("system", "task_started")["task_id"]
    assert asked.wait(PATIENCE)
    live.next("assistant", where=says("waiting"))
    assert live.control("stop_task", task_id="nobody")["subtype"] == "error"
    assert live.control("stop_task", task_id=task)["subtype"] == "success"
    result = live.next("result")
    go_on.set()
    assert result["result"] == "It was stopped." and "has ended: stopped" in read(model, -1)
    ran = live.finish()
    (ended,) = ran.of("system", "task_notification")
    assert ended["status"] == "stopped"
    (updated,) = ran.of("system", "task_updated")
    assert updated["patch"]["status"] == "killed"


def test_a_host_stops_a_job(runner: Runner) -> None:
    job = call("Bash", {"command": "sleep 600", "run_in_background": True})
    runner.serve(reply(job), "it runs")
    live = runner.converse(*FREELY)
    live.say("go")
    task = live.next("system", "task_started")["task_id"]
    live.next("result")
    assert live.control("stop_task", task_id=task)["subtype"] == "success"
    ran = live.finish()
    assert ran.code == 0 and "was ended with the run" not in ran.stderr


# What people see


def test_the_line_of_the_call_tells_what_it_came_to(runner: Runner) -> None:
    (runner.work / "a.txt").write_text("hello")
    child = [reply(call("Read", {"file_path": "a.txt"})), "it says hello"]
    serve(runner, reply(agent("a", subagent_type="Explore")), "done", a=child)
    ran = runner.prompt("go", "--verbose", output="text")
    assert ran.stdout == "done\n"
    began, looked, ended = ran.stderr.splitlines()
    assert began == "  → Agent Explore: about a"
    assert re.fullmatch(r"    ✓ a: Read a\.txt · \d+ ms", looked)
    assert re.fullmatch(
        r"  ✓ Agent about a · \d+ ms · 2 steps, 1 call, 30 tokens, \$0\.\d{4}", ended
    )


def test_the_end_of_one_in_the_background_has_a_line_of_its_own(runner: Runner) -> None:
    serve(runner, reply(behind("a")), *["waiting", "done"], a=["it says hello"])
    lines = runner.prompt("go", "--verbose", output="text").stderr.splitlines()
    assert re.fullmatch(r"  ✓ Agent about a · \d+ ms · in the background", lines[1]), lines
    told = r"  ✓ a has ended · \d+ ms · 1 step, 0 calls, 15 tokens, \$0\.\d{4}"
    assert any(re.fullmatch(told, line) for line in lines), lines


def test_a_graph_tells_how_far_it_is(runner: Runner) -> None:
    children = [{"name": name, "prompt": f"TASK {name}"} for name in ("x", "y")]
    graph = call("delegate_agent", {"groups": [{"name": "g", "children": children}]})
    serve(runner, reply(graph), "done", x=["1"], y=["2"])
    lines = runner.prompt("go", "--verbose", output="text").stderr.splitlines()
    assert lines[0] == "  → delegate_agent 2 children in 1 group"
    assert sorted(line[:20] for line in lines[1:3]) == [
        "    … 1 of 2 ended; ",
        "    … 2 of 2 ended; ",
    ]
    assert re.search(r"2 steps, 0 calls, 30 tokens", lines[-1])


def test_the_tree_of_a_session(runner: Runner) -> None:
    """F024: also when no model can be had."""
    serve(runner, reply(agent("a")), "done", a=[reply(agent("b")), "middle"], b=["deep"])
    runner.prompt("go")
    no_key = {"ANTHROPIC_API_KEY": None, "ANTHROPIC_BASE_URL": None}
    ran = runner.run("-p", "/agents", "-c", env=no_key)
    assert ran.code == 0, ran
    above, below = ran.stdout.splitlines()
    assert above.startswith("└─ ✓ general-purpose  about a (a) · 2 steps · 1 call · 45 tokens · $")
    assert below.startswith("   └─ ✓ general-purpose  about b (b) · 1 step · 0 calls · 15 tokens")
    fresh = runner.run("-p", "/agents", env=no_key)
    assert fresh.stdout == "No agents have worked for this session.\n"
    late = runner.run("-p", "/agents send a more", "-c", env=no_key)
    assert late.code == 2 and "nobody is at work here" in late.stderr
    wrong = runner.run("-p", "/agents begin a", "-c", env=no_key)
    assert wrong.code == 2 and "`stop ID`, or `send ID TEXT`; not 'begin a'" in wrong.stderr


def test_a_person_sends_and_stops(runner: Runner) -> None:
    first, asked, go_on = held("never")
    serve(runner, reply(behind("a")), "waiting", a=[first])
    live = runner.converse()
    live.say("go")
    assert asked.wait(PATIENCE)
    live.say("/agents")
    live.next("result", where=lambda frame: frame["result"] == "waiting")
    told = live.next("result")["result"]
    task = re.search(r"At work:\n  (\S+)  general-purpose a", told)
    assert task is not None and "▶ general-purpose  about a (a) · running" in told
    live.say(f"/agents send {task[1]} look left")
    assert live.next("result")["result"] == f"a ({task[1]}) reads it before its next step."
    live.say("/agents stop a")
    assert live.next("result")["result"] == f"a ({task[1]}) is stopped."
    live.say("/agents stop a")
    assert live.next("result")["result"] == f"a ({task[1]}) had ended already: stopped."
    live.say("/agents")
    ended = live.next("result")["result"]
    assert ended.endswith(f"\n\nEnded:\n  {task[1]}  general-purpose a"), "it may be sent more"
    live.say("/agents stop nobody")
    wrong = live.next("result")
    assert wrong["is_error"] and f"Known agents: {task[1]} (a)" in wrong["result"]
    go_on.set()
    told_of = live.finish().of("system", "task_notification")
    assert [(one["task_id"], one["status"]) for one in told_of] == [(task[1], "stopped")], (
        "it ended between two turns"
    )


# Ctrl-c


@pytest.mark.parametrize("how", ["foreground", "background"])
def test_ctrl_c_ends_every_descendant(runner: Runner, pipe: Pipe, how: str) -> None:
    """A child of a child runs a command: all end within two seconds, the log says so, and the
    session goes on."""
    marker = f"marker-{secrets.token_hex(8)}"
    sleep = f"echo begun > {pipe.path}; exec python3 -c 'import time; time.sleep(600)' {marker}"
    begin = agent if how == "foreground" else behind
    inner = [reply(call("Bash", {"command": sleep, "timeout": 600_000}, id="toolu_deep"))]
    rests = threading.Event()

    def resting(request: Request) -> str:
        rests.set()
        return "waiting"

    outer = [reply(begin("b")), *([] if how == "foreground" else ["I wait"])]
    session = [reply(begin("a")), *([] if how == "foreground" else [resting])]
    model = serve(runner, *session, "So it was stopped.", a=outer, b=inner)
    live = runner.start("-p", "go", "--output-format", "json", *FREELY)
    assert pipe.line() == "begun"
    if how == "background":
        assert rests.wait(PATIENCE)
    since = time.monotonic()
    os.kill(live.pid, signal.SIGINT)
    assert live.wait() == 130
    took = time.monotonic() - since
    assert took < WITHIN and running_with(marker) == []
    (log,) = runner.logs
    entries = runner.entries(log.stem)
    begun = [entry["agent"] for entry in entries if entry["type"] == "agentstarted"]
    ended = {e["agent"]: e["state"] for e in entries if e["type"] == "agentended"}
    assert ended == dict.fromkeys(begun, "stopped") and len(begun) == 1
    logs = children_of(runner)
    assert len(logs) == 2
    for child in logs:
        started = {e["call_id"] for e in child if e["type"] == "callstarted"}
        assert started == {e["call_id"] for e in child if e["type"] == "callended"}
        last = [entry for entry in child if entry["type"] != "agentended"][-1]
        assert last["type"] == "turnended" and last["reason"] == "user_cancelled"
        names = {e["agent"] for e in child if e["type"] == "agentstarted"}
        assert names == {e["agent"] for e in child if e["type"] == "agentended"}
    result = runner.prompt("what now?", "-c").result
    assert result["result"] == "So it was stopped."
    assert "toolu_a" in read(model, -1)
