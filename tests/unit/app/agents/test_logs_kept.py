"""The logs of subagents: with their session, never without it, and of no use to anybody else."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

from crewbench import CrewModel, Lines, crew_session, delegating, in_loop, results_of
from detent.app.options import Options
from detent.sdk.exporting import export_session
from detent.sdk.session import Session
from detent.sdk.sessions import delete_sessions, search_sessions, sessions_of
from detent.session.log import FileLog
from detent.session.reading import read_log
from detent.session.sweeping import digests_in
from detent.testing.script import Call, Reply, Say
from detent.types.agents import AgentEnded, AgentStarted
from detent.types.events import Notice

GO = "Go."
LONG = "a word of many, and no end of them; " * 4_000


def pair(**more: Lines) -> CrewModel:
    """The second says much that whoever asked it never hears."""
    aside = Reply((Say(LONG), Call("TaskList", {})))
    lines: dict[str, Lines] = {"One.": ["the first"], "Two.": [aside, "the second"]}
    return CrewModel({GO: [delegating("One.", "Two."), "Done."], **lines, **more})


def environ(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path), "DETENT_HOME": str(tmp_path / "home"), "PATH": "/usr/bin:/bin"}


def logs_below(session: Session) -> list[Path]:
    return sorted((Path(session.path).with_suffix("") / "agents").glob("*.jsonl"))


async def ran(tmp_path: Path, model: CrewModel, **given: Any) -> Session:
    session = crew_session(tmp_path, model, **given)
    async with session:
        await session.run_turn(GO)
    return session


def old_blobs(home: Path) -> list[Path]:
    """All of them, made older than what a sweep spares."""
    found = [path for path in (home / "blobs").rglob("*") if path.is_file()]
    for path in found:
        os.utime(path, (1, 1))
    return [path for path in found if len(path.parent.name) == 2]


@in_loop
async def test_they_are_no_sessions_and_are_not_found_as_such(tmp_path: Path) -> None:
    session = await ran(tmp_path, pair())
    assert len(logs_below(session)) == 2
    cards = sessions_of(str(tmp_path / "project"), everywhere=True, environ=environ(tmp_path))
    assert [card.id for card in cards] == [session.id]
    assert {hit.session for hit in search_sessions("first", environ=environ(tmp_path))} == {
        session.id
    }


@in_loop
async def test_what_only_they_name_stays_while_they_are_there(tmp_path: Path) -> None:
    """An answer that is too long for a line lies in a file of its own."""
    session = await ran(tmp_path, pair())
    other = await ran(tmp_path, CrewModel({GO: ["Nothing."]}))
    blobs = old_blobs(tmp_path / "home")
    named = {digest for log in logs_below(session) for digest in digests_in(str(log))}
    assert named - digests_in(session.path)
    cards = sessions_of(str(tmp_path / "project"), environ=environ(tmp_path))
    delete_sessions([c for c in cards if c.id == other.id], environ=environ(tmp_path))
    left = {(path.parent.name + path.name).encode() for path in blobs if path.exists()}
    assert named <= left
    said = "".join(map(str, (read_log(str(log)).entries for log in logs_below(session))))
    assert LONG in said


@in_loop
async def test_they_go_with_their_session(tmp_path: Path) -> None:
    session = await ran(tmp_path, pair())
    blobs = old_blobs(tmp_path / "home")
    assert blobs
    cards = sessions_of(str(tmp_path / "project"), environ=environ(tmp_path))
    deleted = delete_sessions(cards, environ=environ(tmp_path))
    assert deleted.sessions == (session.id,)
    assert not Path(session.path).with_suffix("").exists()
    assert not any(path.exists() for path in blobs)


@in_loop
async def test_their_answers_are_in_an_export_of_the_session(tmp_path: Path) -> None:
    session = await ran(tmp_path, pair())
    options = Options(cwd=str(tmp_path / "project"), environ=environ(tmp_path))
    text = export_session(session.id, options=options).data.decode()
    assert "the first" in text and "the second" in text


@in_loop
async def test_a_session_that_is_not_saved_leaves_nothing(tmp_path: Path) -> None:
    session = await ran(tmp_path, pair(), persist=False)
    assert [e.state for e in session.entries if isinstance(e, AgentEnded)] == ["completed"] * 2
    assert not list((tmp_path / "home").rglob("*.jsonl"))


@in_loop
async def test_in_a_fork_an_agent_goes_on_from_a_copy(tmp_path: Path) -> None:
    session = await ran(tmp_path, pair())
    agent = next(e.agent for e in session.entries if isinstance(e, AgentStarted))
    (own,) = [log for log in logs_below(session) if log.stem == agent]
    before = own.read_bytes()
    on = Reply((Call("Agent", {"description": "d", "prompt": "On.", "resume": agent}),))
    model = CrewModel({"Again.": [on, "Done."], "On.": ["went on"]})
    fork = crew_session(tmp_path, model, resume=session.id, fork=True)
    async with fork:
        await fork.run_turn("Again.")
    assert fork.id != session.id and own.read_bytes() == before
    assert [log.stem for log in logs_below(fork)] == [agent]
    assert "went on" in results_of(model.requests[-1])
    child = next(r for r in model.requests if "On." in str(r.messages))
    assert "the first" in str(child.messages)  # it knows what it has said
    last = [e for e in fork.entries if isinstance(e, AgentEnded)][-1]
    assert last.spent.requests == 1


@in_loop
async def test_so_it_does_when_the_fork_itself_goes_on_later(tmp_path: Path) -> None:
    session = await ran(tmp_path, pair())
    agent = next(e.agent for e in session.entries if isinstance(e, AgentStarted))
    async with crew_session(
        tmp_path, CrewModel({"x": ["y"]}), resume=session.id, fork=True
    ) as fork:
        await fork.run_turn("x")
    on = Reply((Call("Agent", {"description": "d", "prompt": "On.", "resume": agent}),))
    model = CrewModel({"Again.": [on, "Done."], "On.": ["went on"]})
    async with crew_session(tmp_path, model, resume=fork.id) as later:
        await later.run_turn("Again.")
    assert later.id == fork.id
    assert "went on" in results_of(model.requests[-1])


@in_loop
async def test_one_whose_log_is_gone_says_so(tmp_path: Path) -> None:
    session = await ran(tmp_path, pair())
    agent = next(e.agent for e in session.entries if isinstance(e, AgentStarted))
    for log in logs_below(session):
        log.unlink()
    on = Reply((Call("Agent", {"description": "d", "prompt": "On.", "resume": agent}),))
    model = CrewModel({"Again.": [on, "Done."]})
    async with crew_session(tmp_path, model, resume=session.id) as later:
        await later.run_turn("Again.")
    assert "give its task to a new agent" in results_of(model.requests[-1])


@in_loop
async def test_a_full_disk_under_a_child_is_told_and_ends_nobody(tmp_path: Path) -> None:
    real = FileLog._write

    def full(self: FileLog, data: bytes) -> None:
        if os.sep + "agents" + os.sep in self.path:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(self, data)

    FileLog._write = full  # type: ignore[method-assign]
    try:
        session = crew_session(tmp_path, pair())
        notices: list[str] = []
        async with session:
            async for event in session.send(GO):
                while hasattr(event, "event"):
                    event = event.event  # type: ignore[union-attr]
                if isinstance(event, Notice):
                    notices.append(event.text)
    finally:
        FileLog._write = real  # type: ignore[method-assign]
    assert [e.state for e in session.entries if isinstance(e, AgentEnded)] == ["completed"] * 2
    assert any("not being saved" in text for text in notices)
