"""delegate_agent: children begin when what they depend on is done, and none harms another."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from crewbench import in_loop
from delegationbench import BenchAgents, Delegation
from detent.ports.delegation import CannotDelegate
from detent.types.agents import AgentRecord
from detent.types.effects import Spawns
from detent.types.outcomes import Done, Failed, text_of


def child(name: str, *depends_on: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "prompt": f"do {name}", "depends_on": list(depends_on), **more}


def group(name: str, *children: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"name": name, "children": list(children), **more}


def graph(*groups: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"groups": list(groups), **more}


DIAMOND = graph(group("g", child("a"), child("b", "a"), child("c", "a"), child("d", "b", "c")))


@in_loop
async def test_a_diamond_runs_its_middle_together() -> None:
    agents = BenchAgents()
    call = Delegation(agents, DIAMOND)
    assert await call.settle() == ["a"]
    agents.end("a")
    assert await call.settle() == ["b", "c"]
    agents.end("b")
    assert await call.settle() == ["c"], "d needs both"
    agents.end("c")
    assert await call.settle() == ["d"]
    agents.end("d")
    outcome = await call.outcome()
    assert isinstance(outcome, Done) and outcome.data is not None
    ended = agents.groups["call_1/g"]
    assert (ended.completed, ended.failed, ended.skipped) == (4, 0, 0)
    assert (ended.batches, ended.largest_batch) == (3, 2)
    assert outcome.data["groups"][0]["largestBatch"] == 2
    assert outcome.data["totalSteps"] == 8
    assert "4 of 4 completed; in all 8 steps, 12 tool calls, 400 tokens, $0.0400." in text_of(
        outcome
    )
    assert "resume_group_id" not in text_of(outcome)


@in_loop
async def test_a_child_waits_for_its_own_dependencies_only() -> None:
    agents = BenchAgents()
    slow = [child(f"slow-{n}") for n in range(3)]
    call = Delegation(agents, graph(group("g", child("a"), *slow, child("b", "a"))))
    await call.settle()
    agents.end("a")
    begun_at = agents.turn
    assert await call.settle() == ["b", "slow-0", "slow-1", "slow-2"]
    assert agents.begun["b"] - begun_at <= 1, "in the turn in which its dependency ended"
    for name in list(agents.running):
        agents.end(name)
    await call.outcome()
    assert agents.groups["call_1/g"].batches == 2
    assert agents.groups["call_1/g"].largest_batch == 4


@in_loop
async def test_groups_depend_on_groups_and_children() -> None:
    agents = BenchAgents()
    call = Delegation(
        agents,
        graph(
            group("last", child("z"), depends_on=["first", "y"]),
            group("first", child("a"), child("b")),
            group("other", child("x"), child("y", "a")),
        ),
    )
    assert await call.settle() == ["a", "b", "x"]
    agents.end("a")
    assert await call.settle() == ["b", "x", "y"]
    agents.end("y")
    assert await call.settle() == ["b", "x"]
    agents.end("b")
    assert await call.settle() == ["x", "z"], "x is of nobody's concern"
    assert set(agents.groups) == {"call_1/first"}, "a group is told of when it ends"
    agents.end("z")
    agents.end("x")
    await call.outcome()
    assert set(agents.groups) == {"call_1/first", "call_1/last", "call_1/other"}


@in_loop
async def test_answers_are_given_on() -> None:
    agents = BenchAgents()
    call = Delegation(
        agents,
        graph(
            group("g", child("a"), child("b")),
            group("s", child("c"), child("d"), strategy="serial", depends_on="a"),
            group("h", child("e", "g", "b")),
        ),
    )
    await call.settle()
    agents.end("a", answer="A" * 40_000)
    agents.end("b", answer="short of b")
    await call.settle()
    agents.end("c", answer="of c")
    await call.settle()
    assert agents.given["a"].prompt == "do a"
    assert agents.given["e"].prompt.startswith("do e\n\nAnswers of the agents")
    assert "## b\nshort of b" in agents.given["e"].prompt
    assert agents.given["e"].prompt.count("## b") == 1
    assert 10_000 < len(agents.given["e"].prompt) < 16_500
    assert "40,000 characters in all" in agents.given["e"].prompt
    assert "## c\nof c" in agents.given["d"].prompt
    assert "## a" in agents.given["d"].prompt
    assert "## b" not in agents.given["d"].prompt
    agents.end("d")
    agents.end("e")
    await call.outcome()


@in_loop
async def test_what_depends_on_a_failure_is_skipped_and_says_why() -> None:
    agents = BenchAgents()
    call = Delegation(
        agents,
        graph(
            group("g", child("a"), child("b", "a"), child("c", "b"), child("free")),
            group("h", child("d", "g")),
        ),
    )
    await call.settle()
    agents.fail("a", "no network")
    assert await call.settle() == ["free"], "siblings go on"
    assert agents.skipped == {
        "b": "its dependency `a` failed",
        "c": "its dependency `b` was skipped (`a` failed)",
        "d": "its dependency, group `g`, was not done (`a` failed)",
    }
    agents.end("free")
    outcome = await call.outcome()
    text = text_of(outcome)
    assert isinstance(outcome, Done)
    assert "1 of 5 completed" in text
    assert (
        "# group g (parallel): 1 completed, 1 failed, 2 skipped; 1 batch, the largest of 2" in text
    )
    assert "## a: failed (agent_1; 2 steps, 3 tool calls, 100 tokens, $0.0100, 1.5 s)" in text
    assert "[failed: no network]" in text
    assert "## c: skipped\nNot begun: its dependency `b` was skipped (`a` failed)." in text
    assert '"resume_group_id": "call_1" and "retry_failed": true' in text
    assert agents.groups["call_1/h"].skipped == 1


@in_loop
async def test_a_serial_group_halts_at_its_first_failure() -> None:
    agents = BenchAgents()
    call = Delegation(agents, {"children": ["one", "two", "three"], "strategy": "serial"})
    assert await call.settle() == ["child-1"]
    agents.end("child-1")
    assert await call.settle() == ["child-2"]
    assert "## child-1\nanswer of child-1" in agents.given["child-2"].prompt
    agents.fail("child-2")
    await call.settle()
    assert agents.skipped == {"child-3": "its dependency `child-2` failed"}
    await call.outcome()
    ended = agents.groups["call_1/group-1"]
    assert (ended.strategy, ended.batches, ended.largest_batch) == ("serial", 2, 1)


@in_loop
async def test_a_serial_group_that_goes_on() -> None:
    agents = BenchAgents()
    call = Delegation(
        agents, {"children": ["1", "2", "3"], "strategy": "serial", "continue_on_error": True}
    )
    await call.settle()
    agents.fail("child-1")
    assert await call.settle() == ["child-2"]
    assert "Answers" not in agents.given["child-2"].prompt
    agents.end("child-2")
    assert await call.settle() == ["child-3"]
    agents.end("child-3")
    await call.outcome()


@in_loop
async def test_more_failures_than_may_be_halt_a_group_and_no_other() -> None:
    agents = BenchAgents()
    call = Delegation(
        agents,
        graph(
            group("g", *(child(f"g{n}") for n in range(4)), child("late", "g3"), max_failures=1),
            group("other", child("o"), child("p", "o")),
        ),
    )
    await call.settle()
    agents.fail("g0")
    await call.settle()
    assert not agents.skipped
    agents.fail("g1")
    assert await call.settle() == ["g2", "g3", "o"], "what runs goes on"
    assert agents.skipped == {"late": "group `g` was halted: `g0`, `g1` failed"}
    agents.end("o")
    assert await call.settle() == ["g2", "g3", "p"]
    for name in ("g2", "g3", "p"):
        agents.end(name)
    await call.outcome()


@in_loop
async def test_failures_that_may_be_do_not_hold_up_what_depends_on_the_group() -> None:
    agents = BenchAgents()
    tolerant = group("g", child("a"), child("b"), child("c"), max_failures=1)
    call = Delegation(agents, graph(tolerant, group("h", child("d", "g"))))
    await call.settle()
    agents.fail("a")
    agents.end("b")
    assert await call.settle() == ["c"]
    agents.end("c")
    assert await call.settle() == ["d"]
    assert "## a" not in agents.given["d"].prompt and "## b" in agents.given["d"].prompt
    agents.end("d")
    await call.outcome()


@pytest.mark.parametrize("how", [{"max_failures": 0}, {"continue_on_error": False}])
@in_loop
async def test_failures_of_the_whole_call(how: dict[str, Any]) -> None:
    agents = BenchAgents()
    call = Delegation(
        agents, graph(group("g", child("a")), group("h", child("b"), child("c", "b")), **how)
    )
    await call.settle()
    agents.fail("a")
    assert await call.settle() == ["b"]
    assert agents.skipped == {"c": "the call was halted: `a` failed"}
    agents.end("b")
    await call.outcome()


@in_loop
async def test_one_that_cannot_be_had_or_breaks_does_not_touch_the_others() -> None:
    agents = BenchAgents()
    agents.unfit["a"] = CannotDelegate("There is no agent 'poet'.")
    call = Delegation(
        agents,
        graph(group("g", child("a"), child("b"), child("c"), child("d"), child("e", "a"))),
    )
    assert await call.settle() == ["b", "c", "d"]
    agents.burst("b", ValueError("oh"))
    agents.burst("c", asyncio.CancelledError())
    assert await call.settle() == ["d"]
    agents.end("d", "stopped", answer="half of it", stop_reason="user_cancelled")
    outcome = await call.outcome()
    assert isinstance(outcome, Failed), "nothing was completed"
    assert "## a: failed\n[failed: not started: There is no agent 'poet'.]" in outcome.text
    assert "[failed: ValueError: oh]" in outcome.text
    assert "[failed: it was cancelled]" in outcome.text
    assert "half of it\n\n[stopped]" in outcome.text
    assert agents.skipped == {"e": "its dependency `a` failed"}
    assert agents.groups["call_1/g"].failed == 4


@in_loop
async def test_cancelling_the_call_ends_all_and_tells_how_far_it_came() -> None:
    agents = BenchAgents()
    call = Delegation(
        agents,
        graph(group("g", child("a"), child("b"), child("c"), child("d", "b"))),
    )
    await call.settle()
    agents.end("a")
    await call.settle()
    call.task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call.task
    assert sorted(agents.cancelled) == ["b", "c"]
    assert "d" not in agents.begun
    assert agents.groups["call_1/g"].completed == 1
    assert call.so_far() == (
        "- a: completed: answer of a\n"
        "- b: stopped (agent_2)\n"
        "- c: stopped (agent_3)\n"
        "- d: not begun\n"
        'delegate_agent with "resume_group_id": "call_1" goes on: what is completed is not done '
        "again."
    )


@in_loop
async def test_nothing_begins_in_a_cancelled_call() -> None:
    class Stubborn(BenchAgents):
        """Whoever is cancelled comes to its end all the same."""

        async def run(self, assignment: Any, call_id: str, *more: Any) -> AgentRecord:
            try:
                return await super().run(assignment, call_id, *more)
            except asyncio.CancelledError:
                return AgentRecord(agent="agent_1", kind="k", state="completed")

    agents = Stubborn()
    call = Delegation(agents, DIAMOND)
    await call.settle()
    call.task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call.task
    assert set(agents.begun) == {"a"}


@in_loop
async def test_what_each_child_is_given() -> None:
    agents = BenchAgents()
    wishes = {
        "description": "look around", "subagent_type": "explore", "model": "m", "max_turns": "3",
        "resume_session_id": "agent_9", "isolation": "worktree", "effort": "low",
    }  # fmt: skip
    call = Delegation(
        agents, graph(group("g", child("a", **wishes), child("b")), include_parent_context=True)
    )
    await call.settle()
    given = agents.given["a"]
    assert (given.prompt, given.kind, given.description) == ("do a", "explore", "look around")
    assert (given.model, given.max_turns, given.resume) == ("m", 3, "agent_9")
    assert (given.isolation, given.effort, given.with_context) == ("worktree", "low", True)
    assert (given.group, given.index, given.siblings) == ("call_1/g", 0, 2)
    assert agents.given["b"].index == 1
    assert call.effects == (Spawns("explore"), Spawns("general-purpose"))
    assert call.progress == ["a: at work", "b: at work"]
    agents.end("a")
    agents.end("b")
    await call.outcome()


@in_loop
async def test_long_answers_share_the_room_and_lie_whole_in_a_file() -> None:
    agents = BenchAgents()
    call = Delegation(agents, {"children": ["1", "2", "3"]})
    await call.settle()
    agents.end("child-1", answer="x" * 50_000)
    agents.end("child-2", answer="all of it")
    agents.end("child-3", answer="y" * 50_000)
    outcome = await call.outcome()
    text = text_of(outcome)
    assert 26_000 < len(text) < 28_000
    assert "\nall of it\n" in text
    assert abs(text.count("x") - text.count("y")) < 10
    path = "/outputs/delegate_agent-call_1.txt"
    assert f" is in {path}: use Read or Grep on it]" in text
    assert call.shop.outputs.text(path).count("x") >= 50_000
    assert isinstance(outcome, Done) and outcome.data is not None
    children = outcome.data["groups"][0]["children"]
    assert [len(each["content"][0]["text"]) for each in children] == [50_000, 9, 50_000]


@in_loop
async def test_two_hundred_children() -> None:
    agents = BenchAgents()
    call = Delegation(agents, {"children": [f"task {n}" for n in range(200)]})
    assert len(await call.settle()) == 200
    for name in agents.running:
        agents.end(name, answer="z" * 1_000)
    outcome = await call.outcome()
    assert "## child-200: completed" in text_of(outcome)
    assert len(text_of(outcome)) < 29_000


@in_loop
async def test_whoever_waits_for_a_place_does_not_begin_in_a_group_that_was_halted() -> None:
    agents = BenchAgents()
    agents.places = asyncio.Semaphore(2)
    call = Delegation(agents, graph(group("g", *map(child, "abcde"), max_failures=0)))
    assert await call.settle() == ["a", "b"]
    agents.fail("a")
    assert await call.settle() == ["b"], "there is a place, but nobody is wanted any more"
    agents.end("b")
    await call.outcome()
    assert agents.skipped == dict.fromkeys("cde", "group `g` was halted: `a` failed")
    ended = agents.groups["call_1/g"]
    assert (ended.completed, ended.failed, ended.skipped) == (1, 1, 3)
    assert (ended.batches, ended.largest_batch) == (1, 2)


@in_loop
async def test_batches_are_what_really_begins_together() -> None:
    agents = BenchAgents()
    agents.places = asyncio.Semaphore(3)
    call = Delegation(agents, graph(group("g", *map(child, "abcdefh"))))
    while running := await call.settle():
        agents.end(running[0])
    await call.outcome()
    ended = agents.groups["call_1/g"]
    assert (ended.completed, ended.batches, ended.largest_batch) == (7, 5, 3)
