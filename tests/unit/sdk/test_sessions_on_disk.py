"""Sessions that last: resume, continue, fork, one writer at a time, and the listing."""

from __future__ import annotations

import os
from typing import Any

import pytest
from sdkbench import Settings, run

from detent.sdk.query import run as run_once
from detent.sdk.session import Session
from detent.sdk.sessions import sessions_of
from detent.session.facts import SessionCard
from detent.session.reading import read_log
from detent.testing.scripted_model import ScriptedModel
from detent.types.content import plain_text
from detent.types.errors import BadInput
from detent.types.events import Opened, Prompted, Switched
from detent.types.messages import Request

ONE = "11111111-1111-4111-8111-111111111111"
TWO = "22222222-2222-4222-8222-222222222222"


def said(request: Request) -> list[str]:
    return [plain_text(message.content) for message in request.messages]


def listed(settings: Settings) -> list[SessionCard]:
    return sessions_of(str(settings.cwd), environ=settings.environ)


def turn(settings: Settings, prompt: str, answer: str, **more: Any) -> ScriptedModel:
    model = ScriptedModel(answer)

    async def body() -> None:
        await run_once(prompt, settings(model, persist=True, **more))

    run(body)
    return model


def test_nothing_is_written_before_the_first_prompt(settings: Settings) -> None:
    async def body() -> None:
        async with Session(settings(ScriptedModel("x"), persist=True)) as session:
            assert session.path.startswith(str(settings.home))
            assert list(settings.home.iterdir()) == []
            await session.run_turn("hi")
            assert [card.path for card in listed(settings)] == [session.path]

    run(body)


def test_without_persistence_nothing_is_written_at_all(settings: Settings) -> None:
    async def body() -> None:
        async with Session(settings(ScriptedModel("x"))) as session:
            await session.run_turn("hi")
            assert session.path == ""

    run(body)
    assert os.listdir(settings.home) == []


def test_what_was_said_is_on_disk_before_the_model_is_asked(settings: Settings) -> None:
    seen: list[str] = []

    def looks(request: Request) -> str:
        (card,) = listed(settings)
        entries = read_log(card.path).entries
        seen.extend(plain_text(e.content) for e in entries if isinstance(e, Prompted))
        return "ok"

    async def body() -> None:
        await run_once("remember me", settings(ScriptedModel(looks), persist=True))

    run(body)
    assert seen == ["remember me"]


@pytest.mark.parametrize("wanted", [ONE, ONE[:8]])
def test_resume_goes_on_where_it_stopped(settings: Settings, wanted: str) -> None:
    turn(settings, "my name is Ann", "hello Ann", session_id=ONE)
    model = turn(settings, "who am I?", "Ann", resume=wanted)
    assert said(model.requests[0]) == ["my name is Ann", "hello Ann", "who am I?"]
    (card,) = listed(settings)
    assert (card.id, card.turns) == (ONE, 2)


def test_continue_takes_the_newest_of_this_folder(settings: Settings) -> None:
    turn(settings, "old", "a", session_id=ONE)
    turn(settings, "new", "b", session_id=TWO)
    for card in listed(settings):
        when = 2000 if card.id == TWO else 1000
        os.utime(card.path, (when, when))
    model = turn(settings, "go on", "c", continue_newest=True)
    assert said(model.requests[0]) == ["new", "b", "go on"]


def test_a_fork_leaves_the_original_alone(settings: Settings) -> None:
    turn(settings, "root", "a", session_id=ONE)
    (card,) = listed(settings)
    with open(card.path, "rb") as file:
        before = file.read()
    model = turn(settings, "branch", "b", resume=ONE, fork=True, session_id=TWO)
    assert said(model.requests[0]) == ["root", "a", "branch"]
    with open(card.path, "rb") as file:
        assert file.read() == before
    forked = next(c for c in listed(settings) if c.id == TWO)
    opened = read_log(forked.path).entries[0]
    assert isinstance(opened, Opened) and (opened.session, opened.parent) == (TWO, ONE)


