"""What comes twice, or at the same moment: no agent works twice, and nothing is left half done."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from crewbench import CrewModel, Lines, asked_of, crew_session, delegating, in_loop, results_of
from detent.app.agents.child import ChildEngine
from detent.app.agents.unbroken import unbroken
from detent.loop import calls
from detent.sdk.session import Session
from detent.session.reading import read_log
from detent.testing.script import Call, Reply
from detent.types.agents import AgentEnded, AgentStarted
from detent.types.budget import Budget
from detent.types.events import Nested, Prompted, Reminded, TurnEnded
from detent.types.messages import Request

GO, AGAIN = "Go.", "Again."
ONE_PLACE = {"maxConcurrentAgents": 1}
"""So that whoever comes second has not begun when the third does."""


def starts(session: Session) -> list[AgentStarted]:
    return [entry for entry in session.entries if isinstance(entry, AgentStarted)]


def ends(session: Session) -> list[AgentEnded]:
    return [entry for entry in session.entries if isinstance(entry, AgentEnded)]


class Agent(Call):
    def __init__(self, prompt: str, **given: Any) -> None:
        super().__init__("Agent", {"description": "d", "prompt": prompt, **given}, id=prompt)


@in_loop
async def test_a_name_is_one_agents_from_the_moment_it_is_given(tmp_path: Path) -> None:
    model = CrewModel({GO: [delegating("A.", "B.", "C.", name="scout"), "Done."], "*": ["x"]})
    async with crew_session(tmp_path, model, settings=ONE_PLACE) as session:
        await session.run_turn(GO)
        assert sorted(one.name for one in starts(session)) == ["scout", "scout-2", "scout-3"]
        assert not session._engine.staff.crew.names  # type: ignore[union-attr]


@in_loop
async def test_two_calls_that_let_one_go_on(tmp_path: Path) -> None:
    """The first has it; a group that wants it too does not begin it anew."""
    agent = [""]

    def again(request: Request) -> Reply:
        given = {"resume_session_id": agent[0], "prompt": "More three."}
        return Reply(
            (
                Agent("Busy."),
                Agent("More.", resume=agent[0]),
                Agent("More too.", resume=agent[0]),
                Call("delegate_agent", {"children": [given]}),
            )
        )

    model = CrewModel(
        {GO: [delegating("A."), "Done."], "A.": ["a"], AGAIN: [again, "Done."], "*": ["x"]}
    )
    async with crew_session(tmp_path, model, settings=ONE_PLACE) as session:
        await session.run_turn(GO)
        agent[0] = starts(session)[0].agent
        await session.run_turn(AGAIN)
        assert [one.agent == agent[0] for one in starts(session)] == [True, False, True]
        told = results_of(model.requests[-1])
        assert told.count("is at work") == 2 and "another process" not in told
        assert session.spent.delegations == 3


@in_loop
async def test_two_messages_to_one_that_has_ended_wake_it_once(tmp_path: Path) -> None:
    messages = Reply(
        (
            Call("SendMessage", {"to": "scout", "message": "One more."}, id="m1"),
            Call("SendMessage", {"to": "scout", "message": "Two more."}, id="m2"),
        )
    )
    model = CrewModel(
        {GO: [delegating("A.", name="scout"), "Done."], AGAIN: [messages, "Done."], "*": ["x"]}
    )
    async with crew_session(tmp_path, model, waits_for_agents=True) as session:
        await session.run_turn(GO)
        await session.run_turn(AGAIN)
        assert len(starts(session)) == 2 == len(ends(session))
        log = Path(session.path).with_suffix("") / "agents" / f"{starts(session)[0].agent}.jsonl"
        assert "One more." in log.read_text() and "Two more." in log.read_text()


@in_loop
async def test_nobody_writes_to_itself(tmp_path: Path) -> None:
    letter = Reply((Call("SendMessage", {"to": "scout", "message": "Hello."}),))
    told: list[str] = []

    def hears(request: Request) -> str:
        told.append(results_of(request))
        return "x"

    model = CrewModel({GO: [delegating("A.", name="scout"), "Done."], "A.": [letter, hears]})
    async with crew_session(tmp_path, model) as session:
        await session.run_turn(GO)
        assert told == ["SendMessage: scout is yourself."]


@in_loop
async def test_a_letter_that_comes_when_a_turn_has_just_ended_is_read(tmp_path: Path) -> None:
    sessions: list[Session] = []

    def look(event: Any) -> None:
        match event:
            case Nested(event=TurnEnded(turn=1)):
                (running,) = sessions[0]._engine.staff.crew.at_work.values()  # type: ignore[union-attr]
                running.work.engine.inbox.tell("[Message of the agent b:]\nLook again.")

    model = CrewModel({GO: [delegating("A."), "Done."], "A.": ["first", "second"]})
    async with crew_session(tmp_path, model, observers=(look,)) as session:
        sessions.append(session)
        await session.run_turn(GO)
        assert ends(session)[0].answer == "second"


@in_loop
async def test_what_must_not_be_left_half_done_is_not_however_often_it_is_cancelled() -> None:
    goes_on, done = asyncio.Event(), []

    async def work() -> None:
        await goes_on.wait()
        done.append(1)

    waiting = asyncio.create_task(unbroken(work()))
    for _ in range(3):
        await asyncio.sleep(0)
        waiting.cancel()
    await asyncio.sleep(0)
    assert not waiting.done()
    goes_on.set()
    await asyncio.wait({waiting})
    assert waiting.cancelled() and done == [1]


@in_loop
async def test_the_session_ends_while_one_is_being_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those below it have their ends in its log before that is closed."""
    closing, proceeds, closed = asyncio.Event(), asyncio.Event(), []
    close = ChildEngine.aclose

    async def slowly(self: ChildEngine) -> None:
        closing.set()
        await proceeds.wait()
        await close(self)
        closed.append(self.journal.session)

    monkeypatch.setattr(ChildEngine, "aclose", slowly)
    lines: dict[str, Lines] = {GO: [delegating("A.", run_in_background=True), "Done."], "*": ["x"]}
    session = crew_session(tmp_path, CrewModel(lines))
    async with session:
        await session.run_turn(GO)
        await closing.wait()
        ending = asyncio.create_task(session.aclose())
        for _ in range(10):
            await asyncio.sleep(0)
        assert not ending.done()
        proceeds.set()
        await ending
        (ended,) = ends(session)
        assert (closed, ended.state) == ([ended.agent], "completed")


