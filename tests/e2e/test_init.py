"""`detent init`: an AGENTS.md without a model, and that it is then read."""

from __future__ import annotations

import json

from .conftest import Runner


def test_it_writes_a_file_that_counts(runner: Runner) -> None:
    (runner.work / "Makefile").write_text("test:\n\ttrue\n")
    shown = runner.run("init", "--dry-run")
    assert (shown.code, shown.stderr) == (
        0,
        "",
    ) and "- Test: `make test` (Makefile)" in shown.stdout
    assert not (runner.work / "AGENTS.md").exists()
    ran = runner.run("init")
    assert ran.code == 0 and ran.stdout.startswith(f"Written: {runner.work}/AGENTS.md\n")
    assert (runner.work / "AGENTS.md").read_text() == shown.stdout
    assert f"{runner.work}/AGENTS.md" in runner.run("memory").stdout
    assert not runner.state.exists(), "nothing else is written"


def test_one_that_is_there_is_not_replaced_unasked(runner: Runner) -> None:
    folder = runner.work / "sub"
    folder.mkdir()
    (folder / "go.mod").write_text("module x\n")
    (folder / "AGENTS.md").write_text("mine\x1b[2J\n")
    (folder / "CLAUDE.md").touch()
    ran = runner.run("init", "sub")
    assert ran.code == 1 and "\x1b" not in ran.stdout
    assert "is there already. It does not say:\n" in ran.stdout
    assert "- Test: `go test ./...` (go.mod)\n" in ran.stdout
    assert (folder / "AGENTS.md").read_text() == "mine\x1b[2J\n"
    ran = runner.run("init", "sub", "--yes")
    assert ran.code == 0 and "add the line @AGENTS.md to that file" in ran.stdout
    assert "go test" in (folder / "AGENTS.md").read_text()
    assert "says all that detent init would" in runner.run("init", "sub").stdout


def test_for_programs_and_mistakes(runner: Runner) -> None:
    found = json.loads(runner.run("init", "--json").stdout)
    assert found["folder"] == str(runner.work) and found["commands"] == []
    assert not (runner.work / "AGENTS.md").exists()
    assert runner.run("init", "no-such-folder").code == 2
    assert runner.run("init", "a", "b").code == 2
    ran = runner.run("init", "--model", "x")
    assert ran.code == 2 and "detent init does not take --model" in ran.stderr
