"""`detent sessions export`: a session for people and for programs."""

from __future__ import annotations

import json
import os
import stat

import pytest

from detent.testing import call, reply

from .conftest import Runner

RUN = ("--dangerously-skip-permissions",)


@pytest.fixture
def session(runner: Runner) -> str:
    """One that has written a file, with a result too large for its log."""
    (runner.work / "AGENTS.md").write_text("Use tabs.\n")
    big = "import sys; sys.stdout.write('x' * 20000 + '\\n')"
    runner.serve(
        reply("Writing.", call("Write", file_path="a.txt", content="one\n")),
        reply(call("Bash", command=f'python3 -c "{big}"')),
        "All <b>done</b>.",
    )
    ran = runner.prompt("make a.txt", *RUN)
    assert ran.code == 0, ran
    return str(json.loads(ran.stdout)["session_id"])


def test_the_newest_session_goes_to_stdout_as_markdown(runner: Runner, session: str) -> None:
    ran = runner.run("sessions", "export")
    assert ran.code == 0, ran
    assert ran.stdout.startswith(f"# Session {session}\n")
    assert "> make a.txt" in ran.stdout and "All <b>done</b>." in ran.stdout
    assert "- made a.txt\n\n```diff\n" in ran.stdout and "+one\n" in ran.stdout
    assert runner.run("sessions", "export", session[:8]).stdout == ran.stdout


def test_the_name_of_the_file_tells_the_form(runner: Runner, session: str) -> None:
    page = runner.work / "session.html"
    ran = runner.run("sessions", "export", session, "--output", str(page))
    assert (ran.code, ran.stdout) == (0, "")
    assert page.read_text().startswith("<!doctype html>")
    assert "All &lt;b&gt;done&lt;/b&gt;." in page.read_text()
    assert stat.S_IMODE(page.stat().st_mode) == 0o600


def test_a_file_that_exists_is_not_overwritten(runner: Runner, session: str) -> None:
    file = runner.work / "mine.md"
    file.write_text("mine")
    ran = runner.run("sessions", "export", session, "--output", str(file))
    assert ran.code == 2 and "--yes replaces it" in ran.stderr
    assert file.read_text() == "mine"
    ran = runner.run("sessions", "export", session, "--output", str(file), "--yes")
    assert ran.code == 0 and file.read_text().startswith("# Session ")
    assert sorted(os.listdir(runner.work)) == ["AGENTS.md", "a.txt", "mine.md"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("nobody",), "no session 'nobody' was found"),
        (("one", "two"), "takes one session"),
        (("--format", "pdf"), "md, json, html, snapshot"),
        (("--output", "x.doc"), "what should x.doc be?"),
    ],
)
def test_what_cannot_be_is_told(
    runner: Runner, session: str, words: tuple[str, ...], told: str
) -> None:
    ran = runner.run("sessions", "export", *words)
    assert (ran.code, ran.stdout) == (2, "")
    assert told in ran.stderr


def test_a_place_that_cannot_be_written_is_an_error(runner: Runner, session: str) -> None:
    ran = runner.run("sessions", "export", session, "--output", "no/such/folder.md")
    assert ran.code == 1 and "cannot be written" in ran.stderr


def test_a_link_stays_and_what_it_leads_to_is_replaced(runner: Runner, session: str) -> None:
    file, link = runner.work / "real.md", runner.work / "link.md"
    file.write_text("old")
    link.symlink_to("real.md")
    assert runner.run("sessions", "export", session, "--output", str(link), "--yes").code == 0
    assert link.is_symlink() and file.read_text().startswith("# Session ")


@pytest.mark.parametrize("device", ["/dev/stdout", "/dev/full"])
def test_a_device_is_written_to_and_stays_one(runner: Runner, session: str, device: str) -> None:
    number = os.lstat(device).st_ino
    ran = runner.run("sessions", "export", session, "--format", "md", "--output", device, "--yes")
    assert os.lstat(device).st_ino == number, "nothing else has come into its place"
    if device == "/dev/full":
        assert ran.code == 1 and "No space left" in ran.stderr
    else:
        assert ran.code == 0 and ran.stdout.startswith("# Session ")


def test_as_json_it_can_be_imported_on_another_machine(runner: Runner, session: str) -> None:
    file = runner.folder / "session.json"
    assert runner.run("sessions", "export", session, "--output", str(file)).code == 0
    exported = json.loads(file.read_text())
    assert exported["facts"]["session"] == session
    assert "x" * 20_000 in file.read_text(), "what lies beside the log is in it"
    elsewhere = {"DETENT_HOME": str(runner.folder / "other")}
    ran = runner.run("sessions", "import", str(file), env=elsewhere)
    assert ran.code == 0 and f"{session}  imported  1 prompt, 3 answers" in ran.stdout
    again = runner.run("sessions", "export", session, "--format", "json", env=elsewhere)
    assert json.loads(again.stdout) == exported
    assert "here already" in runner.run("sessions", "import", str(file), env=elsewhere).stdout


