"""A session that is interrupted at any moment: whoever began has an end, and nobody works on."""

from __future__ import annotations

import asyncio
from pathlib import Path

from crewbench import CrewModel, crew_session, delegating, in_loop
from detent.session.agent_records import fold
from detent.session.reading import read_log
from detent.testing.script import Call, Reply
from detent.types.agents import AgentEnded, AgentStarted
from detent.types.budget import Spent

GO = "Go."


def family() -> CrewModel:
    group = Reply((Call("delegate_agent", {"children": ["D.", "E."]}),))
    return CrewModel(
        {
            GO: [delegating("A.", "B."), group, delegating("F.", run_in_background=True), "Done."],
            "A.": [delegating("C."), "a"],
            "*": [Reply((Call("TaskCreate", {"subject": "s", "description": "d"}),)), "x"],
            "Again.": ["again"],
        }
    )


def test_everything_has_its_end(tmp_path: Path) -> None:
    """A moment is a round of the event loop."""

    async def interrupted_after(rounds: int, folder: Path) -> bool:
        """Whether it had not come to its end before."""
        before = asyncio.all_tasks()
        session = crew_session(folder, family())
        async with session:
            turn = asyncio.create_task(session.run_turn(GO))
            for _ in range(rounds):
                await asyncio.sleep(0)
            was_running = session.interrupt()
            await turn
            await session.run_turn("Again.")
        spent, told = session.spent, sum(session.spending().values(), Spent())
        begun = [e.agent for e in session.entries if isinstance(e, AgentStarted)]
        ended = [e.agent for e in session.entries if isinstance(e, AgentEnded)]
        assert sorted(begun) == sorted(ended), rounds
        for log in (Path(session.path).with_suffix("") / "agents").glob("*.jsonl"):
            entries = read_log(str(log)).entries
            assert not [r for r in fold(entries).values() if r.state == "running"], rounds
        amounts = [(one.delegations, one.requests, one.calls) for one in (spent, told)]
        assert amounts[0] == amounts[1], rounds
        assert asyncio.all_tasks() == before, rounds
        return was_running

    @in_loop
    async def run() -> None:
        rounds, late = 0, 0
        while late < 3:  # threads have a part in it: some runs take more rounds than others
            place = tmp_path / str(rounds)
            place.mkdir()
            late += not await interrupted_after(rounds, place)
            rounds += 2
        assert rounds > 100

    run()


@in_loop
async def test_one_that_never_came_to_begin_costs_nothing(tmp_path: Path) -> None:
    """It waited for its place, or its model could not be had."""
    calls = (*delegating("A.", "B.").calls, Call("Agent", {"description": "d", "prompt": "C.",
             "resume": "agent_of_nobody"}, id="c3"))  # fmt: skip
    waiting = asyncio.Event()

    async def held(self: CrewModel, request: object, deltas: object) -> object:
        waiting.set()
        return await asyncio.Event().wait()

    model = CrewModel({GO: [Reply(calls)]})
    settings = {"maxConcurrentAgents": 1}
    session = crew_session(tmp_path, model, settings=settings)
    async with session:
        turn = asyncio.create_task(session.run_turn(GO))
        while not model.requests:
            await asyncio.sleep(0)
        model.stream = held.__get__(model)  # type: ignore[method-assign]
        await waiting.wait()
        session.interrupt()
        await turn
    assert session.spent.delegations == 1
    assert session.spending()["subagents"].delegations == 1
