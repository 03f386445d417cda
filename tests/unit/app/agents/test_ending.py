"""However a session is ended, nobody below it works on; and nobody falls with a sibling."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from crewbench import CrewModel, Lines, crew_session, delegating, in_loop, results_of
from detent.loop import calls
from detent.sdk.custom_tools import tool
from detent.sdk.session import Session
from detent.session.agent_records import fold
from detent.session.reading import read_log
from detent.testing.script import Call, Fault, Reply
from detent.types.agents import AgentEnded, AgentRecord
from detent.types.budget import Budget
from detent.types.events import TurnEnded

GO = "Go."
SOON = 2.0
"""Seconds in which whoever is cancelled has to be gone."""
SLEEP = Reply((Call("Bash", {"command": "echo $$ >> pids; exec sleep 600"}),))


class Streaming(CrewModel):
    """Whoever is to say FOR EVER does not come to its end."""

    def __init__(self, lines: dict[str, Lines]) -> None:
        super().__init__(lines)
        self.streaming = 0

    async def stream(self, request: Any, deltas: Any) -> Any:
        reply = await super().stream(request, deltas)
        if "FOR EVER" in str(reply.content):
            self.streaming += 1
            await asyncio.Event().wait()
        return reply


async def reached(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not condition():
            await asyncio.sleep(0.005)


def deep(last: Lines) -> dict[str, Lines]:
    """Three levels, two of each: eight at the lowest."""
    return {
        GO: [delegating("A1", "A2")],
        "A1": [delegating("B1", "B2")],
        "A2": [delegating("B3", "B4")],
        **{name: [delegating(f"C{name}1", f"C{name}2")] for name in ("B1", "B2", "B3", "B4")},
        "*": last,
    }


def is_alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def records_of(session: Session) -> list[AgentRecord]:
    """Of all below it, whoever they work for."""
    folder = Path(session.path).with_suffix("") / "agents"
    below = [read_log(str(log)).entries for log in folder.glob("*.jsonl")]
    return [one for entries in (session.entries, *below) for one in fold(entries).values()]


async def ended_soon(session: Session, turn: asyncio.Task[Any], how: str) -> None:
    begun = asyncio.get_running_loop().time()
    if how == "interrupted":
        session.interrupt()
        await turn
    else:
        await session.aclose()
        turn.cancel()
        await asyncio.wait({turn})
    assert asyncio.get_running_loop().time() - begun < SOON
    states = {record.state for record in records_of(session)}
    assert states == {"stopped"}


@pytest.mark.parametrize("how", ["interrupted", "closed"])
def test_commands_three_levels_below_are_gone(how: str, tmp_path: Path) -> None:
    @in_loop
    async def run() -> None:
        session = crew_session(
            tmp_path, CrewModel(deep([SLEEP])), permission_mode="bypassPermissions", sandbox="off"
        )
        pids = tmp_path / "project" / "pids"
        async with session:
            turn = asyncio.create_task(session.run_turn(GO))
            await reached(lambda: pids.exists() and len(pids.read_text().split()) == 8)
            await ended_soon(session, turn, how)
            left = [pid for pid in map(int, pids.read_text().split()) if is_alive(pid)]
            assert left == []
        assert len(records_of(session)) == 2 + 4 + 8

    run()


@pytest.mark.parametrize("how", ["interrupted", "closed"])
def test_models_that_speak_for_ever_are_left(how: str, tmp_path: Path) -> None:
    @in_loop
    async def run() -> None:
        model = Streaming(deep(["FOR EVER"]))
        session = crew_session(tmp_path, model)
        async with session:
            turn = asyncio.create_task(session.run_turn(GO))
            await reached(lambda: model.streaming == 8)
            await ended_soon(session, turn, how)

    run()


@pytest.mark.parametrize(("how", "patience"), [("interrupted", calls.PATIENCE), ("closed", 0.1)])
def test_tools_that_will_not_end_hold_nobody_up(
    how: str, patience: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calls, "PATIENCE", patience)
    stuck, free = [0], asyncio.Event()

    @tool(name="Stuck")
    async def never() -> str:
        "Does not hear of being cancelled."
        stuck[0] += 1
        while not free.is_set():
            with suppress(asyncio.CancelledError):
                await free.wait()
        return "free"

    @in_loop
    async def run() -> None:
        model = CrewModel(deep([Reply((Call("Stuck", {}),))]))
        session = crew_session(
            tmp_path,
            model,
            permission_mode="bypassPermissions",
            sandbox="off",
            custom_tools=(never,),
        )
        async with session:
            turn = asyncio.create_task(session.run_turn(GO))
            await reached(lambda: stuck[0] == 8)
            try:
                await ended_soon(session, turn, how)
            finally:
                free.set()

    run()


@in_loop
async def test_those_in_the_background_are_ended_with_the_session(tmp_path: Path) -> None:
    lines: dict[str, Lines] = {GO: [delegating("A", "B", run_in_background=True), "Started."]}
    session = crew_session(
        tmp_path,
        CrewModel({**lines, "*": [SLEEP]}),
        permission_mode="bypassPermissions",
        sandbox="off",
    )
    pids = tmp_path / "project" / "pids"
    async with session:
        turn = asyncio.create_task(session.run_turn(GO))
        await reached(lambda: pids.exists() and len(pids.read_text().split()) == 2)
        await turn
        await ended_soon(session, turn, "closed")
        assert not any(map(is_alive, map(int, pids.read_text().split())))


def failing(kind: str) -> Any:
    match kind:
        case "tool":
            return Reply((Call("Broken", {}),))
        case "model":
            return Reply(fault=Fault(status=400, body="no such thing"))
        case "fault":

            def fails(request: object) -> Any:
                raise RuntimeError("a fault of ours")

            return fails
        case _:
            return "never said"


@pytest.mark.parametrize("kind", ["tool", "model", "fault", "kind", "mode", "folder"])
def test_whoever_fails_fails_alone(kind: str, tmp_path: Path) -> None:
    """Of three at once the second one fails, each time for another reason."""

    @tool(name="Broken")
    async def broken() -> str:
        "Fails."
        raise RuntimeError("it is broken")

    bad: dict[str, Any] = {"description": "d", "prompt": "Bad."}
    bad |= {"kind": {"subagent_type": "no-such-agent"}, "mode": {"mode": "no-such-mode"},
            "folder": {"isolation": "worktree"}}.get(kind, {})  # fmt: skip
    asked = (
        Call("Agent", {"description": "d", "prompt": "One."}, id="c1"),
        Call("Agent", bad, id="c2"),
        Call("Agent", {"description": "d", "prompt": "Three."}, id="c3"),
    )
    lines: dict[str, Lines] = {
        GO: [Reply(asked), "Done."],
        "One.": [Reply((Call("Bash", {"command": "true"}),)), "first"],
        "Bad.": [failing(kind), "went on"],
        "Three.": [Reply((Call("Bash", {"command": "true"}),)), "third"],
    }

    @in_loop
    async def run() -> None:
        model = CrewModel(lines)
        session = crew_session(
            tmp_path,
            model,
            permission_mode="bypassPermissions",
            sandbox="off",
            custom_tools=(broken,),
        )
        async with session:
            summary = await session.run_turn(GO)
            assert (summary.reason, summary.text) == ("end_turn", "Done.")
            told = results_of(model.requests[-1])
            assert "first" in told and "third" in told
            states = [e.state for e in session.entries if isinstance(e, AgentEnded)]
            assert states.count("completed") >= 2
            if kind in ("model", "fault"):
                assert "failed" in states

    run()


@in_loop
async def test_a_child_without_budget_ends_alone_and_says_so(tmp_path: Path) -> None:
    """Shared equally, each of the three has a third of what is left."""
    long = Reply((Call("Bash", {"command": "true"}),))
    lines: dict[str, Lines] = {
        GO: [Reply((Call("delegate_agent", {"children": ["One.", "Two.", "Three."]}),)), "Done."],
        "One.": ["first"],
        "Two.": [long],
        "Three.": ["third"],
    }
    session = crew_session(
        tmp_path,
        CrewModel(lines),
        permission_mode="bypassPermissions",
        sandbox="off",
        budget=Budget(requests=30),
        settings={"budget": {"distribution": "equal"}},
        max_turns=0,
    )
    async with session:
        await session.run_turn(GO)
        ends = {e.answer or e.reason for e in session.entries if isinstance(e, AgentEnded)}
        assert {"first", "third", "budget_exceeded"} == ends
        last = session.entries[-1]
        assert isinstance(last, TurnEnded) and last.reason == "end_turn"
