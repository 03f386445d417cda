"""Language servers through the installed command: LSP, what edits make wrong, and who may say
which programs run."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from detent.testing import call, reply

from .conftest import Runner

FAKE = Path(__file__).parents[1] / "unit" / "tools" / "language" / "fake_server.py"
TEXT = "use one\ndef one\n"


@pytest.fixture
def toy(runner: Runner) -> Path:
    """A file of the toy language, whose server the user has named; its notes are returned."""
    notes = runner.folder / "notes"
    notes.mkdir()
    command = [sys.executable, "-I", str(FAKE), str(notes)]
    runner.state.mkdir()
    (runner.state / "settings.json").write_text(json.dumps({"lsp": {".toy": command}}))
    (runner.work / "a.toy").write_text(TEXT)
    return notes


def heard(notes: Path) -> list[dict[str, Any]]:
    path = notes / "heard.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def test_a_question_is_answered_by_the_server(runner: Runner, toy: Path) -> None:
    runner.serve(
        reply(call("LSP", action="definition", path="a.toy", query="one")),
        reply("There."),
    )
    ran = runner.frames("where?")
    assert ran.code == 0, ran
    (result,) = ran.tool_results
    assert result["content"] == "Definition of `one` (a.toy:1:5):\na.toy:2:5  def one"
    assert result["data"]["operation"] == "definition"


def test_an_edit_tells_what_it_has_made_wrong(runner: Runner, toy: Path) -> None:
    runner.serve(
        reply(call("Read", file_path="a.toy")),
        reply(call("Edit", file_path="a.toy", old_string="use one", new_string="use BAD")),
        reply(call("Edit", file_path="a.toy", old_string="use BAD", new_string="use two")),
        reply("Done."),
    )
    ran = runner.frames("break it", "--permission-mode", "acceptEdits")
    assert ran.code == 0, ran
    _, broken, mended = (str(result["content"]) for result in ran.tool_results)
    assert "New diagnostics in a.toy:" in broken
    assert "1:5 error: BAD is wrong (toy)" in broken
    assert "New diagnostics" not in mended


def test_the_server_ends_with_the_session(runner: Runner, toy: Path) -> None:
    runner.serve(reply(call("LSP", action="symbols", path="a.toy")), reply("Done."))
    assert runner.prompt("look").code == 0
    notes = heard(toy)
    assert [one.get("method") for one in notes[-2:]] == ["shutdown", "exit"]
    with pytest.raises(ProcessLookupError):
        os.kill(notes[0]["pid"], 0)


def test_a_project_cannot_start_a_program(runner: Runner) -> None:
    notes = runner.folder / "notes"
    notes.mkdir()
    command = [sys.executable, "-I", str(FAKE), str(notes)]
    (runner.work / ".detent").mkdir()
    (runner.work / ".detent" / "settings.json").write_text(json.dumps({"lsp": {".toy": command}}))
    (runner.work / "a.toy").write_text(TEXT)
    runner.serve(reply(call("LSP", action="symbols", path="a.toy")), reply("None, then."))
    ran = runner.frames("look", "--trust")
    (result,) = ran.tool_results
    assert result["is_error"]
    assert result["content"] == (
        "LSP: no language server for .toy files is known. Use Grep instead."
    )
    assert heard(notes) == []


def test_an_absent_server_is_reported(runner: Runner) -> None:
    (runner.work / "a.go").write_text("package a\n")
    runner.serve(reply(call("LSP", action="symbols", path="a.go")), reply("None, then."))
    (result,) = runner.frames("look", env={"PATH": "/nowhere"}).tool_results
    assert "(looked for gopls). Use Grep instead." in result["content"]


def test_lines_of_files_that_read_may_not_open_are_not_shown(runner: Runner) -> None:
    secrets = {"private/s.toy": "password one\n", ".env": "KEY=one\n", "free.toy": "open one\n"}
    for name, text in {"a.toy": "one\n", **secrets}.items():
        (runner.work / name).parent.mkdir(exist_ok=True)
        (runner.work / name).write_text(text)
    (runner.folder / "outside.txt").write_text("outside one\n")
    (runner.work / "link.toy").symlink_to(runner.folder / "outside.txt")
    places = [str(runner.work / name) for name in (*secrets, "link.toy")]
    command = [
        sys.executable, "-I", str(FAKE), str(runner.folder), json.dumps({"points at": places}),
    ]  # fmt: skip
    own = {"lsp": {".toy": command}, "permissions": {"deny": ["Read(private/**)"]}}
    runner.serve(reply(call("LSP", action="references", path="a.toy", query="one")), "done")
    (result,) = runner.frames("look", "--settings", json.dumps(own)).tool_results
    assert result["content"].splitlines()[1:] == [
        ".env:1:1", "free.toy:1:1  open one", "link.toy:1:1", "private/s.toy:1:1",
    ]  # fmt: skip


def test_a_file_that_must_not_be_read_is_not_shown_to_a_server(runner: Runner, toy: Path) -> None:
    runner.serve(reply(call("LSP", action="hover", path="a.toy", query="one")), reply("I may not."))
    (result,) = runner.frames("look", "--disallowedTools", "Read(a.toy)").tool_results
    assert result["is_error"]
    assert heard(toy) == []