@in_loop
async def test_the_session_waits_for_one_whose_call_was_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cancelled, it takes longer to be closed than calls have time to end."""
    monkeypatch.setattr(calls, "PATIENCE", 0.01)
    closing, proceeds = asyncio.Event(), asyncio.Event()
    close = ChildEngine.aclose

    async def slowly(self: ChildEngine) -> None:
        closing.set()
        await proceeds.wait()
        await close(self)

    monkeypatch.setattr(ChildEngine, "aclose", slowly)
    session = crew_session(tmp_path, CrewModel({GO: [delegating("A.")], "*": ["x"]}))
    async with session:
        turn = asyncio.create_task(session.run_turn(GO))
        await closing.wait()
        session.interrupt()
        await turn
        assert not ends(session)
        ending = asyncio.create_task(session.aclose())
        await asyncio.wait({ending}, timeout=0.2)
        assert not ending.done()
        proceeds.set()
        await ending
        assert [one.agent for one in ends(session)] == [one.agent for one in starts(session)]
        assert ends(session)[0].seq == read_log(session.path).entries[-1].seq


@in_loop
async def test_in_a_session_that_is_not_saved_one_goes_on_too(tmp_path: Path) -> None:
    message = Reply((Call("SendMessage", {"to": "scout", "message": "More."}),))
    model = CrewModel(
        {GO: [delegating("A.", name="scout"), message, "Done."], "A.": ["a"], "More.": ["more"]}
    )
    session = crew_session(tmp_path, model, persist=False, waits_for_agents=True)
    async with session:
        await session.run_turn(GO)
        assert [one.answer for one in ends(session)] == ["a", "more"]
        more = next(one for one in model.requests if asked_of(one) == "More.")
        assert "A." in str(more.messages[0]), "and knows what it was told"
        assert session.spent.requests == len(model.requests)


@in_loop
async def test_an_end_that_whoever_waited_did_not_come_to_tell_is_news(tmp_path: Path) -> None:
    """The call is cancelled in the very moment in which the agent ends."""
    waiting: list[asyncio.Task[Any]] = []

    def look(event: Any) -> None:
        if isinstance(event, AgentEnded):
            waiting[0].cancel()

    held = asyncio.Event()

    class Held(CrewModel):
        async def stream(self, request: Any, deltas: Any) -> Any:
            if asked_of(request) == "A.":
                await held.wait()
            return await super().stream(request, deltas)

    lines: dict[str, Lines] = {GO: [delegating("A.", run_in_background=True), "Done."], "*": ["x"]}
    async with crew_session(tmp_path, Held(lines), observers=(look,)) as session:
        await session.run_turn(GO)
        staff = session._engine.staff
        assert staff is not None
        waiting.append(asyncio.create_task(staff.wait(starts(session)[0].agent, 60)))
        await asyncio.sleep(0)
        held.set()
        await asyncio.wait(waiting)
        assert waiting[0].cancelled()
        assert "has ended: completed" in session._engine.inbox.news()[0]


@in_loop
async def test_what_cannot_be_closed_takes_nothing_from_what_was_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    close = ChildEngine.aclose

    async def fails(self: ChildEngine) -> None:
        await close(self)
        raise OSError("no more")

    monkeypatch.setattr(ChildEngine, "aclose", fails)
    model = CrewModel({GO: [delegating("A."), "Done."], "A.": ["found it"]})
    async with crew_session(tmp_path, model) as session:
        await session.run_turn(GO)
        assert "found it" in results_of(model.requests[-1])


@in_loop
async def test_those_who_work_together_share_equally(tmp_path: Path) -> None:
    """However they were set to work: here by calls of their own."""
    shares: list[int | None] = []
    sessions: list[Session] = []

    def look(request: Request) -> str:
        at_work = sessions[0]._engine.staff.crew.at_work  # type: ignore[union-attr]
        if len(at_work) == 3 and not shares:
            shares.extend(one.work.engine.kit.account.budget.requests for one in at_work.values())
        return "x"

    model = CrewModel({GO: [delegating("A.", "B.", "C."), "Done."], "*": [look]})
    session = crew_session(
        tmp_path, model, budget=Budget(requests=100), settings={"budget": {"distribution": "equal"}}
    )
    async with session:
        sessions.append(session)
        await session.run_turn(GO)
        assert shares == [33, 33, 33]


@in_loop
async def test_one_that_goes_on_has_its_share_of_what_is_left(tmp_path: Path) -> None:
    """What it has spent before takes nothing from it."""
    look = Reply((Call("Bash", {"command": "true"}),))
    agent = [""]
    model = CrewModel(
        {
            GO: [delegating("A."), "Done."],
            "A.": [look, look, look, look, "a"],
            AGAIN: [lambda request: Reply((Agent("More.", resume=agent[0]),)), "Done."],
            "More.": ["more"],
        }
    )
    settings = {"budget": {"distribution": 0.5}}
    session = crew_session(tmp_path, model, budget=Budget(requests=14), settings=settings)
    async with session:
        await session.run_turn(GO)
        agent[0] = starts(session)[0].agent
        await session.run_turn(AGAIN)
        assert [(one.state, one.answer) for one in ends(session)] == [
            ("completed", "a"), ("completed", "more"),
        ]  # fmt: skip


@in_loop
async def test_an_end_that_a_call_has_told_is_no_news_when_the_session_goes_on(
    tmp_path: Path,
) -> None:
    def stop(request: Request) -> Reply:
        agent = starts(sessions[0])[0].agent
        return Reply((Call("TaskStop", {"task_id": agent}),))

    sessions: list[Session] = []
    lines: dict[str, Lines] = {
        GO: [delegating("A.", run_in_background=True), stop, "Done."],
        "A.": [Reply((Call("TaskOutput", {"task_id": "x"}),))],
    }
    async with crew_session(tmp_path, CrewModel(lines)) as session:
        sessions.append(session)
        await session.run_turn(GO)
        assert ends(session)[0].state == "stopped"
        entries = len(session.entries)
    again = crew_session(tmp_path, CrewModel({AGAIN: ["Done."]}), resume=session.id)
    async with again:
        await again.run_turn(AGAIN)
        later = again.entries[entries:]
        assert any(isinstance(entry, Prompted) for entry in later)
        assert not [e for e in later if isinstance(e, Reminded) and "has ended" in e.text]
