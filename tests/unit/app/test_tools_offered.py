"""Tools that would have nothing to do are not offered, and who named one is told why."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from detent.app.engine import Engine
from detent.app.options import Options
from detent.app.wire import assemble
from detent.testing.scripted_model import ScriptedModel


def engine(folder: Path, **more: Any) -> Engine:
    return assemble(
        Options(
            model=ScriptedModel("x"), cwd=str(folder), persist=False,
            environ={"HOME": str(folder)}, **more,
        )
    )  # fmt: skip


def offered(folder: Path, **more: Any) -> set[str]:
    return {spec.name for spec in engine(folder, **more).kit.toolbox.specs()}


def test_what_is_usual_is_offered_and_nothing_is_said(tmp_path: Path) -> None:
    assert {"LSP", "Bash", "TaskOutput", "TaskStop"} <= offered(tmp_path)
    assert engine(tmp_path).notices == []


def test_without_language_servers_there_is_nobody_to_ask(tmp_path: Path) -> None:
    assert "LSP" not in offered(tmp_path, settings={"lsp": False})


@pytest.mark.parametrize(
    "more",
    [
        {"disallowed_tools": ("Bash",)},
        {"tools": ["Read", "TaskOutput", "TaskStop"]},
    ],
)
def test_tasks_come_only_from_bash(tmp_path: Path, more: Any) -> None:
    assert not {"TaskOutput", "TaskStop"} & offered(tmp_path, **more)
    assert {"TaskOutput", "TaskStop"} <= offered(tmp_path, disallowed_tools=("Bash(rm *)",))


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("WebSearch", "no search provider is set up (webSearch in the settings)"),
        ("AskUserQuestion", "nobody is there to answer"),
        ("ToolSearch", "no tools are held back"),
        ("tool_search", "no tools are held back"),
        ("TaskStop", "it needs Bash"),
        ("LSP", "the setting lsp switches language servers off"),
    ],
)
def test_who_names_a_tool_that_is_not_there_is_told(tmp_path: Path, name: str, reason: str) -> None:
    (note,) = engine(tmp_path, tools=["Read", name], settings={"lsp": False}).notices
    assert note.endswith(f" is not offered: {reason}")


def test_who_denies_a_tool_knows_why_it_is_missing(tmp_path: Path) -> None:
    assert engine(tmp_path, tools=["Read", "Bash"], disallowed_tools=("Bash",)).notices == []
