"""A subagent: its own context and log, its parent's prefix, and an answer that comes back."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from crewbench import CrewModel, asked_of, crew_session, delegating, in_loop, results_of
from detent.session.reading import read_log
from detent.testing.script import Call, Reply
from detent.types.agents import AgentEnded, AgentStarted
from detent.types.budget import Budget
from detent.types.events import CallEnded, Nested, Opened, Prompted, Replied
from detent.types.outcomes import text_of

GO = "Go."


def one_child(answer: str = "Forty-two.") -> CrewModel:
    return CrewModel({GO: [delegating("Count."), "Done."], "Count.": [answer]})


@in_loop
async def test_its_last_words_are_the_result(tmp_path: Path) -> None:
    model = one_child()
    async with crew_session(tmp_path, model) as session:
        summary = await session.run_turn(GO)
    assert summary.text == "Done."
    told = results_of(model.requests[-1])
    assert told.startswith("Forty-two.\n\n[agent ") and "1 step, 0 tool calls" in told


@in_loop
async def test_it_sees_nothing_of_the_conversation(tmp_path: Path) -> None:
    model = one_child()
    async with crew_session(tmp_path, model) as session:
        await session.run_turn(GO)
    child = next(r for r in model.requests if asked_of(r) == "Count.")
    assert GO not in [block.text for block in child.messages[0].content]  # type: ignore[union-attr]


@in_loop
async def test_its_prompt_and_tools_are_its_parents_to_the_byte(tmp_path: Path) -> None:
    """So that the provider's cache of them serves both (F175)."""
    model = one_child()
    async with crew_session(tmp_path, model) as session:
        await session.run_turn(GO)
    parent, child = model.requests[0], model.requests[1]
    assert asked_of(child) == "Count."
    assert (child.system, child.tools) == (parent.system, parent.tools)


@in_loop
async def test_with_its_parents_context_the_request_begins_with_the_parents(tmp_path: Path) -> None:
    model = CrewModel(
        {
            "First.": ["One."],
            GO: [
                Reply(
                    (Call("delegate_agent", {"prompt": "Count.", "include_parent_context": True}),)
                ),
                "Done.",
            ],
            "Count.": ["Two."],
        }
    )
    async with crew_session(tmp_path, model) as session:
        await session.run_turn("First.")
        await session.run_turn(GO)
    parent = next(r for r in model.requests if asked_of(r) == GO)
    child = next(r for r in model.requests if asked_of(r) == "Count.")
    assert child.messages[:2] == parent.messages[:2]
    assert (child.system, child.tools) == (parent.system, parent.tools)


@in_loop
async def test_its_log_tells_whom_it_works_for(tmp_path: Path) -> None:
    async with crew_session(tmp_path, one_child()) as session:
        await session.run_turn(GO)
        started = next(e for e in session.entries if isinstance(e, AgentStarted))
        path = Path(session.path.removesuffix(".jsonl")) / "agents" / f"{started.agent}.jsonl"
    entries = read_log(str(path)).entries
    opened = entries[0]
    assert isinstance(opened, Opened) and opened.lineage is not None
    lineage = opened.lineage
    assert (lineage.root, lineage.parent, lineage.call, lineage.depth) == (session.id, "", "c1", 1)
    assert [type(e) for e in entries if isinstance(e, Prompted | Replied)] == [Prompted, Replied]


@in_loop
async def test_what_it_did_is_in_its_parents_log(tmp_path: Path) -> None:
    async with crew_session(tmp_path, one_child()) as session:
        await session.run_turn(GO)
        kinds = [type(e) for e in session.entries]
        ended = next(e for e in session.entries if isinstance(e, AgentEnded))
        assert kinds.index(AgentStarted) < kinds.index(AgentEnded) < kinds.index(CallEnded)
        assert (ended.state, ended.reason, ended.answer) == ("completed", "end_turn", "Forty-two.")
        assert (ended.steps, ended.calls, ended.spent.requests) == (1, 0, 1)
        assert session.spending()["subagents"].requests == 1
        assert session.spent.requests == 3 and session.spent.turns == 1


