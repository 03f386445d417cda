"""delegate_agent from outside: who begins when, as the log tells it, and after `kill -9`."""

from __future__ import annotations

import os
import re
import signal
import threading
from collections.abc import Callable
from typing import Any

import pytest

from detent.testing import Request, call, fault, reply

from .conftest import PATIENCE, Frame, Runner


def child(name: str, *depends_on: str) -> Frame:
    return {"name": name, "prompt": f"TASK {name}", "depends_on": list(depends_on)}


def group(*children: Frame, name: str = "g", **more: Any) -> Frame:
    return {"name": name, "children": list(children), **more}


class Model:
    """Answers the session in order, and each child by its task. Keeps who has asked."""

    def __init__(self, *session: Any, **children: Callable[[], Any]) -> None:
        self._session = iter(session)
        self.children = children
        self._lock = threading.Lock()
        self.asked: list[str] = []
        """The tasks of the children, in the order in which they asked."""
        self.prompts: dict[str, str] = {}
        self.results: list[str] = []

    def __call__(self, request: Request) -> Any:
        text = "\n".join(request.user_texts)
        name = text.partition("TASK ")[2][:1]
        with self._lock:
            if not name:
                self.results += [result.text for result in request.tool_results]
                said = next(self._session)
                return said() if callable(said) else said
            self.asked.append(name)
            self.prompts[name] = text
        return self.children.get(name, lambda: f"answer of {name}")()


def delegated(*groups: Frame, **more: Any) -> Any:
    return reply(call("delegate_agent", {"groups": list(groups), **more}, id="toolu_1"))


def entries(runner: Runner, kind: str) -> list[Frame]:
    (log,) = runner.logs
    return [entry for entry in runner.entries(log.stem) if entry["type"] == kind]


def timeline(runner: Runner) -> list[str]:
    """`a` begins, `-a` ends; in the order of the log."""
    (log,) = runner.logs
    names: dict[str, str] = {}
    told: list[str] = []
    for entry in runner.entries(log.stem):
        if entry["type"] == "agentstarted":
            names[entry["agent"]] = entry["name"]
            told.append(entry["name"])
        elif entry["type"] == "agentended":
            told.append(f"-{names[entry['agent']]}")
    return told


def test_a_diamond_runs_its_middle_together(runner: Runner) -> None:
    """Neither of the two in the middle is answered before both have asked."""
    both, asked = threading.Event(), list[str]()

    def meet() -> Any:
        asked.append("one more")
        if len(asked) == 2:
            both.set()
        return reply("met", hold=both)

    model = Model(
        delegated(group(child("a"), child("b", "a"), child("c", "a"), child("d", "b", "c"))),
        "all done",
        b=meet,
        c=meet,
    )
    runner.serve(*[model] * 6)
    ran = runner.frames("go")
    assert ran.code == 0, ran
    assert "4 of 4 completed" in model.results[0], model.results
    told = timeline(runner)
    assert told[:2] == ["a", "-a"] and sorted(told[2:4]) == ["b", "c"], told
    assert told[-2:] == ["d", "-d"] and sorted(told[4:6]) == ["-b", "-c"], told
    assert "answer of a" in model.prompts["b"]
    assert model.prompts["d"].count("met") == 2
    (ended,) = entries(runner, "groupended")
    assert ended["group"] == "toolu_1/g"
    assert (ended["completed"], ended["batches"], ended["largest_batch"]) == (4, 3, 2)
    assert {e["group"] for e in entries(runner, "agentstarted")} == {"toolu_1/g"}
    assert sorted(e.get("index", 0) for e in entries(runner, "agentstarted")) == [0, 1, 2, 3]
    (result,) = ran.tool_results
    assert result["data"]["groups"][0]["completed"] == 4


def test_a_child_does_not_wait_for_those_that_it_does_not_depend_on(runner: Runner) -> None:
    """The slow one is answered only when the dependent one has asked."""
    has_asked = threading.Event()

    def slow() -> Any:
        return reply("at last", hold=has_asked)

    def dependent() -> str:
        has_asked.set()
        return "at once"

    model = Model(
        delegated(group(child("s"), child("a"), child("b", "a"))), "done", s=slow, b=dependent
    )
    runner.serve(*[model] * 5)
    assert runner.frames("go").code == 0
    told = timeline(runner)
    assert told.index("-a") < told.index("b") < told.index("-s"), told


