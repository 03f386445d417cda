"""An agent that goes on is the one that it was: its model, its effort, what becomes of its
worktree, and what it was told and did not come to hear."""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from crewbench import CrewModel, Lines, asked_of, crew_session, delegating, in_loop, results_of
from detent.app.agents.hiring import FRAMES, _going_on
from detent.app.agents.logs import own
from detent.app.agents.mending import Past
from detent.app.agents.running import BRIEFING
from detent.ports.delegation import Assignment
from detent.session.reading import read_log
from detent.testing.script import Call, Reply
from detent.types.agents import NOT_STARTED, AgentEnded, AgentRecord, AgentStarted, GroupEnded
from detent.types.content import Text
from detent.types.events import CallEnded, CallStarted, Entry, Prompted, Reminded
from detent.types.messages import Request
from detent.types.outcomes import Failed, done, text_of
from detent.types.verdicts import Allow

GO = "Go."


def sends(to: str, message: str) -> Reply:
    return Reply((Call("SendMessage", {"to": to, "message": message}),))


def delegates(*children: Any, **more: Any) -> Reply:
    return Reply((Call("delegate_agent", {"children": children, **more}, id=f"d{len(more)}"),))


def repository(folder: Path) -> Path:
    folder.mkdir()
    who = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    for words in (["init", "-q"], ["commit", "-qm", "one", "--allow-empty"]):
        subprocess.run(["git", *who, *words], cwd=folder, check=True)
    return folder


def test_what_its_task_said_counts_still() -> None:
    known = AgentRecord(
        agent="a", kind="k", wanted_model="haiku", effort="low", at_end="keep", worktree="/w",
    )  # fmt: skip
    again = _going_on(Assignment(prompt="More."), known)
    assert (again.model, again.effort, again.at_end) == ("haiku", "low", "keep")
    assert (again.isolation, again.prompt) == ("worktree", "More.")
    given = Assignment(prompt="", model="opus", effort="high", at_end="discard")
    other = _going_on(given, replace(known, unread=("Port 81.",)))
    assert (other.model, other.effort, other.at_end) == ("opus", "high", "discard")
    assert other.prompt == "Port 81.\n\nGo on with your task."


@in_loop
async def test_what_it_was_told_and_did_not_hear_it_hears_when_it_goes_on(tmp_path: Path) -> None:
    """It was stopped before its next step."""
    heard: list[str] = []

    class Slow(CrewModel):
        async def stream(self, request: Request, deltas: Any) -> Any:
            asked = asked_of(request)
            if asked == "Work.":
                await asyncio.Event().wait()
            heard.append(asked)
            return await super().stream(request, deltas)

    lines: dict[str, Lines] = {
        GO: [
            delegating("Work.", name="a", run_in_background=True),
            sends("a", "The port is 81."),
            Reply((Call("TaskStop", {"task_id": "a"}),)),
            sends("a", "And now go on."),
            "Done.",
        ],
        "*": ["It is done."],
    }
    async with crew_session(tmp_path, Slow(lines), waits_for_agents=True) as session:
        await session.run_turn(GO)
        ended = [entry for entry in session.entries if isinstance(entry, AgentEnded)]
        assert [entry.unread for entry in ended] == [("The port is 81.",), ()]
        assert "The port is 81.\n\nAnd now go on." in heard


def test_after_a_crash_messages_that_it_did_not_hear_are_found(tmp_path: Path) -> None:
    def sent(call: str, to: str, text: str, **ended: Any) -> list[Entry]:
        arguments = f'{{"recipient": "{to}", "message": "{text}"}}'
        start = CallStarted(
            call_id=call, name="SendMessage", arguments=arguments, effects=(), verdict=Allow("r")
        )
        outcome = ended.get("outcome", done("read before its next step"))
        return [start, CallEnded(call_id=call, name="SendMessage", outcome=outcome)]

    begun = AgentStarted(agent="agent_1", kind="k", call_id="c", name="scout")
    above: list[Entry] = [
        *sent("1", "scout", "of an earlier run"), begun, *sent("2", "scout", "heard"),
        *sent("3", "agent_1", "not heard"), *sent("4", "other", "to another"),
        *sent("5", "scout", "never sent", outcome=Failed("no")), *sent("6", "scout", "nor this"),
    ]  # fmt: skip
    past = Past([str(tmp_path)], "agent_1", lambda model, usage: 0.0)
    past.entries = [Prompted(turn=1, content=(Text("heard"),), steered=True)]
    record = AgentRecord(agent="agent_1", kind="k", name="scout")
    assert past.unread(record, above) == ("not heard", "nor this")


@pytest.mark.parametrize("turns", [1, 2])
@in_loop
async def test_who_knows_what_its_parent_knows_is_told_what_it_is(
    tmp_path: Path, turns: int
) -> None:
    """Also from the second turn on, when that knows of turns."""
    group = delegates({"prompt": "Look.", "name": "kid", "include_parent_context": True})
    lines: dict[str, Lines] = {"Hello.": ["Hi."], GO: [group, "Done."], "Look.": ["Seen."]}
    async with crew_session(tmp_path, CrewModel(lines)) as session:
        for prompt in ["Hello."] * (turns - 1) + [GO]:
            await session.run_turn(prompt)
        (record,) = session.subagents
    entries = own(read_log(record.session_path).entries)
    assert [entry.text for entry in entries if isinstance(entry, Reminded)][:1] == [BRIEFING]


