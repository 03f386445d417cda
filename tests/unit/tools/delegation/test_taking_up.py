"""A group that was cut off: what is done is not done again, what was cut off goes on."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from typing import Any

from crewbench import in_loop
from delegationbench import BenchAgents, Delegation
from detent.ports.delegation import CannotDelegate
from detent.types.agents import AgentRecord, State
from detent.types.outcomes import Done, Failed, text_of

FIRST = {
    "groups": [
        {
            "name": "g",
            "children": [
                {"name": "a", "prompt": "do a"},
                {"name": "b", "prompt": "do b", "depends_on": ["a"], "subagent_type": "explore"},
                {"name": "c", "prompt": "do c"},
                {"name": "d", "prompt": "do d", "depends_on": ["c"]},
            ],
        },
        {"name": "h", "children": [{"name": "e", "prompt": "do e"}], "depends_on": ["g"]},
    ]
}
CALLS = {
    "call_0": json.dumps(FIRST),
    "call_1": json.dumps({"resume_group_id": "call_0/g"}),
    "call_bash": '{"command": "ls"}',
}


def earlier(name: str, index: int, state: State, **facts: Any) -> AgentRecord:
    return AgentRecord(
        agent=f"agent_{name}",
        kind="general-purpose",
        name=name,
        state=state,
        group_id="call_0/g",
        child_index=index,
        **facts,
    )


A = earlier("a", 0, "completed", answer="found by a", turns=1)
B = earlier("b", 1, "interrupted", turns=4)
C = earlier("c", 2, "failed", error="no luck")
D = earlier("d", 3, "skipped", stop_reason="its dependency `c` failed")


def taken_up(agents: BenchAgents, group: str = "call_0", **more: Any) -> Delegation:
    return Delegation(agents, {"resume_group_id": group, **more}, "call_2")


@in_loop
async def test_what_is_done_stays_done_and_the_rest_goes_on() -> None:
    agents = BenchAgents(CALLS, [A, B])
    call = taken_up(agents)
    assert await call.settle() == ["b", "c"]
    assert agents.given["b"].resume == "agent_b"
    assert agents.given["b"].prompt.startswith("You were cut off.")
    assert "do b" in agents.given["b"].prompt and "found by a" in agents.given["b"].prompt
    assert agents.given["b"].group == "call_0/g" and agents.given["b"].index == 1
    assert agents.given["c"].resume == "" and agents.given["c"].prompt == "do c"
    agents.end("b")
    agents.end("c")
    assert await call.settle() == ["d"]
    agents.end("d")
    assert await call.settle() == ["e"]
    assert agents.given["e"].group == "call_0/h"
    agents.end("e")
    outcome = await call.outcome()
    assert isinstance(outcome, Done)
    assert "## a: completed (agent_a; 1 step" in text_of(outcome)
    assert "found by a" in text_of(outcome)
    assert "5 of 5 completed" in text_of(outcome)
    assert "a" not in agents.given
    ended = agents.groups["call_0/g"]
    assert (ended.completed, ended.call_id, ended.batches) == (4, "call_2", 2)


@in_loop
async def test_failures_are_tried_again_only_when_asked_for() -> None:
    agents = BenchAgents(CALLS, [A, earlier("b", 1, "completed"), C, D])
    outcome = await taken_up(agents).outcome()
    assert not agents.begun
    assert agents.skipped["d"] == "its dependency `c` failed"
    assert '"resume_group_id": "call_0" and "retry_failed": true' in text_of(outcome)

    agents = BenchAgents(CALLS, [A, earlier("b", 1, "completed"), C, D])
    call = taken_up(agents, retry_failed=True)
    assert await call.settle() == ["c"]
    assert agents.given["c"].resume == "agent_c"
    agents.end("c")
    assert await call.settle() == ["d"]
    assert agents.given["d"].resume == "", "it had never begun"
    agents.end("d")
    await call.settle()
    agents.end("e")
    await call.outcome()


@in_loop
async def test_by_the_group_or_by_a_call_that_took_it_up_before() -> None:
    for group in ("call_0/g", "call_0/h", "call_1", "call_1/g"):
        agents = BenchAgents(CALLS, [A, earlier("b", 1, "completed"), earlier("c", 2, "completed")])
        call = taken_up(agents, group)
        assert await call.settle() == ["d"], group
        assert agents.given["d"].group == "call_0/g"
        agents.end("d")
        await call.settle()
        agents.end("e")
        await call.outcome()


@in_loop
async def test_other_groups_beside_it_are_not_looked_at() -> None:
    other = {"groups": [{"children": ["something else"]}]}
    calls = CALLS | {"call_1": json.dumps({"resume_group_id": "call_0", **other})}
    done = [A, *(earlier(name, n, "completed") for n, name in enumerate("bcd", 1))]
    agents = BenchAgents(calls, done)
    call = taken_up(agents, "call_1", **other)
    assert await call.settle() == ["e"]
    agents.end("e")
    assert "was not looked at" in text_of(await call.outcome())


@in_loop
async def test_a_group_that_is_done_is_not_told_of_again() -> None:
    done = [A, *(earlier(name, n, "completed") for n, name in enumerate("bcd", 1))]
    agents = BenchAgents(CALLS, done)
    call = taken_up(agents)
    assert await call.settle() == ["e"]
    assert not agents.groups
    agents.end("e")
    await call.outcome()
    assert set(agents.groups) == {"call_0/h"}


@in_loop
async def test_one_whose_log_is_gone_begins_again() -> None:
    class Forgetful(BenchAgents):
        async def run(self, assignment: Any, call_id: str, *more: Any) -> AgentRecord:
            if assignment.resume:
                raise CannotDelegate("its log cannot be read")
            return await super().run(assignment, call_id, *more)

    agents = Forgetful(CALLS, [A, B])
    call = taken_up(agents)
    assert await call.settle() == ["b", "c"]
    assert agents.given["b"].prompt.startswith("do b")
    for names in (["b", "c"], ["d"], ["e"]):
        for name in names:
            agents.end(name)
        await call.settle()
    assert "5 of 5 completed" in text_of(await call.outcome())


@in_loop
async def test_what_cannot_be_taken_up() -> None:
    for group in ("call_9", "call_bash", "nothing/g"):
        outcome = await taken_up(BenchAgents(CALLS), group).outcome()
        assert isinstance(outcome, Failed)
        assert f"there is no group {group} to go on with." in outcome.text
    outcome = await taken_up(BenchAgents(CALLS, [earlier("a", 0, "running")])).outcome()
    assert isinstance(outcome, Failed) and "is still at work: `a`" in outcome.text


@in_loop
async def test_two_calls_at_once_do_not_go_on_with_the_same() -> None:
    agents = BenchAgents(CALLS, [A, B])
    call = taken_up(agents)
    second = Delegation(agents, {"resume_group_id": "call_0/g"}, "call_3")
    outcome = await second.outcome()
    assert isinstance(outcome, Failed) and "call_0 is still at work" in outcome.text
    assert await call.settle() == ["b", "c"]
    call.task.cancel()
    with suppress(asyncio.CancelledError):
        await call.task
    assert set(agents.cancelled) == {"b", "c"}
    agents.begun.clear(), agents.groups.clear()
    assert await taken_up(agents).settle() == ["b", "c"], "and it can be gone on with"
