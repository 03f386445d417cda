"""Undo, redo and rewind of a session that is open."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from sdkbench import Settings, run

from detent.sdk.session import Session
from detent.testing import call, reply
from detent.testing.scripted_model import ScriptedModel
from detent.types.events import CallEnded, Event, Reminded, Restored, Rewound
from detent.types.files import Undone
from detent.types.outcomes import Failed


def calls(name: str, **arguments: Any) -> Any:
    return reply(call(name, **arguments))


def session_of(settings: Settings, *replies: Any, **more: Any) -> Session:
    given = {"persist": True, "permission_mode": "bypassPermissions", "sandbox": "off", **more}
    return Session(settings(ScriptedModel(*replies), **given))


def test_everything_is_an_entry_that_observers_see(settings: Settings) -> None:
    path = settings.cwd / "a"
    seen: list[Event] = []

    async def body() -> None:
        write = calls("Write", file_path=str(path), content="one")
        async with session_of(settings, write, "done", observers=(seen.append,)) as session:
            await session.run_turn("go")
            look = await session.undo(dry_run=True)
            assert look.is_preview and path.exists()
            report = await session.undo()
            assert report.steps == (1,) and not path.exists()
            assert [e.begun for e in session.entries if isinstance(e, Undone)] == [True, False]
            redone = await session.redo()
            assert redone.files is not None and path.read_text() == "one"
            assert [point.number for point in session.points()] == [1]
            await session.rewind(1, "chat")
            await session.redo()
            kinds = [type(entry) for entry in session.entries]
            assert kinds.count(Rewound) == kinds.count(Restored) == 1
            assert [e for e in seen if isinstance(e, Undone | Rewound | Restored)] == [
                e for e in session.entries if isinstance(e, Undone | Rewound | Restored)
            ]

    run(body)


def test_not_while_a_turn_runs(settings: Settings) -> None:
    async def body() -> None:
        async with session_of(settings, "done") as session:
            events = session.send("go")
            await anext(events)
            for refused in (session.undo, session.redo, lambda: session.rewind(1)):
                with pytest.raises(RuntimeError, match="a turn is running"):
                    await refused()
            await events.aclose()

    run(body)


def test_what_was_read_after_the_point_must_be_read_again(settings: Settings) -> None:
    """Else it would edit what it has never seen."""
    path = settings.cwd / "a"
    path.write_text("one\n")
    read = calls("Read", file_path=str(path))
    edit = calls("Edit", file_path=str(path), old_string="one", new_string="two")

    async def body(*, rewinds: bool, resumes: bool) -> CallEnded:
        async with session_of(settings, read, "read", edit, "edited") as session:
            await session.run_turn("look")
            if rewinds:
                await session.rewind(1, "chat")
            if not resumes:
                await session.run_turn("change it")
                return [e for e in session.entries if isinstance(e, CallEnded)][-1]
            log = session.id
        async with session_of(settings, edit, "edited", resume=log) as session:
            await session.run_turn("change it")
            return [e for e in session.entries if isinstance(e, CallEnded)][-1]

    for resumes in (False, True):
        refused = run(lambda r=resumes: body(rewinds=True, resumes=r))
        assert isinstance(refused.outcome, Failed) and path.read_text() == "one\n"
        run(lambda r=resumes: body(rewinds=False, resumes=r))
        assert path.read_text() == "two\n"
        path.write_text("one\n")


def test_the_folder_goes_back_with_the_chat(settings: Settings) -> None:
    (settings.cwd / "deep").mkdir()

    async def body() -> None:
        moves = calls("Bash", command="cd deep")
        async with session_of(settings, "hello", moves, "there") as session:
            await session.run_turn("hi")
            await session.run_turn("go there")
            assert Path(session.cwd).name == "deep"
            await session.rewind(2, "chat")
            assert Path(session.cwd).name == "work"
            await session.redo()
            assert Path(session.cwd).name == "deep"

    run(body)


def test_money_and_turns_stay_counted(settings: Settings) -> None:
    async def body() -> None:
        async with session_of(settings, "one", "two", "three") as session:
            await session.run_turn("a")
            await session.run_turn("b")
            spent = session.spent
            await session.rewind(1, "both")
            assert session.spent == spent
            await session.run_turn("c")
            assert [point.number for point in session.points()] == [3]

    run(body)


def test_a_cancelled_undo_comes_to_its_end(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half of one helps nobody."""
    import threading

    from detent.app.undo import applying

    path = settings.cwd / "a"
    inside, go_on = threading.Event(), threading.Event()
    ways_of = applying.ways_of

    def slow(*args: Any, **more: Any) -> Any:
        if threading.current_thread() is not threading.main_thread():
            inside.set()
            assert go_on.wait(20)
        return ways_of(*args, **more)

    async def body() -> None:
        write = calls("Write", file_path=str(path), content="one")
        async with session_of(settings, write, "done") as session:
            await session.run_turn("go")
            monkeypatch.setattr(applying, "ways_of", slow)
            undoing = asyncio.create_task(session.undo())
            while not inside.is_set():
                await asyncio.sleep(0)
            undoing.cancel()
            go_on.set()
            with pytest.raises(asyncio.CancelledError):
                await undoing
            assert not path.exists()
            last = session.entries[-1]
            assert isinstance(last, Reminded) and last.source == "undo"

    run(body)
