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
    assert f"Problem: {path}: sandbox.mode is one of auto, bwrap, landlock, off" in ran.stdout
    assert json.loads(runner.run("doctor", "--json").stdout)["sandbox"] is None


def test_what_a_project_may_not_say_is_told(runner: Runner) -> None:
    (runner.work / ".detent").mkdir()
    (runner.work / ".detent" / "settings.json").write_text('{"sandbox": {"enabled": false}}')
    ran = runner.run("doctor")
    assert ran.code == 0
    assert "Note: " in ran.stdout and "sandbox.enabled ignored" in ran.stdout


@pytest.mark.parametrize("words", [("x",), ("--sandbox", "docker")])
def test_mistakes_are_named(runner: Runner, words: tuple[str, ...]) -> None:
    assert runner.run("doctor", *words).code == 2


def test_it_leaves_nothing_behind(runner: Runner) -> None:
    assert runner.run("doctor").code == 0
    assert os.listdir(runner.work) == []
    assert not runner.state.exists()
