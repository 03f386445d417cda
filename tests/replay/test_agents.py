"""Sessions with subagents, played again: to the byte, whoever worked for them meanwhile."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from crewbench import CrewModel, crew_session, delegating, in_loop
from detent.app.replay.report import Report
from detent.app.replay.session import replay
from detent.sdk.session import Session
from detent.testing.script import Call, Reply, Usage
from detent.types.agents import AgentEnded, AgentStarted
from detent.types.budget import Budget

GO = "Go."


def family(**given: Any) -> CrewModel:
    """One that asks two, of whom one asks a third."""
    return CrewModel(
        {
            GO: [delegating("One.", "Two."), "Done."],
            "One.": [delegating("Three."), "1"],
            "Two.": [Reply((Call("Bash", {"command": "echo two"}),)), "2"],
            "Three.": ["3"],
            "More.": ["more"],
        },
        **given,
    )


def logs_of(session: Session) -> list[str]:
    """Its own, then those of all who worked for it."""
    path = Path(session.path)
    return [str(path), *map(str, sorted((path.with_suffix("") / "agents").glob("*.jsonl")))]


def checked(path: str) -> Report:
    report = replay(path)
    assert report.difference is None, report
    return report


async def run(session: Session, *prompts: str) -> list[str]:
    async with session:
        for prompt in prompts:
            await session.run_turn(prompt)
    return logs_of(session)


@in_loop
async def test_a_session_and_all_who_worked_for_it(tmp_path: Path) -> None:
    session = crew_session(tmp_path, family(), permission_mode="bypassPermissions")
    logs = await run(session, GO, "More.")
    assert len(logs) == 4
    for log in logs:
        assert (await asyncio.to_thread(checked, log)).unchecked == 0


@in_loop
async def test_agents_in_the_background_and_their_news(tmp_path: Path) -> None:
    model = CrewModel(
        {
            GO: [delegating("One.", "Two.", run_in_background=True), "Started.", "Heard."],
            "One.": ["1"],
            "Two.": ["2"],
            "More.": ["more"],
        }
    )
    session = crew_session(tmp_path, model)
    async with session:
        await session.run_turn(GO)
        while sum(isinstance(entry, AgentEnded) for entry in session.entries) < 2:
            await asyncio.sleep(0.01)
        await session.run_turn("More.")
    for log in logs_of(session):
        assert (await asyncio.to_thread(checked, log)).unchecked == 0


@in_loop
async def test_a_limit_that_is_met_because_of_others(tmp_path: Path) -> None:
    """Each request takes 15 tokens: with its four children the session is over 80."""
    model = CrewModel({GO: [delegating(*"abcd"), "Done."], "*": ["x"]})
    session = crew_session(tmp_path, model, budget=Budget(tokens=70))
    logs = await run(session, GO)
    assert session.entries[-1].reason == "budget_exceeded"  # type: ignore[union-attr]
    assert (await asyncio.to_thread(checked, logs[0])).unchecked == 0


@in_loop
async def test_the_number_of_delegated_tasks_is_a_limit_in_a_replay_too(tmp_path: Path) -> None:
    model = CrewModel({GO: [delegating(*"abcd"), "Done."], "*": ["x"]})
    session = crew_session(tmp_path, model, budget=Budget(delegations=2))
    logs = await run(session, GO)
    assert sum(isinstance(entry, AgentStarted) for entry in session.entries) == 2
    for log in logs:
        assert (await asyncio.to_thread(checked, log)).unchecked == 0


@in_loop
async def test_a_child_that_its_parents_account_has_stopped_is_not_checked(tmp_path: Path) -> None:
    """Nobody can tell from its log when the others had spent all."""
    bash = Reply((Call("Bash", {"command": "true"}),), usage=Usage(100, 100))
    model = CrewModel({GO: [delegating("One."), "Done."], "One.": [bash]})
    session = crew_session(
        tmp_path, model, budget=Budget(tokens=500), permission_mode="bypassPermissions"
    )
    own, child = await run(session, GO)
    assert (await asyncio.to_thread(checked, own)).unchecked == 0
    assert (await asyncio.to_thread(checked, child)).unchecked > 0


@in_loop
async def test_a_group_that_was_interrupted(tmp_path: Path) -> None:
    begun = asyncio.Event()

    def stuck(request: object) -> Reply:
        begun.set()
        return Reply((Call("Bash", {"command": "sleep 60"}),))

    model = CrewModel({GO: [delegating("One.", "Two.")], "One.": ["1"], "Two.": [stuck]})
    model._lines["More."] = ["more"]
    session = crew_session(tmp_path, model, permission_mode="bypassPermissions")
    async with session:
        turn = asyncio.create_task(session.run_turn(GO))
        await begun.wait()
        session.interrupt()
        await turn
        await session.run_turn("More.")
    for log in logs_of(session):
        assert (await asyncio.to_thread(checked, log)).unchecked == 0
