"""Who chooses what the log survives, and that a call with effects waits for it."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any, Literal

import pytest

from detent.app import recorder as recorder_module
from detent.app.settings.merging import merge_all
from detent.app.settings.record import Source
from detent.sdk.custom_tools import tool
from detent.sdk.options import Options
from detent.sdk.session import Session
from detent.session.log import FileLog
from detent.testing import Reply, call, reply
from detent.testing.scripted_model import ScriptedModel
from detent.types.agents import ChildChanged, TaskChanged
from detent.types.codec import encode
from detent.types.content import Text
from detent.types.effects import Reads, Writes
from detent.types.errors import BadInput
from detent.types.events import CallEnded, Entry, Notice
from detent.types.messages import Request


def source(name: str, value: Any) -> Source:
    is_project = name in ("project", "local")
    return Source(name, name, {"durability": value}, is_project, is_trusted=True)


@pytest.mark.parametrize(
    ("said", "counts"),
    [
        ([], ""),
        ([("user", "power")], "power"),
        ([("user", "power"), ("project", "process")], "power"),
        ([("user", "process"), ("project", "power")], "power"),
        ([("project", "process")], ""),
        ([("user", "power"), ("flag", "process")], "process"),
    ],
)
def test_a_project_may_want_more_and_not_less(said: list[tuple[str, str]], counts: str) -> None:
    sources = [source(name, value) for name, value in said]
    assert merge_all(sources, trusted=True).durability == counts


def test_other_words_are_mistakes() -> None:
    with pytest.raises(BadInput, match="durability is one of process, power, not 'none'"):
        merge_all([source("user", "none")], trusted=True)


@pytest.mark.parametrize("level", ["process", "power"])
def test_the_intent_survives_before_the_effect(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, level: Literal["process", "power"]
) -> None:
    monkeypatch.setattr(recorder_module, "SYNC_AFTER", 3600.0)
    unsynced: list[bool] = []

    @tool(effects=(Writes("x.txt"),))
    def act() -> str:
        """Acts."""
        unsynced.append(session._engine.journal.log.unsynced)
        return "done"

    @tool(effects=(Reads("x.txt"),))
    def look() -> str:
        """Looks."""
        unsynced.append(session._engine.journal.log.unsynced)
        return "seen"

    model = ScriptedModel(reply(call("act")), reply(call("look")), "rests")
    options = Options(
        model=model,
        cwd=str(tmp_path),
        environ={"HOME": str(tmp_path), "DETENT_HOME": str(tmp_path / "state")},
        custom_tools=(act, look),
        permission_mode="bypassPermissions",
        durability=level,
    )

    async def run() -> None:
        await session.run_turn("go")
        await session.aclose()

    session = Session(options)
    asyncio.run(run())
    assert unsynced == [level == "process", True], "what only looks need not wait"
    assert not session._engine.journal.log.unsynced


@pytest.mark.parametrize("level", ["process", "power"])
def test_what_a_child_did_is_safe_above_before_its_own_log_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, level: Literal["process", "power"]
) -> None:
    """The shared tasks, and what it changed in files, are in the log of the session."""
    monkeypatch.setattr(recorder_module, "SYNC_AFTER", 3600.0)
    unsynced: dict[str, bool] = {}
    append = FileLog.append

    def noted(log: FileLog, entry: Entry) -> Entry:
        root = session._engine.journal.log
        if isinstance(entry, CallEnded) and log is not root:
            unsynced[entry.name] = root.unsynced
        return append(log, entry)

    monkeypatch.setattr(FileLog, "append", noted)

    def speaks(request: Request) -> Reply | str:
        if "go" in encode(request.messages[0]).decode():
            last = request.messages[-1]
            asked = isinstance(last.content[-1], Text)
            return reply(call("Agent", description="d", prompt="work")) if asked else "rests"
        if len(request.messages) > 1:
            return "rests"
        return reply(call("TaskCreate", subject="s"), call("Write", file_path="x.txt", content="x"))

    session = Session(
        Options(
            model=ScriptedModel(speaks, repeat_last=True),
            cwd=str(tmp_path),
            environ={"HOME": str(tmp_path), "DETENT_HOME": str(tmp_path / "state")},
            permission_mode="bypassPermissions",
            durability=level,
        )
    )

    async def run() -> None:
        await session.run_turn("go")
        await session.aclose()

    asyncio.run(run())
    told = {type(entry) for entry in session.entries}
    assert {TaskChanged, ChildChanged} <= told
    assert unsynced == {"TaskCreate": level == "process", "Write": level == "process"}


def test_a_sync_that_fails_at_the_very_end_is_told_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(descriptor: int) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fdatasync", fails)
    monkeypatch.setattr(recorder_module, "SYNC_AFTER", 3600.0)
    environ = {"HOME": str(tmp_path), "DETENT_HOME": str(tmp_path / "state")}
    session = Session(Options(model=ScriptedModel("hi"), cwd=str(tmp_path), environ=environ))

    async def run() -> None:
        await session.run_turn("go")
        await session.aclose()

    asyncio.run(run())
    (told,) = [event for event in session.parting if isinstance(event, Notice)]
    assert told.level == "error"
    assert "would not survive a power cut: Input/output error" in told.text