def test_resuming_without_persistence_reads_but_does_not_write(settings: Settings) -> None:
    turn(settings, "root", "a", session_id=ONE)
    (card,) = listed(settings)
    size = os.path.getsize(card.path)

    model = ScriptedModel("c")

    async def body() -> None:
        await run_once("unsaved", settings(model, resume=ONE, persist=False))

    run(body)
    assert said(model.requests[0]) == ["root", "a", "unsaved"]
    assert os.path.getsize(card.path) == size


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"resume": "no-such"}, "no session 'no-such'"),
        ({"continue_newest": True}, "no earlier session in this folder"),
    ],
)
def test_what_is_not_there_is_said(settings: Settings, options: Any, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        Session(settings(ScriptedModel("x"), persist=True, **options))


def test_an_ambiguous_beginning_is_refused(settings: Settings) -> None:
    turn(settings, "a", "a", session_id="1" + ONE[1:-1] + "2")
    turn(settings, "b", "b", session_id=ONE)
    with pytest.raises(BadInput):
        Session(settings(ScriptedModel("x"), persist=True, resume=ONE[:8]))


def test_a_second_opener_is_told_and_may_fork(settings: Settings) -> None:
    async def body() -> None:
        async with Session(settings(ScriptedModel("a"), persist=True, session_id=ONE)) as first:
            await first.run_turn("hi")
            with pytest.raises(BadInput, match=rf"session {ONE} is in use.*--fork-session"):
                Session(settings(ScriptedModel("b"), persist=True, resume=ONE))
            forking = settings(ScriptedModel("c"), persist=True, resume=ONE, fork=True)
            async with Session(forking) as copy:
                assert (await copy.run_turn("hi again")).text == "c"
        async with Session(settings(ScriptedModel("d"), persist=True, resume=ONE)) as again:
            assert (await again.run_turn("free now")).text == "d"

    run(body)


def test_the_listing_is_newest_first_and_by_folder(settings: Settings) -> None:
    elsewhere = settings.cwd.parent / "other"
    elsewhere.mkdir()
    turn(settings, "first   prompt\nhere", "a", session_id=ONE)
    turn(settings, "elsewhere", "b", session_id=TWO, cwd=str(elsewhere))
    here = listed(settings)
    assert [(card.id, card.title) for card in here] == [(ONE, "first prompt here")]
    assert here[0].cwd == os.path.realpath(settings.cwd)
    for card, when in zip(
        sessions_of(everywhere=True, environ=settings.environ), (50, 60), strict=True
    ):
        os.utime(card.path, (when, when))
    cards = sessions_of(everywhere=True, environ=settings.environ)
    assert [card.active for card in cards] == [60, 50]
    assert {card.id for card in cards} == {ONE, TWO}


def test_damage_is_passed_over_and_said(settings: Settings) -> None:
    turn(settings, "hi", "a", session_id=ONE)
    (card,) = listed(settings)
    with open(card.path, "ab") as file:
        file.write(b'{"crc":"00000000","type":"prom')

    async def body() -> list[str]:
        notices: list[str] = []
        options = settings(ScriptedModel("b"), persist=True, resume=ONE)
        async with Session(options) as session:
            async for event in session.send("go on"):
                if (text := getattr(event, "text", "")) and "could not be read" in text:
                    notices.append(text)
        return notices

    assert len(run(body)) == 1


def test_another_model_from_the_next_turn_on(settings: Settings, tmp_path: Any) -> None:
    script = tmp_path / "script.json"
    script.write_text('{"replies": ["from the script"]}')

    async def body() -> None:
        async with Session(settings(ScriptedModel("one", name="first"))) as session:
            await session.run_turn("a")
            await session.switch_model(f"scripted:{script}")
            assert session.model == "scripted"
            assert (await session.run_turn("b")).text == "from the script"
            assert [e.model for e in session.entries if isinstance(e, Switched)] == ["scripted"]

    run(body)
