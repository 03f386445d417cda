"""`detent doctor`: what works here, tried out."""

from __future__ import annotations

import json
import os

import pytest

from detent.types.version import VERSION

from .conftest import Runner
from .sandboxes import needs_bwrap
from .test_sandbox import settings


def test_it_names_what_there_is(runner: Runner) -> None:
    settings(runner, network={"allowedDomains": ["pypi.org"], "deniedDomains": ["x.pypi.org"]})
    ran = runner.run("doctor")
    assert ran.code == 0, ran
    assert ran.stdout.startswith(f"detent {VERSION}, Python 3.")
    assert f"Folder: {runner.work} (not trusted)" in ran.stdout
    assert f"  user     {runner.state}/settings.json" in ran.stdout
    assert "Hosts that commands may reach: pypi.org, but not x.pypi.org" in ran.stdout
    assert ran.stderr == ""


def test_every_check_says_what_it_found(runner: Runner) -> None:
    (runner.work / ".mcp.json").write_text('{"mcpServers": {"notes\\u001b[2J": {"command": "x"}}}')
    ran = runner.run("doctor", "--sandbox", "off", env={"ANTHROPIC_API_KEY": "secret-key"})
    assert ran.code == 0, ran
    marks = {line[2:12].strip(): line for line in ran.stdout.splitlines() if line[:1] in "✓!✗"}
    assert marks["model"] == "✓ model      claude-sonnet-5-5 of anthropic, key: ANTHROPIC_API_KEY"
    assert "secret-key" not in ran.stdout and "\x1b" not in ran.stdout
    assert "this folder is in no repository" in marks["git"]
    assert marks["mcp"].startswith("! mcp        notes<U+001B>[2J in ")
    assert "→ MCP is not part of this version: they are not started" in ran.stdout
    assert "no sessions in " in marks["sessions"] and "GB free" in marks["sessions"]
    names = ["python", "model", "git", "ripgrep", "terminal", "settings", "memory", "languages",
             "mcp", "sessions", "sandbox"]  # fmt: skip
    assert [name for name in marks if name] == names
    assert ran.stdout.endswith("\nNo problems, 1 warning.\n")


def test_a_model_that_is_named_and_cannot_be_had_is_a_problem(runner: Runner) -> None:
    ran = runner.run("doctor", "--sandbox", "off", "--model", "anthropic/x", "--json")
    assert ran.code == 1, ran
    (check,) = [one for one in json.loads(ran.stdout)["checks"] if one["name"] == "model"]
    assert check["state"] == "problem" and "needs a key: set ANTHROPIC_API_KEY" in check["text"]
    assert "start Ollama or another local server" in check["advice"]


@needs_bwrap
def test_every_promise_was_tried_with_every_backend(runner: Runner) -> None:
    ran = runner.run("doctor", "--json")
    assert ran.code == 0, ran
    sandbox = json.loads(ran.stdout)["sandbox"]
    assert (sandbox["wanted"], sandbox["chosen"]) == ("auto", "bwrap")
    held = {row["promise"]: row["held"] for row in sandbox["promises"]}
    assert {"writes", "network", "secrets", "environment", "children"} <= held.keys()
    assert all(row["bwrap"] for row in held.values()), sandbox
    assert all(row.keys() == {"bwrap", "landlock"} for row in held.values())
    table = runner.run("doctor").stdout
    assert "nothing is written outside the workspace " in table
    assert "Sandbox: bwrap (wanted: auto), profile workspace-write" in table
    lines = table.splitlines()
    for row in sandbox["promises"]:
        at = next(n for n, line in enumerate(lines) if line.startswith(f"  {row['text']} "))
        below = [f"    got through {name}: {what}" for name, what in row["details"].items()]
        if row["held"] == {"bwrap": True, "landlock": True}:
            assert below == [] and "got through" not in lines[at + 1]
        elif any(one["held"]["landlock"] for one in sandbox["promises"]):
            assert lines[at + 1] == below[0], table


@needs_bwrap
def test_what_is_asked_for_and_does_not_work_is_a_problem(runner: Runner) -> None:
    hidden = (
        'exec /usr/bin/bwrap --dev-bind / / --ro-bind /dev/null /usr/bin/bwrap -- "$@" '
        "--sandbox bwrap; true"
    )
    ran = runner.run("doctor", shell=hidden)
    assert ran.code == 1, ran
    assert "Problem: the sandbox that is asked for does not work" in ran.stdout
    assert ran.stdout.count("  bwrap: bubblewrap is not installed") == 1
    assert "Sandbox: none (wanted: bwrap)" in ran.stdout


def test_off_is_no_problem(runner: Runner) -> None:
    ran = runner.run("doctor", "--sandbox", "off")
    assert ran.code == 0 and "Sandbox: none (wanted: off)" in ran.stdout


def test_settings_that_cannot_be_read_are_a_problem(runner: Runner) -> None:
    runner.state.mkdir()
    path = runner.state / "settings.json"
    path.write_text('{"sandbox": {"mode": "docker"}}')
    ran = runner.run("doctor")
    assert ran.code == 1
    assert f"Problem: {path}:1: sandbox.mode is one of auto, bwrap, landlock, off" in ran.stdout
    found = json.loads(runner.run("doctor", "--json").stdout)
    assert found["sandbox"] is None
    states = {check["name"]: check["state"] for check in found["checks"]}
    assert states["settings"] == "problem" and states["git"] == "ok", "the others look all the same"


def test_what_a_project_may_not_say_is_told(runner: Runner) -> None:
    (runner.work / ".detent").mkdir()
    (runner.work / ".detent" / "settings.json").write_text('{"sandbox": {"enabled": false}}')
    ran = runner.run("doctor")
    assert ran.code == 0
    (line,) = [line for line in ran.stdout.splitlines() if "sandbox.enabled ignored" in line]
    assert line.startswith("!") and f"{runner.work}/.detent/settings.json:1: " in line


@pytest.mark.parametrize("words", [("x",), ("--sandbox", "docker")])
def test_mistakes_are_named(runner: Runner, words: tuple[str, ...]) -> None:
    assert runner.run("doctor", *words).code == 2


def test_it_leaves_nothing_behind(runner: Runner) -> None:
    assert runner.run("doctor").code == 0
    assert os.listdir(runner.work) == []
    assert not runner.state.exists()