def test_an_export_is_a_fixture(runner: Runner, session: str) -> None:
    """Its answers can be played to the program again, wherever it lies."""
    file = runner.folder / "session.json"
    runner.run("sessions", "export", session, "--output", str(file))
    (runner.work / "a.txt").unlink()
    ran = runner.run("-p", "make a.txt", "--model", f"scripted:{file}", "--no-session", *RUN)
    assert (ran.code, ran.stdout) == (0, "All <b>done</b>.\n"), ran.stderr
    assert (runner.work / "a.txt").read_text() == "one\n"


def test_a_snapshot_is_the_state_of_the_session(runner: Runner, session: str) -> None:
    ran = runner.run("sessions", "export", session, "--format", "snapshot")
    found = json.loads(ran.stdout)
    assert {
        "system_prompt_parts", "user_context", "system_context", "messages", "mutation_serial",
        "plugin_state", "file_history", "budget",
    } <= found.keys()  # fmt: skip
    assert found["session"] == session
    assert "You are Detent" in found["system_prompt_parts"][0]
    assert "Use tabs." in found["user_context"][str(runner.work / "AGENTS.md")]
    assert found["mutation_serial"] == max(
        message["metadata"]["last_mutation_serial"] for message in found["messages"]
    )
    paths = {one["path"]: one["action"] for one in found["file_history"]}
    assert paths[str(runner.work / "a.txt")] == "made"
    assert found["budget"]["spent"]["requests"] == 3


def test_numbering_goes_on_when_the_session_is_resumed(runner: Runner) -> None:
    runner.serve("one", "two")
    assert runner.run("-p", "first").code == 0
    before = json.loads(runner.run("sessions", "export", "--format", "snapshot").stdout)
    assert runner.run("-p", "second", "-c").code == 0
    after = json.loads(runner.run("sessions", "export", "--format", "snapshot").stdout)
    known = len(before["messages"])
    assert after["messages"][:known] == before["messages"]
    fresh = [message["metadata"] for message in after["messages"][known:]]
    assert fresh and all(
        one["serial"] > before["mutation_serial"] for data in fresh for one in data["mutations"]
    )


def test_a_damaged_session_is_exported_as_far_as_it_goes(runner: Runner, session: str) -> None:
    (log,) = runner.logs
    lines = log.read_text().splitlines(keepends=True)
    log.write_text("".join([*lines[:3], "rubbish\n", *lines[3:]]))
    ran = runner.run("sessions", "export", session)
    assert ran.code == 0 and "left out: 1 damaged line of the session" in ran.stderr
    assert "All <b>done</b>." in ran.stdout


PROGRAM = """#!/usr/bin/env python3
import json, os
path = os.environ["DETENT_PLUGIN_STATE"]
state = json.load(open(path))
state["calls"] = state.get("calls", 0) + 1
json.dump(state, open(path, "w"))
print("calls so far:", state["calls"])
"""


def test_what_a_plugin_keeps_outlives_the_run_and_is_in_the_snapshot(runner: Runner) -> None:
    """Two tools of one plugin share it; the log is where it is kept."""
    plugin = runner.folder / "counting"
    plugin.mkdir()
    (plugin / "count").write_text(PROGRAM)
    (plugin / "count").chmod(0o755)
    tools = [{"name": name, "command": "./count"} for name in ("count_up", "count_on")]
    (plugin / "plugin.json").write_text(json.dumps({"name": "counting", "tools": tools}))
    flags = ("--plugin-dir", str(plugin), *RUN)
    runner.serve(
        reply(call("count_up")), reply(call("count_on")), "two", reply(call("count_up")), "3"
    )
    assert runner.run("-p", "count", *flags).code == 0
    assert runner.run("-p", "go on", "-c", *flags).code == 0
    results = [result.text for said in runner.requests[-1].talk for result in said.results]
    assert results == ["calls so far: 1", "calls so far: 2", "calls so far: 3"]
    found = json.loads(runner.run("sessions", "export", "--format", "snapshot").stdout)
    assert found["plugin_state"] == {"counting": {"calls": 3}}


@pytest.mark.parametrize("bad", ["rm $DETENT_PLUGIN_STATE", "echo [1] > $DETENT_PLUGIN_STATE"])
def test_a_state_that_is_none_is_not_kept_and_that_is_told(runner: Runner, bad: str) -> None:
    plugin = runner.folder / "counting"
    plugin.mkdir()
    (plugin / "count").write_text(f"#!/bin/sh\n{bad}\necho ran\n")
    (plugin / "count").chmod(0o755)
    tool = {"name": "count_up", "command": "./count"}
    (plugin / "plugin.json").write_text(json.dumps({"name": "counting", "tools": [tool]}))
    runner.serve(reply(call("count_up")), "ok")
    assert runner.run("-p", "count", "--plugin-dir", str(plugin), *RUN).code == 0
    (result,) = [result.text for said in runner.requests[-1].talk for result in said.results]
    assert result.startswith("ran\n[the plugin's state was not kept")
    found = json.loads(runner.run("sessions", "export", "--format", "snapshot").stdout)
    assert found["plugin_state"] == {}


def test_the_help_tells_of_it(runner: Runner) -> None:
    ran = runner.run("sessions", "--help")
    assert "detent sessions export [SESSION]" in ran.stdout and "--format FORM" in ran.stdout