def test_a_failed_child_and_what_depends_on_it(runner: Runner) -> None:
    model = Model(
        delegated(
            group(child("a"), child("b", "a"), child("c")),
            group(child("d"), name="h", depends_on=["g"]),
        ),
        "well",
        a=lambda: fault(400, body={"type": "error", "error": {"message": "no"}}),
    )
    runner.serve(*[model] * 4)
    ran = runner.frames("go")
    assert ran.code == 0, ran
    assert sorted(model.asked) == ["a", "c"]
    skipped = {
        entry["reason"] for entry in entries(runner, "agentended") if entry["state"] == "skipped"
    }
    assert skipped == {
        "its dependency `a` failed",
        "its dependency, group `g`, was not done (`a` failed)",
    }
    assert "answer of c" in model.results[0] and "## a: failed" in model.results[0]
    numbers = {
        ended["group"]: (ended.get("completed", 0), ended.get("failed", 0), ended["skipped"])
        for ended in entries(runner, "groupended")
    }
    assert numbers == {"toolu_1/g": (1, 1, 1), "toolu_1/h": (0, 0, 1)}


def test_a_graph_that_cannot_be(runner: Runner) -> None:
    model = Model(delegated(group(child("a", "b"), child("b", "a"), child("c", "x"))), "oh")
    runner.serve(*[model] * 2)
    assert runner.frames("go").code == 0
    assert model.results[0].startswith("delegate_agent: `c` depends on `x`, which is not there.")
    assert not entries(runner, "agentstarted")


def test_a_child_goes_on_from_an_earlier_one(runner: Runner) -> None:
    def again() -> Any:
        agent = re.search(r"completed \((\S+);", model.results[0])
        assert agent is not None
        more = {"name": "more", "prompt": "and then?", "resume_session_id": agent[1]}
        return reply(call("delegate_agent", {"children": [more]}))

    model = Model(delegated(group(child("a"))), again, "done")
    runner.serve(*[model] * 5)
    assert runner.frames("go").code == 0
    assert model.asked == ["a", "a"], "it knows its task"
    assert model.prompts["a"].endswith("and then?")
    first, second = entries(runner, "agentstarted")
    assert first["agent"] == second["agent"] and second["goes_on"]


@pytest.mark.parametrize(
    ("sent", "state"), [(signal.SIGKILL, "interrupted"), (signal.SIGINT, "stopped")]
)
def test_a_group_that_was_cut_off_goes_on(runner: Runner, sent: int, state: str) -> None:
    """a is done, b is at work, c has not begun: then `kill -9`, or ctrl-c."""
    at_work, never = threading.Event(), threading.Event()

    def stuck() -> Any:
        at_work.set()
        return reply("b is done", hold=never)

    graph = group(child("a"), child("b", "a"), child("c", "b"))
    resume = reply(call("delegate_agent", {"resume_group_id": "toolu_1"}, id="toolu_2"))
    model = Model(delegated(graph), resume, "all is done", b=stuck)
    runner.serve(*[model] * 20)
    live = runner.start("-p", "go", "--output-format", "stream-json")
    assert at_work.wait(PATIENCE)
    os.kill(live.pid, sent)
    live.wait()
    never.set()
    assert timeline(runner)[:3] == ["a", "-a", "b"] and len(model.asked) == 2

    model.children["b"] = lambda: "b is done"
    ran = runner.frames("go on", "-c")
    assert ran.code == 0, ran
    told, result = model.results
    assert f"- a: completed: answer of a\n- b: {state} (" in told
    assert "- c: not begun" in told and '"resume_group_id": "toolu_1"' in told
    assert model.asked == ["a", "b", "b", "c"], "what is done is not done again"
    assert "3 of 3 completed" in result and "answer of a" in result and "b is done" in result
    assert timeline(runner) == ["a", "-a", "b", "-b", "b", "-b", "c", "-c"]
    states = [entry["state"] for entry in entries(runner, "agentended")]
    assert states == ["completed", state, "completed", "completed"]
    started = entries(runner, "agentstarted")
    assert started[1]["agent"] == started[2]["agent"] and started[2]["goes_on"]
    ended = entries(runner, "groupended")[-1]
    assert (ended["group"], ended["completed"]) == ("toolu_1/g", 3)