@in_loop
async def test_its_events_reach_the_parents_reader(tmp_path: Path) -> None:
    async with crew_session(tmp_path, one_child()) as session:
        events = [event async for event in session.send(GO)]
    nested = [event for event in events if isinstance(event, Nested)]
    assert any(isinstance(event.event, Replied) for event in nested)
    started = next(event for event in events if isinstance(event, AgentStarted))
    assert {event.agent for event in nested} == {started.agent}


@in_loop
async def test_calls_of_one_answer_run_at_the_same_time(tmp_path: Path) -> None:
    """More than calls of other tools would: each waits until all have begun."""
    prompts = [f"Part {n}." for n in range(20)]
    all_here = asyncio.Barrier(len(prompts))

    class Meeting(CrewModel):
        async def stream(self, request, deltas):  # type: ignore[no-untyped-def]
            if asked_of(request) in prompts:
                await all_here.wait()
            return await super().stream(request, deltas)

    model = Meeting({GO: [delegating(*prompts), "Done."], "*": ["Here."]})
    async with crew_session(tmp_path, model) as session:
        async with asyncio.timeout(20):
            summary = await session.run_turn(GO)
    assert len(summary.tool_results) == 20
    assert all(text_of(result.outcome).startswith("Here.") for result in summary.tool_results)


@in_loop
async def test_an_agent_goes_on_in_its_own_log(tmp_path: Path) -> None:
    """F168."""
    model = CrewModel({GO: [delegating("Count."), "Done."], "Count.": ["One."]})
    async with crew_session(tmp_path, model) as session:
        await session.run_turn(GO)
        agent = next(e.agent for e in session.entries if isinstance(e, AgentStarted))
        model._lines |= {
            "More.": [delegating("Go on counting.", resume=agent), "Done."],
            "Go on counting.": ["Two."],
        }
        await session.run_turn("More.")
        started = [e for e in session.entries if isinstance(e, AgentStarted)]
    assert [(e.agent, e.goes_on) for e in started] == [(agent, False), (agent, True)]
    child = next(r for r in model.requests if asked_of(r) == "Go on counting.")
    assert "One." in repr(child.messages), "it remembers"


@in_loop
async def test_one_that_is_unknown_is_named_with_those_there_are(tmp_path: Path) -> None:
    model = CrewModel({GO: [delegating("Count.", subagent_type="painter"), "Done."]})
    async with crew_session(tmp_path, model) as session:
        await session.run_turn(GO)
        assert not any(isinstance(e, AgentStarted) for e in session.entries)
    told = results_of(model.requests[-1])
    assert "no agent 'painter'" in told and "general-purpose, Explore" in told


@pytest.mark.parametrize(("deepest", "depths"), [(2, [1, 2]), (0, [1, 2, 3])])
@in_loop
async def test_how_deep_agents_may_start_agents(
    tmp_path: Path, deepest: int, depths: list[int]
) -> None:
    """D24: unbounded unless a bound is set."""
    model = CrewModel(
        {
            GO: [delegating("One down."), "Done."],
            "One down.": [delegating("Two down."), "Done."],
            "Two down.": [delegating("Three down."), "Done."],
            "Three down.": ["Deep enough."],
        }
    )
    found: list[int] = []

    def look(event: object) -> None:
        while isinstance(event, Nested):
            event = event.event
        if isinstance(event, AgentStarted):
            found.append(event.depth)

    async with crew_session(tmp_path, model, max_agent_depth=deepest, observers=[look]) as session:
        await session.run_turn(GO)
    assert found == depths
    if deepest:
        refused = next(r for r in reversed(model.requests) if asked_of(r) == "Two down.")
        assert "2 are the most (setting maxAgentDepth)" in results_of(refused)


