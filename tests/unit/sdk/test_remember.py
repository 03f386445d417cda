"""A line more in a memory file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sdkbench import Settings, run

from detent.sdk.session import Session
from detent.testing.scripted_model import ScriptedModel
from detent.types.errors import BadInput


class TestRemember:
    def remembered(self, options: Any, text: str, where: Any) -> Path:
        async def body() -> str:
            async with Session(options) as session:
                return await session.remember(text, where)

        return Path(run(body))

    def test_the_files_that_are_made(self, settings: Settings) -> None:
        options = settings(ScriptedModel())
        for where, path in (
            ("project", settings.cwd / "AGENTS.md"),
            ("local", settings.cwd / "CLAUDE.local.md"),
            ("user", settings.home / "DETENT.md"),
        ):
            assert self.remembered(options, f"- use  tabs\nin {where} ", where) == path
            assert path.read_text() == f"- use tabs in {where}\n"
            assert self.remembered(options, "two", where) == path
            assert path.read_text().endswith("tabs in " + where + "\n- two\n")

    @pytest.mark.parametrize("name", ["CLAUDE.md", ".claude/CLAUDE.md", "AGENTS.md"])
    def test_the_file_that_is_read(self, settings: Settings, name: str) -> None:
        path = settings.cwd / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("# Rules\n")
        if name != "AGENTS.md":
            (settings.cwd / "AGENTS.md").write_text("not read\n")
        assert self.remembered(settings(ScriptedModel()), "new", "project") == path
        assert path.read_text() == "# Rules\n- new\n"

    def test_the_users_own_rather_than_the_others(self, settings: Settings) -> None:
        theirs = settings.home.parent / ".claude" / "CLAUDE.md"
        theirs.parent.mkdir()
        theirs.write_text("theirs\n")
        options = settings(ScriptedModel())
        assert self.remembered(options, "new", "user") == theirs
        (settings.home / "AGENTS.md").write_text("ours\n")
        assert self.remembered(options, "new", "user") == settings.home / "AGENTS.md"

    @pytest.mark.parametrize(
        ("before", "after"),
        [
            (b"a\r\nb\r\n", b"a\r\nb\r\n- new\r\n"),
            (b"a\nb", b"a\nb\n- new"),
            (b"", b"- new\n"),
            ("\ufeffa\n".encode(), "\ufeffa\n- new\n".encode()),
            ("\ufeffa\r\n".encode("utf-16-le"), "\ufeffa\r\n- new\r\n".encode("utf-16-le")),
            (b"\xff\n", b"\xff\n- new\n"),
        ],
    )
    def test_a_file_stays_as_it_is_written(
        self, settings: Settings, before: bytes, after: bytes
    ) -> None:
        path = settings.cwd / "CLAUDE.md"
        path.write_bytes(before)
        path.chmod(0o640)
        self.remembered(settings(ScriptedModel()), "new", "project")
        assert path.read_bytes() == after
        assert path.stat().st_mode & 0o777 == 0o640

    def test_the_model_reads_it_with_the_next_prompt(self, settings: Settings) -> None:
        asked: list[str] = []

        def answer(request: Any) -> Any:
            asked.append(str(request.messages))
            return "fine"

        async def body() -> None:
            async with Session(settings(ScriptedModel(answer, answer))) as session:
                await session.run_turn("go")
                await session.remember("the port is 4711", "project")
                await session.run_turn("on")

        run(body)
        assert ["4711" in text for text in asked] == [False, True]

    def test_a_link_within_the_project_is_followed(self, settings: Settings) -> None:
        (settings.cwd / "AGENTS.md").write_text("x\n")
        (settings.cwd / "CLAUDE.md").symlink_to("AGENTS.md")
        self.remembered(settings(ScriptedModel()), "new", "project")
        assert (settings.cwd / "AGENTS.md").read_text() == "x\n- new\n"
        assert (settings.cwd / "CLAUDE.md").is_symlink()

    def test_what_is_not_written(self, settings: Settings) -> None:
        outside = settings.home.parent / "outside.md"
        outside.write_text("mine\n")
        (settings.cwd / "CLAUDE.md").symlink_to(outside)
        (settings.cwd / "CLAUDE.local.md").mkdir()
        (settings.home / "DETENT.md").write_bytes(b"\0\1")
        off = {**settings.environ, "CLAUDE_CODE_DISABLE_CLAUDE_MDS": "1"}
        for text, where, more in (
            (" \n", "project", {}),
            ("-  ", "project", {}),
            ("new", "project", {}),
            ("new", "local", {}),
            ("new", "user", {}),
            ("new", "everywhere", {}),
            ("new", "user", {"environ": off}),
            ("new", "user", {"setting_sources": ("project",)}),
        ):
            with pytest.raises(BadInput):
                self.remembered(settings(ScriptedModel(), **more), text, where)
        assert outside.read_text() == "mine\n"
        assert not list(settings.cwd.glob("*.lock"))
