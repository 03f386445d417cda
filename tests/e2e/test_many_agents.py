"""Many agents in one process: all at the same time, on three levels, and gone with it."""

from __future__ import annotations

import json
import os
import select
import signal
import threading
from typing import Any

from detent.sdk.replay import verify
from detent.testing import Call, Reply, Request, call, reply

from .conftest import PATIENCE, Frame, Runner
from .crew import Unanswered

CHILDREN = 20
BREADTH = 5
ALL = BREADTH + BREADTH**2 + BREADTH**3


def agents(scenario: str, count: int) -> tuple[Call, ...]:
    return tuple(
        call("Agent", description=f"{scenario} {n}", prompt=f"SCENARIO:{scenario} {n}")
        for n in range(count)
    )


def timeline(entries: list[Frame]) -> str:
    """`+` begins, `-` ends."""
    signs = {"agentstarted": "+", "agentended": "-"}
    return "".join(signs.get(entry["type"], "") for entry in entries)


def test_twenty_children_are_at_work_at_the_same_time(runner: Runner) -> None:
    """None of them is answered before all of them have asked."""
    asked, all_there = list[Request](), threading.Event()

    def answer(request: Request) -> Reply:
        asked.append(request)
        if len(asked) == CHILDREN:
            all_there.set()
        return reply("the answer", hold=all_there)

    lead = [reply(*agents("child", CHILDREN)), "all of them answered"]
    runner.serve(scenarios={"lead": lead, "child": [answer]}, pick="by_turn")
    ran = runner.prompt("SCENARIO:lead go")
    assert (ran.code, ran.result["result"]) == (0, "all of them answered")
    (log,) = runner.logs
    entries = runner.entries(log.stem)
    assert timeline(entries) == "+" * CHILDREN + "-" * CHILDREN
    results = [entry for entry in entries if entry["type"] == "callended"]
    assert len(results) == CHILDREN
    assert all("the answer" in str(entry["outcome"]) for entry in results)


def test_three_levels_of_five_on_one_budget(runner: Runner) -> None:
    """155 agents, and the session itself: each asks once for each answer that it needs."""
    lists: dict[str, list[Any]] = {
        "lead": [reply(*agents("high", BREADTH)), "done"],
        "high": [reply(*agents("middle", BREADTH)), "done"],
        "middle": [reply(*agents("low", BREADTH)), "done"],
        "low": [reply("the answer", input=100, output=10)],
    }
    runner.serve(scenarios=lists, pick="by_turn")
    ran = runner.prompt("SCENARIO:lead go", "--max-tokens", "1000000")
    assert (ran.code, ran.result["result"]) == (0, "done")
    (log,) = runner.logs
    below = sorted((log.with_suffix("") / "agents").glob("*.jsonl"))
    assert len(below) == ALL
    assert len(runner.requests) == ALL + 1 + BREADTH**2 + BREADTH + 1
    ended = [entry for entry in runner.entries(log.stem) if entry["type"] == "agentended"]
    each = [entry["spent"]["requests"] for entry in ended]
    assert each == [2 + BREADTH * (2 + BREADTH)] * BREADTH
    for path in (log, *below[:3], *below[-3:]):
        report = verify(str(path))
        assert report.unchecked == 0, report


def test_a_budget_stops_the_whole_tree(runner: Runner) -> None:
    """Every request takes 15 tokens. Nobody begins one when they are spent."""
    lists: dict[str, list[Any]] = {
        "lead": [reply(*agents("high", BREADTH)), "done"],
        "high": [reply(*agents("low", BREADTH)), "done"],
        "low": [reply(call("Read", file_path="a")), reply(call("Read", file_path="b")), "done"],
    }
    runner.serve(scenarios=lists, pick="by_turn")
    ran = runner.prompt("SCENARIO:lead go", "--max-tokens", "300")
    assert (ran.code, ran.result["subtype"]) == (4, "error_during_execution")
    in_flight = BREADTH * BREADTH
    assert len(runner.requests) <= 300 // 15 + in_flight
    (log,) = runner.logs
    ended = [entry for entry in runner.entries(log.stem) if entry["type"] == "agentended"]
    assert len(ended) == BREADTH


def test_killed_it_takes_everybody_along(runner: Runner) -> None:
    """What children have started is gone, too."""
    busy = call("Bash", command="echo $PPID >> ready; sleep 600")
    lists: dict[str, list[Any]] = {
        "lead": [reply(*agents("high", 2))],
        "high": [reply(*agents("low", 2))],
        "low": [reply(busy)],
    }
    runner.serve(scenarios=lists, pick="by_turn")
    live = runner.start("-p", "SCENARIO:lead go", "--permission-mode", "bypassPermissions")
    ready = runner.work / "ready"
    waited = threading.Event()
    for _ in range(int(PATIENCE / 0.02)):
        if ready.exists() and len(ready.read_text().split()) == 4:
            break
        waited.wait(0.02)
    pids = descendants(live.pid)
    assert len(pids) >= 4
    handles = [os.pidfd_open(pid) for pid in pids]
    os.kill(live.pid, signal.SIGKILL)
    live.wait()
    for handle in handles:
        assert select.select([handle], [], [], PATIENCE)[0], "it has outlived its session"
        os.close(handle)


def descendants(pid: int) -> list[int]:
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        below = [int(one) for one in file.read().split()]
    return [*below, *(one for each in below for one in descendants(each))]


def test_the_one_last_answer_of_a_spent_budget_is_the_sessions(runner: Runner) -> None:
    """Else each agent would go beyond it anew."""
    look = reply(call("Glob", pattern="*"))
    lead = [reply(*agents("child", BREADTH)), "what there is"]
    runner.serve(scenarios={"lead": lead, "child": [look, "more"]}, pick="by_turn")
    flags = ("--max-model-calls", str(1 + BREADTH), "--on-budget", "wrap_up")
    ran = runner.prompt("SCENARIO:lead go", *flags)
    assert ran.code == 4, ran
    assert ran.result["result"] == "what there is"
    assert ran.result["budget"]["used"]["model_calls"] == 2 + BREADTH


def test_what_agents_have_spent_that_were_killed_counts_at_once(runner: Runner) -> None:
    """Nothing is written for that: it is only looked at."""
    hang = Unanswered()
    look = reply(call("Glob", pattern="*"))
    lead = [reply(*agents("child", 1)), "done"]
    runner.serve(scenarios={"lead": lead, "child": [look, look, hang]}, pick="by_turn")
    live = runner.start("-p", "SCENARIO:lead go")
    assert hang.asked.wait(PATIENCE)
    live.kill()
    (log,) = runner.logs
    before = log.read_bytes()
    usage = [e["usage"] for path in (log, *log.with_suffix("").glob("agents/*.jsonl"))
             for line in path.read_text().splitlines()
             if (e := json.loads(line))["type"] == "replied"]  # fmt: skip
    spent = sum(one.get("input", 0) + one.get("output", 0) for one in usage)
    assert len(usage) == 3 and spent
    head, child = runner.run("agents", "tree").stdout.splitlines()
    assert f" {spent} tokens " in head and "interrupted · 2 steps" in child
    rows = [line.split() for line in runner.run("-p", "-c", "/budget").stdout.splitlines()]
    assert [row[1] for row in rows if row[:1] == ["tokens"]] == [str(spent)], rows
    assert log.read_bytes() == before