@in_loop
async def test_tasks_that_the_budget_does_not_hold_are_not_begun(tmp_path: Path) -> None:
    model = CrewModel({GO: [delegating("One.", "Two.", "Three."), "Done."], "*": ["Here."]})
    budget = Budget(delegations=2)
    async with crew_session(tmp_path, model, budget=budget) as session:
        summary = await session.run_turn(GO)
        assert sum(isinstance(e, AgentStarted) for e in session.entries) == 2
    told = [text_of(result.outcome) for result in summary.tool_results]
    assert sum("Budget spent: 2 of 2 delegated tasks" in text for text in told) == 1


@in_loop
async def test_a_crash_of_one_leaves_its_siblings_alone(tmp_path: Path) -> None:
    class Falling(CrewModel):
        async def stream(self, request, deltas):  # type: ignore[no-untyped-def]
            if asked_of(request) == "Fall.":
                raise ZeroDivisionError("over the edge")
            return await super().stream(request, deltas)

    model = Falling({GO: [delegating("Fall.", "Stand."), "Done."], "Stand.": ["Still here."]})
    async with crew_session(tmp_path, model) as session:
        summary = await session.run_turn(GO)
        states = {e.state for e in session.entries if isinstance(e, AgentEnded)}
    fell, stood = (text_of(result.outcome) for result in summary.tool_results)
    assert "over the edge" in fell and stood.startswith("Still here.")
    assert states == {"failed", "completed"} and summary.text == "Done."


@pytest.mark.parametrize("kind", ["Explore", "explore", "EXPLORE"])
@in_loop
async def test_a_rule_holds_however_the_agent_is_spelled(tmp_path: Path, kind: str) -> None:
    model = CrewModel({GO: [delegating("Look.", subagent_type=kind), "Done."], "*": ["Seen."]})
    async with crew_session(tmp_path, model, disallowed_tools=("Agent(Explore)",)) as session:
        await session.run_turn(GO)
        assert not any(isinstance(e, AgentStarted) for e in session.entries)
    assert "Agent(Explore) denies it" in results_of(model.requests[-1])


@in_loop
async def test_one_that_goes_on_stays_what_it_was(tmp_path: Path) -> None:
    model = CrewModel({GO: [delegating("Look.", subagent_type="Explore"), "Done."], "*": ["Seen."]})
    async with crew_session(tmp_path, model) as session:
        await session.run_turn(GO)
        agent = next(e.agent for e in session.entries if isinstance(e, AgentStarted))
        model._lines["More."] = [delegating("Look again.", resume=agent), "Done."]
        await session.run_turn("More.")
        assert [e.kind for e in session.entries if isinstance(e, AgentStarted)] == ["Explore"] * 2
    looks = [r for r in model.requests if asked_of(r) in ("Look.", "Look again.")]
    assert looks[0].tools == looks[1].tools and looks[0].system == looks[1].system


@in_loop
async def test_a_mode_that_is_none_is_told(tmp_path: Path) -> None:
    model = CrewModel({GO: [delegating("Look.", mode="gentle"), "Done."], "*": ["Seen."]})
    async with crew_session(tmp_path, model) as session:
        await session.run_turn(GO)
    assert "No agent was started" in results_of(model.requests[-1])
    assert "gentle" in results_of(model.requests[-1])


@in_loop
async def test_what_its_task_held_it_to_holds_when_it_goes_on(tmp_path: Path) -> None:
    writes = Reply((Call("Write", {"file_path": "new", "content": "x"}),))
    model = CrewModel({GO: [delegating("Look.", mode="plan"), "Done."], "*": ["Seen."]})
    async with crew_session(tmp_path, model, permission_mode="acceptEdits") as session:
        await session.run_turn(GO)
        agent = next(e.agent for e in session.entries if isinstance(e, AgentStarted))
        model._lines |= {
            "More.": [delegating("Write.", resume=agent, mode="acceptEdits"), "Done."],
            "Write.": [writes, "Written?"],
        }
        await session.run_turn("More.")
    assert not (tmp_path / "project" / "new").exists()
