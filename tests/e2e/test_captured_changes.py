"""What the calls of a real run have changed in files stands in the log, with the bytes."""

from __future__ import annotations

import json
import os
from typing import Any

from detent.session.blobs import Blobs
from detent.testing import call, reply

from .conftest import Runner

FREELY = ("--permission-mode", "bypassPermissions")


def changes(runner: Runner) -> list[dict[str, tuple[Any, Any]]]:
    """Of each call, by name: what was there before and after, bytes in place of digests."""
    blobs = Blobs(str(runner.state))

    def plain(state: dict[str, Any]) -> Any:
        match state.get("kind", "none"):
            case "none":
                return None
            case "file":
                return blobs.get(state["digest"]).decode() if "digest" in state else "?"
            case "link":
                return f"-> {state['target']}"
            case kind:
                return kind

    (log,) = runner.logs
    entries = [json.loads(line) for line in log.read_text().splitlines()]
    return [
        {
            os.path.relpath(change["path"], runner.work): (
                plain(change.get("before", {})),
                plain(change.get("after", {})),
            )
            for change in entry.get("changed", [])
        }
        for entry in entries
        if entry["type"] == "callended"
    ]


def bash(command: str) -> object:
    return reply(call("Bash", command=command))


def test_tools_and_commands_tell_what_they_changed(runner: Runner) -> None:
    (runner.work / "a.txt").write_text("one\n")
    (runner.work / "gone").mkdir()
    (runner.work / "gone" / "b.txt").write_text("two\n")
    runner.serve(
        reply(call("Read", file_path="a.txt")),
        reply(call("Edit", file_path="a.txt", old_string="one", new_string="first")),
        reply(call("Write", file_path="new/deep/c.txt", content="three\n")),
        bash("rm -r gone; mkdir made; mv a.txt made/; ln -s made/a.txt link; echo x > made/x"),
        bash("ls"),
        bash("printf more >> made/x; exit 3"),
        "done",
    )
    ran = runner.frames("go", *FREELY)
    assert ran.code == 0, ran
    assert changes(runner) == [
        {},
        {"a.txt": ("one\n", "first\n")},
        {
            "new": (None, "folder"),
            "new/deep": (None, "folder"),
            "new/deep/c.txt": (None, "three\n"),
        },
        {
            "a.txt": ("first\n", None),
            "gone": ("folder", None),
            "gone/b.txt": ("two\n", None),
            "link": (None, "-> made/a.txt"),
            "made": (None, "folder"),
            "made/a.txt": (None, "first\n"),
            "made/x": (None, "x\n"),
        },
        {},
        {"made/x": ("x\n", "x\nmore")},
    ]


def test_what_a_call_will_write_is_kept_before_it_runs(runner: Runner) -> None:
    (runner.work / "a.txt").write_text("one\n")
    runner.serve(
        reply(call("Read", file_path="a.txt")),
        reply(call("Write", file_path="a.txt", content="other\n")),
        "done",
    )
    assert runner.prompt("go", *FREELY).code == 0
    (log,) = runner.logs
    entries = [json.loads(line) for line in log.read_text().splitlines()]
    (kept,) = [e["kept"] for e in entries if e["type"] == "callstarted" and e["name"] == "Write"]
    (state,) = kept.values()
    assert Blobs(str(runner.state)).get(state["digest"]) == b"one\n"


def test_an_added_folder_is_covered_and_an_ignored_one_is_not(runner: Runner) -> None:
    other = runner.folder / "other"
    other.mkdir()
    (runner.work / ".gitignore").write_text("*.log\n")
    runner.serve(bash(f"echo 1 > a.log; echo 2 > b.txt; echo 3 > {other}/c.txt"), "done")
    ran = runner.prompt("go", "--add-dir", str(other), "--sandbox", "off", *FREELY)
    assert ran.code == 0, ran
    assert changes(runner) == [{"b.txt": (None, "2\n"), "../other/c.txt": (None, "3\n")}]


def test_it_can_be_switched_off(runner: Runner) -> None:
    runner.serve(bash("echo 1 > a.txt"), "done")
    ran = runner.prompt("go", "--settings", '{"undo": {"enabled": false}}', *FREELY)
    assert ran.code == 0, ran
    assert changes(runner) == [{}]
    assert not (runner.state / "mirrors").exists()


def test_nothing_is_kept_of_a_session_that_is_not(runner: Runner) -> None:
    runner.serve(bash("echo 1 > a.txt"), "done")
    assert runner.prompt("go", "--no-session", *FREELY).code == 0
    assert not (runner.state / "mirrors").exists()


def test_a_home_that_cannot_be_written_fails_no_call(runner: Runner) -> None:
    runner.state.mkdir()
    (runner.state / "mirrors").write_text("in the way")
    runner.serve(bash("echo 1 > a.txt"), bash("cat a.txt"), "done")
    ran = runner.frames("go", *FREELY)
    assert ran.code == 0, ran
    assert (runner.work / "a.txt").read_text() == "1\n"


def test_a_setting_that_makes_no_sense_is_named(runner: Runner) -> None:
    runner.serve("never")
    ran = runner.prompt("go", "--settings", '{"undo": {"maxFiles": "many"}}')
    assert ran.code != 0
    assert "undo: maxFiles must be a number" in ran.stdout + ran.stderr


def test_commands_that_only_read_cost_nothing(runner: Runner) -> None:
    (runner.work / "a.txt").write_text("one\n")
    runner.serve(bash("cat a.txt"), reply(call("Read", file_path="a.txt")), "done")
    assert runner.prompt("go", *FREELY).code == 0
    assert not (runner.state / "mirrors").exists()


def test_files_of_a_sandboxed_command_are_seen(runner: Runner) -> None:
    runner.serve(bash("mkdir -p deep/er && echo 1 > deep/er/a.txt"), bash("rm -r deep"), "done")
    ran = runner.prompt("go", *FREELY)
    assert ran.code == 0, ran
    made, removed = changes(runner)
    assert made["deep/er/a.txt"] == (None, "1\n")
    assert removed == {path: (after, before) for path, (before, after) in made.items()}


def test_a_command_whose_time_is_up_tells_what_it_did(runner: Runner) -> None:
    slow = call("Bash", command="echo 1 > a.txt; sleep 60", timeout=500)
    runner.serve(reply(slow), "done")
    ran = runner.prompt("go", *FREELY)
    assert ran.code == 0, ran
    assert changes(runner) == [{"a.txt": (None, "1\n")}]


def test_a_resumed_session_goes_on_from_what_is_there(runner: Runner) -> None:
    (runner.work / "a.txt").write_text("one\n")
    runner.serve(bash("echo two > a.txt"), "done", bash("echo four > a.txt"), "done")
    assert runner.prompt("go", *FREELY).code == 0
    (runner.work / "a.txt").write_text("three, by hand\n")
    ran = runner.prompt("on", "--continue", *FREELY)
    assert ran.code == 0, ran
    assert changes(runner) == [
        {"a.txt": ("one\n", "two\n")},
        {"a.txt": ("three, by hand\n", "four\n")},
    ]
