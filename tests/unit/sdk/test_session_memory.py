"""`Session.memory()`: which files the model reads, for programs and for /memory."""

from __future__ import annotations

import asyncio
from pathlib import Path

from detent.app.options import Options
from detent.sdk.memory import memory_of
from detent.sdk.session import Session
from detent.testing import call, reply
from detent.testing.scripted_model import ScriptedModel


def options(folder: Path, *replies: object) -> Options:
    environ = {"HOME": str(folder / "home"), "DETENT_HOME": str(folder / "detent")}
    return Options(
        model=ScriptedModel(*replies),
        cwd=str(folder / "p"),
        environ=environ,
        managed_folders=(),
        persist=False,
    )


def test_what_is_found_while_working_is_shown(tmp_path: Path) -> None:
    (tmp_path / "p/sub").mkdir(parents=True)
    (tmp_path / "p/CLAUDE.md").write_text("words @more.md")
    (tmp_path / "p/more.md").write_text("more words")
    (tmp_path / "p/sub/CLAUDE.md").write_text("about sub")
    (tmp_path / "p/sub/a.txt").write_text("a")

    async def play() -> tuple[list[str], list[str]]:
        given = options(tmp_path, reply(call("Read", file_path="sub/a.txt")), "done")
        async with Session(given) as session:
            before = [piece.path for piece in await session.memory()]
            await session.run_turn("go")
            return before, [piece.path for piece in await session.memory()]

    before, after = asyncio.run(play())
    start = [str(tmp_path / "p/CLAUDE.md"), str(tmp_path / "p/more.md")]
    assert before == start
    assert after == [*start, str(tmp_path / "p/sub/CLAUDE.md")]


def test_without_a_session_no_model_is_needed(tmp_path: Path) -> None:
    (tmp_path / "p").mkdir()
    (tmp_path / "p/AGENTS.md").write_text("words")
    found = asyncio.run(memory_of(options(tmp_path)))
    assert [(piece.state, piece.characters) for piece in found.files] == [("loaded", 5)]
    assert found.folder == str(tmp_path / "p")
