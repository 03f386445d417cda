"""A session goes on whose program died while subagents worked for it."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from crewbench import CrewModel, Lines, crew_session, delegating, in_loop, results_of
from detent.app.options import Options
from detent.app.replay.session import replay
from detent.sdk.session import Session
from detent.session.reading import read_log
from detent.testing.script import Call, Reply, Usage
from detent.types.agents import AgentEnded, AgentStarted
from detent.types.budget import Budget, Spent
from detent.types.events import CallEnded, Entry, Reminded
from detent.types.outcomes import text_of

GO, AGAIN = "Go.", "Again."
LOOK = Reply((Call("Bash", {"command": "true"}),), usage=Usage(100, 10))


class Barred(CrewModel):
    """Whoever is to say WAIT never does."""

    def __init__(self, lines: dict[str, Lines]) -> None:
        super().__init__(lines)
        self.waiting: set[str] = set()

    async def stream(self, request: Any, deltas: Any) -> Any:
        reply = await super().stream(request, deltas)
        if reply.content and getattr(reply.content[0], "text", "").startswith("WAIT"):
            self.waiting.add(reply.content[0].text)  # type: ignore[union-attr]
            await asyncio.Event().wait()
        return reply


async def killed(tmp_path: Path, model: Barred, waiting: int, ended: int = 1) -> str:
    """The session as it is on disk when so many wait and so many have ended: in `dead`."""
    session = crew_session(tmp_path, model, permission_mode="bypassPermissions")
    async with session:
        turn = asyncio.create_task(session.run_turn(GO))
        await reached(lambda: len(model.waiting) == waiting and len(ends(session.entries)) == ended)
        shutil.copytree(tmp_path / "home", tmp_path / "dead")
        session.interrupt()
        await turn
    return session.id


async def reached(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0.005)


def revived(tmp_path: Path, model: CrewModel, session: str, **given: Any) -> Session:
    environ = {
        "HOME": str(tmp_path), "DETENT_HOME": str(tmp_path / "dead"), "PATH": "/usr/bin:/bin",
    }  # fmt: skip
    options = Options(
        model=model, cwd=str(tmp_path / "project"), environ=environ, resume=session, max_turns=30,
        permission_mode="bypassPermissions", **given,
    )  # fmt: skip
    return Session(options)


def timeless(spent: Spent) -> Spent:
    return replace(spent, seconds=0.0)


def ends(entries: Any) -> list[AgentEnded]:
    return [entry for entry in entries if isinstance(entry, AgentEnded)]


def log_of(session: Session, agent: str) -> list[Entry]:
    folder = Path(session.path).with_suffix("") / "agents"
    return list(read_log(str(folder / f"{agent}.jsonl")).entries)


def two(second: Lines) -> dict[str, Lines]:
    return {GO: [delegating("One.", "Two.")], "One.": ["1"], "Two.": second, AGAIN: ["done"]}


@in_loop
async def test_who_was_at_work_is_interrupted_and_who_had_ended_is_not(tmp_path: Path) -> None:
    dead = await killed(tmp_path, Barred(two([LOOK, "WAIT"])), 1)
    model = CrewModel({AGAIN: ["done"]})
    async with revived(tmp_path, model, dead) as session:
        await session.run_turn(AGAIN)
        first, second = ends(session.entries)
        assert (first.state, first.answer, second.state) == ("completed", "1", "interrupted")
        assert (second.steps, second.calls) == (1, 1)
        assert second.spent == Spent(usage=second.spent.usage, requests=1, calls=1, unpriced=110)
        told = results_of(model.requests[0])
        assert "1\n" in told and f"`resume` {second.agent}" in told
        assert timeless(session.spent) == timeless(sum(session.spending().values(), Spent()))
    report = await asyncio.to_thread(replay, session.path)
    assert (report.difference, report.unchecked) == (None, 0)


@in_loop
async def test_what_those_below_have_spent_is_counted_once(tmp_path: Path) -> None:
    """The session asks One, One asks Two; both are cut off, and both go on."""
    lines: dict[str, Lines] = {
        GO: [delegating("One.")],
        "One.": [delegating("Two.")],
        "Two.": [LOOK, "WAIT"],
    }
    dead = await killed(tmp_path, Barred(lines), 1, ended=0)
    one = ""

    def going_on(request: object) -> Reply:
        return Reply((Call("Agent", {"description": "d", "prompt": "On.", "resume": one}),))

    model = CrewModel({AGAIN: [going_on, "done"], "On.": ["went on"]})
    async with revived(tmp_path, model, dead) as session:
        one = next(e.agent for e in session.entries if isinstance(e, AgentStarted))
        await session.run_turn(AGAIN)
        cut, on = ends(session.entries)
        assert (cut.state, cut.spent.requests, cut.spent.usage.input) == ("interrupted", 2, 110)
        assert (on.state, on.answer, on.spent.requests) == ("completed", "went on", 1)
        (below,) = ends(log_of(session, one))
        assert (below.state, below.spent.requests) == ("interrupted", 1)
        assert session.spent.requests == 1 + 2 + 1 + 2 == session.spending()["main"].requests + 3
        assert session.spent.delegations == 3
    async with revived(tmp_path, CrewModel({AGAIN: ["done"]}), dead) as session:
        assert timeless(session.spent) == timeless(sum(session.spending().values(), Spent()))
        assert session.spent.requests == 6


@in_loop
async def test_a_budget_counts_what_was_cut_off(tmp_path: Path) -> None:
    dead = await killed(tmp_path, Barred(two([LOOK, "WAIT"])), 1)
    model = CrewModel({AGAIN: ["done"]})
    async with revived(tmp_path, model, dead, budget=Budget(tokens=140)) as session:
        summary = await session.run_turn(AGAIN)  # 15 for the session, 15 for One, 110 for Two
        assert (summary.reason, model.requests) == ("budget_exceeded", [])


@in_loop
async def test_of_one_in_the_background_the_model_is_told(tmp_path: Path) -> None:
    lines = two(["WAIT two"])
    lines[GO] = [delegating("One.", "Two.", run_in_background=True), "WAIT lead"]
    dead = await killed(tmp_path, Barred(lines), 2)
    model = CrewModel({AGAIN: ["done"], "*": ["done"]})
    async with revived(tmp_path, model, dead) as session:
        await session.run_turn(AGAIN)
        first, second = ends(session.entries)
        told = [e.text for e in session.entries if isinstance(e, Reminded)]
        news = [text for text in told if "has ended" in text]
        assert [(first.agent in one, second.agent in one) for one in news] == [
            (True, False), (False, True),
        ]  # fmt: skip
        assert "has ended: completed" in news[0] and "has ended: interrupted" in news[1]
        before = len(session.entries)
    async with revived(tmp_path, CrewModel({AGAIN: ["done"]}), dead) as session:
        await session.run_turn(AGAIN)
        later = session.entries[before:]
        assert not [e for e in later if isinstance(e, Reminded) and "has ended" in e.text]
        assert not ends(later)


@in_loop
async def test_a_log_that_is_lost_costs_nothing(tmp_path: Path) -> None:
    dead = await killed(tmp_path, Barred(two([LOOK, "WAIT"])), 1)
    for log in (tmp_path / "dead").rglob("agents/*.jsonl"):
        log.unlink()
    async with revived(tmp_path, CrewModel({AGAIN: ["done"]}), dead) as session:
        await session.run_turn(AGAIN)
        assert ends(session.entries)[-1].spent == Spent()


@in_loop
async def test_a_command_of_a_child_is_told_of_when_the_child_goes_on(tmp_path: Path) -> None:
    """How commands ended is noted beside the log of the session, not beside the child's."""
    slow = Reply((Call("Bash", {"command": "echo begun > here; sleep 30"}, id="slow"),))
    model = Barred(two([slow]))
    session = crew_session(tmp_path, model, permission_mode="bypassPermissions")
    async with session:
        turn = asyncio.create_task(session.run_turn(GO))
        await reached((tmp_path / "project" / "here").exists)
        shutil.copytree(tmp_path / "home", tmp_path / "dead")
        session.interrupt()
        await turn
        noted = list((tmp_path / "home").rglob("commands.jsonl"))
        (late,) = (tmp_path / "dead").rglob("commands.jsonl")
        late.write_bytes(noted[0].read_bytes())
    agent = ""

    def going_on(request: object) -> Reply:
        return Reply((Call("Agent", {"description": "d", "prompt": "On.", "resume": agent}),))

    revival = CrewModel({AGAIN: [going_on, "done"], "On.": ["went on"]})
    async with revived(tmp_path, revival, session.id) as second:
        agent = [e.agent for e in second.entries if isinstance(e, AgentStarted)][-1]
        await second.run_turn(AGAIN)
        ended = [e for e in log_of(second, agent) if isinstance(e, CallEnded)]
        assert "The command was being ended" in text_of(ended[0].outcome)
