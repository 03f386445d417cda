"""Calls seen from outside: together, early, once, with signs of life, and gone when interrupted."""

from __future__ import annotations

import json
import os
import signal
from threading import Event as ThreadEvent
from typing import Any

import pytest

from detent.testing import call, fault, reply, say

from .conftest import Frame, Live, Pipe, Runner
from .test_exit_codes import is_gone

BYPASS = ("--permission-mode", "bypassPermissions")


def progress(live: Live, **fields: Any) -> Frame:
    while True:
        frame = live.next("tool_progress")
        if all(frame.get(name) == value for name, value in fields.items()):
            return frame


def test_a_call_that_ran_is_not_run_again_when_the_answer_is_repeated(
    runner: Runner, pipe: Pipe
) -> None:
    """The connection breaks after the call has acted; the next answer asks for the same."""
    command = f"echo once >> ran.txt; cat ran.txt; echo ran > {pipe.path}"
    acted = ThreadEvent()
    broken = reply(
        call("Bash", command=command),
        say(*["."] * 60),
        fault=fault(cut_after=40),
        hold=acted,
        hold_after=20,
    )
    runner.serve(broken, reply(call("Bash", command=command)), "done")
    live = runner.start("-p", "go", *BYPASS, "--output-format", "json")
    assert pipe.line() == "ran"
    acted.set()
    ran = live.finish()
    assert ran.code == 0, ran
    assert (runner.work / "ran.txt").read_text() == "once\n"
    assert len(runner.requests) == 3
    assert b"not run a second time" in runner.requests[-1].body


@pytest.mark.parametrize("most", [1, 10])
def test_calls_that_change_nothing_run_at_the_same_time(runner: Runner, most: int) -> None:
    runner.serve(reply(*(call("Bash", command=f"sleep 0.2 && echo {n}") for n in "ab")), "done")
    settings = json.dumps({"maxToolConcurrency": most})
    ran = runner.frames("go", "--settings", settings)
    assert [result["content"] for result in ran.tool_results] == ["a", "b"]
    entries = runner.entries(ran.result["session_id"])
    course = [entry["type"] for entry in entries if entry["type"].startswith("call")]
    one = ["callstarted", "callended"]
    assert course == (one * 2 if most == 1 else sorted(one * 2, reverse=True))


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_the_call_and_all_it_started(
    runner: Runner, pipe: Pipe, how: signal.Signals
) -> None:
    stubborn = f"echo so far; (trap '' TERM INT; echo $BASHPID > {pipe.path}; sleep 300) & wait"
    runner.serve(reply(call("Bash", command=stubborn)), "done")
    shown = ("--output-format", "stream-json", "--include-partial-messages")
    live = runner.start("-p", "go", *BYPASS, *shown)
    progress(live, output="so far\n")  # it was heard: what comes before that may be lost
    stubborn_one = live.pidfd(int(pipe.line()))
    os.kill(live.pid, how)
    ran = live.finish()
    assert is_gone(stubborn_one)
    os.close(stubborn_one)
    entries = runner.entries(ran.result["session_id"])
    (ended,) = [entry for entry in entries if entry["type"] == "callended"]
    assert ended["outcome"]["type"] == "cut"
    assert ended["outcome"]["text"] == "so far", "what it had printed is not lost"


def test_output_and_time_of_a_running_call_are_told(runner: Runner, pipe: Pipe) -> None:
    runner.serve(reply(call("Bash", command=f"echo begun; head -n 1 {pipe.path}")), "done")
    live = runner.converse(*BYPASS, "--include-partial-messages")
    live.say("go")
    assert progress(live, output="begun\n")["tool_name"] == "Bash"
    beat = live.next("tool_progress")
    assert beat["elapsed_time_seconds"] >= 1
    with open(pipe.path, "w") as file:
        file.write("over\n")
    result = live.next("result")
    assert not result["is_error"]
    live.end_input()
    live.finish()


def test_a_time_limit_of_the_users_for_one_tool(runner: Runner) -> None:
    os.mkfifo(runner.work / "never")
    runner.serve(reply(call("Bash", command="echo begun; cat never", timeout=60_000)), "done")
    settings = json.dumps({"toolTimeouts": {"Bash": 0.5}})
    ran = runner.frames("go", *BYPASS, "--settings", settings)
    assert ran.code == 0
    (result,) = ran.tool_results
    assert result["is_error"] and "begun" in result["content"]
    assert "timed out after 0.5 s" in result["content"]


@pytest.mark.parametrize("value", [{"Bash": 0}, {"Bash": "x"}, [1], {"Grep": -1}])
def test_a_time_limit_that_makes_no_sense(runner: Runner, value: Any) -> None:
    ran = runner.prompt("go", "--settings", json.dumps({"toolTimeouts": value}))
    assert ran.code == 2
    assert "toolTimeouts" in ran.stderr


@pytest.mark.parametrize("later", ["Write", "Read", "Bash"])
def test_a_name_means_what_it_means_when_the_call_runs(runner: Runner, later: str) -> None:
    """The first call of the answer moves a folder with a link out of the workspace in it; judged
    before that, the second would seem to stay inside."""
    outside = runner.folder / "outside"
    outside.mkdir()
    (outside / "secret").write_text("hidden treasure")
    (runner.work / "d").mkdir()
    (runner.work / "d" / "out").symlink_to(outside)
    second = {
        "Write": call("Write", file_path="e/out/new", content="x"),
        "Read": call("Read", file_path="e/out/secret"),
        "Bash": call("Bash", command="cat e/out/secret"),
    }[later]
    runner.serve(reply(call("Bash", command="mv d e"), second), "done")
    ran = runner.frames("go", "--permission-mode", "acceptEdits")
    assert (runner.work / "e").is_dir()
    assert ran.code == 3 and [d["tool_name"] for d in ran.result["permission_denials"]] == [later]
    assert not (outside / "new").exists()
    assert b"treasure" not in runner.requests[-1].body
