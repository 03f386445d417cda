"""Shortening a session by hand, and undoing it, between turns and on a stored session."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from sdkbench import Settings, run

from detent.context.project import project
from detent.sdk.compaction import uncompact
from detent.sdk.context import look
from detent.sdk.session import Session
from detent.testing.scripted_model import ScriptedModel
from detent.types.errors import BadInput
from detent.types.events import Compacted, Compacting, Event, Notice, Restored

SUMMARY = json.dumps({"goal": "talk", "current_state": "we talked a lot"})
LONG = "something long was said " * 500


def model(*more: Any) -> ScriptedModel:
    return ScriptedModel(LONG, LONG, LONG, *more)


async def talk(session: Session) -> None:
    for number in range(3):
        await session.run_turn(f"question {number}")


def test_it_gives_the_entry_and_tells_what_happens(settings: Settings) -> None:
    async def body() -> None:
        heard: list[Event] = []

        async def hear(event: Event) -> None:
            heard.append(event)

        async with Session(settings(model(SUMMARY, "fine"))) as session:
            await talk(session)
            compacted = await session.compact("mind the answers", hear)
            assert compacted is not None and compacted in heard
            assert (compacted.trigger, compacted.instructions) == ("manual", "mind the answers")
            assert "we talked a lot" in compacted.summary
            assert compacted in session.entries
            assert compacted.replaced == 3
            assert "question 2" in str(project(session.entries)), "the last prompt stays"
            assert (await session.run_turn("and now?")).text == "fine"

    run(body)


def test_nothing_to_leave_out_is_none(settings: Settings) -> None:
    async def body() -> None:
        notices: list[Event] = []

        async def hear(event: Event) -> None:
            notices.append(event)

        async with Session(settings(model())) as session:
            await session.run_turn("hello")
            assert await session.compact(hear=hear) is None
            assert [type(event) for event in notices] == [Notice]

    run(body)


def test_it_can_be_switched_off(settings: Settings) -> None:
    async def body() -> None:
        environ = {**settings.environ, "DISABLE_COMPACT": "1"}
        async with Session(settings(model(SUMMARY), environ=environ)) as session:
            await talk(session)
            assert await session.compact() is None

    run(body)


def test_not_while_a_turn_runs(settings: Settings) -> None:
    async def body() -> None:
        async with Session(settings(model())) as session:
            stream = session.send("go")
            await anext(stream)
            with pytest.raises(RuntimeError, match="a turn is running"):
                await session.compact()
            with pytest.raises(RuntimeError, match="a turn is running"):
                await session.uncompact()
            await stream.aclose()

    run(body)


def test_undone_it_reads_as_before(settings: Settings) -> None:
    async def body() -> None:
        async with Session(settings(model(SUMMARY))) as session:
            await talk(session)
            before = project(session.entries)
            compacted = await session.compact()
            assert compacted is not None and project(session.entries) != before
            done = await session.uncompact()
            assert project(session.entries) == before
            assert (done.undone, done.came_back, done.fits) == ((compacted.seq,), 2, True)
            assert isinstance(session.entries[-1], Restored)
            again = await session.uncompact(last=True)
            assert again.undone == () and isinstance(session.entries[-1], Restored)

    run(body)


def test_a_stored_session_is_undone_in_its_log(settings: Settings, tmp_path: Path) -> None:
    async def body() -> str:
        async with Session(settings(model(SUMMARY), persist=True)) as session:
            await talk(session)
            await session.compact()
            with pytest.raises(BadInput, match="in use by another process"):
                await asyncio.to_thread(uncompact, settings(model(), persist=True), session.id)
            return session.id

    session = run(body)
    done = uncompact(settings(model(), persist=True))
    assert (done.session, len(done.undone), done.came_back) == (session, 1, 2)
    assert done.model == "scripted" and done.tokens > 1_000

    async def again() -> None:
        async with Session(settings(model(), persist=True, resume=session)) as resumed:
            assert len(project(resumed.entries)) == 6
            assert any(isinstance(entry, Compacted) for entry in resumed.entries)

    run(again)


def test_a_host_hears_that_the_summary_is_made(settings: Settings) -> None:
    """In order: asked for, over, recorded."""

    async def body() -> None:
        heard: list[Event] = []

        async def hear(event: Event) -> None:
            heard.append(event)

        async with Session(settings(model(SUMMARY))) as session:
            await talk(session)
            await session.compact("", hear)
        told = [event for event in heard if isinstance(event, Compacting | Compacted)]
        assert [type(event) for event in told] == [Compacting, Compacting, Compacted]
        assert told[1] == Compacting(is_over=True)

    run(body)


def test_a_look_from_within_an_event_loop(settings: Settings) -> None:
    async def body() -> None:
        async with Session(settings(model(), persist=True)) as session:
            await talk(session)
            there = session.context()
        seen = await look(settings(model(), persist=True))
        assert (seen.session, seen.tokens) == (there.session, there.tokens)

    run(body)


def test_a_log_that_may_only_be_read(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    async def body() -> None:
        async with Session(settings(model(SUMMARY), persist=True)) as session:
            await talk(session)
            await session.compact()

    def refuse(path: str, how: int) -> int:
        raise PermissionError(13, "Permission denied")

    run(body)
    monkeypatch.setattr("detent.session.log._opened", refuse)
    with pytest.raises(BadInput, match="cannot be written: Permission denied"):
        uncompact(settings(model(), persist=True))
    with pytest.raises(BadInput, match="cannot be written: Permission denied"):
        Session(settings(model(), persist=True, continue_newest=True))