@in_loop
async def test_one_that_cannot_begin_is_in_the_log_and_stays_failed(tmp_path: Path) -> None:
    results: list[str] = []

    def last(request: Request) -> str:
        results.append(results_of(request))
        return "Done."

    again = Reply((Call("delegate_agent", {"resume_group_id": "d0"}, id="d1"),))
    group = delegates(
        {"prompt": "Look.", "name": "poet", "subagent_type": "poet"},
        {"prompt": "Look.", "name": "kid"},
    )
    lines: dict[str, Lines] = {GO: [group, again, last], "Look.": ["Seen."]}
    async with crew_session(tmp_path, CrewModel(lines)) as session:
        await session.run_turn(GO)
        poets = [one for one in session.subagents if one.name == "poet"]
        (poet,) = poets
        assert (poet.state, poet.stop_reason) == ("failed", NOT_STARTED)
        assert "There is no agent 'poet'" in poet.error
        (ended,) = [entry for entry in session.entries if isinstance(entry, GroupEnded)]
        assert (ended.completed, ended.failed, ended.batches) == (1, 1, 1)
        assert session.spent.delegations == 1, "one that never began costs nothing"
        nodes, _ = await session.agent_tree()
        assert {node.record.name: node.trouble for node in nodes} == {"poet": "", "kid": ""}
    assert "There is no agent 'poet'" in results[0]


@pytest.mark.parametrize("name", ["main", "parent"])
@in_loop
async def test_addresses_are_no_names(tmp_path: Path, name: str) -> None:
    lines: dict[str, Lines] = {GO: [delegating("A.", name=name), "Done."], "*": ["x"]}
    async with crew_session(tmp_path, CrewModel(lines)) as session:
        await session.run_turn(GO)
        assert [one.name for one in session.subagents] == [f"{name}-2"]


@in_loop
async def test_the_session_reaches_one_that_works_for_another(tmp_path: Path) -> None:
    at_work, told = asyncio.Event(), asyncio.Event()
    read: list[str] = []

    class Slow(CrewModel):
        async def stream(self, request: Request, deltas: Any) -> Any:
            asked = asked_of(request)
            if asked == GO and len(request.messages) == 3:
                await at_work.wait()
            if asked == "Deep." and not at_work.is_set():
                at_work.set()
                await told.wait()
            if asked == GO and len(request.messages) == 5:
                read.append(results_of(request))
                told.set()
            if asked == "Deep.":
                read.append(str(request.messages[-1]))
            return await super().stream(request, deltas)

    look = Reply((Call("Glob", {"pattern": "*"}),))
    lines: dict[str, Lines] = {
        GO: [
            delegating("Lead.", name="lead", run_in_background=True),
            sends("deep", "Hurry."),
            ".",
        ],
        "Lead.": [delegating("Deep.", name="deep"), "Led."],
        "Deep.": [look, "Seen."],
    }
    async with crew_session(tmp_path, Slow(lines), waits_for_agents=True) as session:
        await session.run_turn(GO)
    assert read[0] == "deep reads it before its next step."
    assert any("[Message of the main session, not of the user:]\\nHurry." in one for one in read)


@in_loop
async def test_nesting_ends_with_a_word_before_the_stack_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the library nothing else bounds it."""
    monkeypatch.setattr("detent.app.agents.hiring.sys.getrecursionlimit", lambda: 6 * FRAMES)
    deepest: list[str] = []

    def line(request: Request) -> Reply | str:
        if said := results_of(request):
            deepest.append(said)
            return "Up."
        return delegating(f"Level {len(asked_of(request))}")

    async with crew_session(tmp_path, CrewModel({"*": [line]})) as session:
        await session.run_turn(GO)
    assert "it would be too deep. Do it yourself." in deepest[0]
    assert len(deepest) == 7


@in_loop
async def test_one_that_is_stopped_before_its_work_is_merged_is_not_done(tmp_path: Path) -> None:
    """Whoever reads the log must not take it for merged; it goes on from there, and then is."""
    project = repository(tmp_path / "project")
    writes = Reply((Call("Write", {"file_path": "new.txt", "content": "made"}),))
    lines: dict[str, Lines] = {
        GO: [delegating("Make.", name="a", isolation="worktree"), "Done."],
        "Make.": [writes, "Made."],
        "Again.": [
            Reply((Call("Agent", {"description": "d", "prompt": "On.", "resume": "a"}),)),
            ".",
        ],
        "On.": ["It was made."],
    }
    made = project / "new.txt"
    given = {"permission_mode": "bypassPermissions"}
    async with crew_session(tmp_path, CrewModel(lines), **given) as session:
        staff = session._engine.shop.agents
        taken = await staff.crew.sharing.locks.take([str(made)])  # type: ignore[attr-defined]

        async def stop_when_it_waits() -> None:
            locks = staff.crew.sharing.locks  # type: ignore[attr-defined]
            while not locks._waiting[str(made)]:
                await asyncio.sleep(0.01)
            session.interrupt()

        stopping = asyncio.create_task(stop_when_it_waits())
        await session.run_turn(GO)
        await stopping
        (record,) = session.subagents
        assert record.state == "stopped", record
        assert record.answer.startswith("Made.\n\n[It was stopped before all was merged")
        assert record.worktree in record.answer and not made.exists()
        (ended,) = [e for e in session.entries if isinstance(e, CallEnded)]
        assert f"Agent with `resume` {record.agent} lets it go on." in text_of(ended.outcome)
        staff.crew.sharing.locks.give_back(taken)  # type: ignore[attr-defined]
        await session.run_turn("Again.")
        (record,) = session.subagents
        assert record.state == "completed" and "Merged from its worktree: new.txt" in record.answer
        assert made.read_text() == "made"
