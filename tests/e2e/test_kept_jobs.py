"""Background jobs that outlive the agent, in whatever way it goes, and are found again."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from detent.host.staying import keeper_of
from detent.testing import Request, call, reply

from .conftest import PATIENCE, Live, Pipe, Ran, Runner
from .sandboxes import CONFINED, SANDBOXES
from .test_crash_repair import FREELY, soon

LONG = "echo begun; echo running > pipe; read x < go; echo got $x; exit 5"


def background(command: str) -> Any:
    return call("Bash", command=command, run_in_background=True)


@pytest.fixture
def go(runner: Runner) -> Iterator[Path]:
    """What the job waits for. Whatever still runs after the test is ended."""
    path = runner.work / "go"
    os.mkfifo(path)
    yield path
    for state in states(runner):
        if (pid := keeper_of(str(state))) > 0:
            os.kill(pid, signal.SIGTERM)
        assert soon(lambda state=state: not keeper_of(str(state)))


def states(runner: Runner) -> list[Path]:
    return sorted(runner.state.glob("sessions/*/*/job_*.state"))


def killed(runner: Runner, live: Live, pipe: Pipe) -> None:
    """When the job runs, the log knows of it, and the next answer is awaited."""
    assert pipe.line() == "running"
    live.next("user")
    assert soon(lambda: len(runner.requests) == 2)
    os.kill(live.pid, signal.SIGKILL)
    live.process.wait(PATIENCE)


def start(runner: Runner, *args: str) -> Live:
    return runner.start("-p", "go", "--output-format", "stream-json", *FREELY, *args)


def is_told(request: Request, text: str) -> bool:
    return text in str(request.messages)


@SANDBOXES
def test_a_kept_job_outlives_kill_9_and_is_taken_up_again(
    runner: Runner, pipe: Pipe, go: Path, sandbox: str
) -> None:
    def end_it(request: Request) -> Any:
        go.write_text("word\n")
        return reply(call("TaskOutput", task_id="job_1"))

    runner.serve(
        reply(background(LONG)), reply("x", hold=_never(), hold_after=0),
        reply(call("TaskOutput", task_id="job_1", block=False)), end_it, "done",
    )  # fmt: skip
    killed(runner, start(runner, "--keep-background", "--sandbox", sandbox), pipe)
    (state,) = states(runner)
    assert keeper_of(str(state)) > 0
    again = runner.frames("go on", "-c", *FREELY, "--sandbox", sandbox)
    assert again.code == 0, again
    running, ended = [str(one["content"]) for one in again.tool_results[-2:]]
    assert "has been running for" in running and "begun" in running
    assert "Exit code 5" in ended and "got word" in ended
    assert is_told(runner.requests[2], "[Still in the background: job_1 (echo begun")
    held = again.tool_results[-1]["data"]
    assert held["status"] == "failed" and held["exitCode"] == 5


@pytest.mark.parametrize("sandbox", CONFINED)
def test_what_a_sandboxed_job_works_with_stays_with_it(
    runner: Runner, pipe: Pipe, go: Path, sandbox: str
) -> None:
    """Also when its run has tidied up, and another that sweeps after dead agents has come."""
    job = "echo running > pipe; read x < go; echo kept > $TMPDIR/f && cat $TMPDIR/f; touch /etc/no"
    runner.serve(reply(background(job)), "started", reply(call("Bash", command="true")), "x", "y")
    assert runner.prompt("go", *FREELY, "--keep-background", "--sandbox", sandbox).code == 0
    assert pipe.line() == "running"
    assert runner.prompt("another", *FREELY, "--sandbox", sandbox).code == 0
    go.write_text("word\n")
    (state,) = states(runner)
    assert soon(lambda: not keeper_of(str(state)))
    printed = state.with_suffix(".txt").read_text()
    assert printed.startswith("kept\n"), printed
    assert "/etc/no" in printed, "it is still held"


def test_its_end_is_told_to_the_model_of_a_later_run(runner: Runner, pipe: Pipe, go: Path) -> None:
    runner.serve(reply(background(LONG)), reply("x", hold=_never(), hold_after=0), "I see")
    killed(runner, start(runner, "--keep-background"), pipe)
    go.write_text("word\n")
    (state,) = states(runner)
    assert soon(lambda: not keeper_of(str(state)))
    assert runner.prompt("go on", "-c", *FREELY).code == 0
    told = str(runner.requests[-1].messages)
    assert "[Background job job_1 (echo begun" in told and "Exit code 5" in told
    assert "> got word" in told
    assert runner.server.problems == []


def test_an_end_while_the_session_goes_on_is_news(runner: Runner, pipe: Pipe, go: Path) -> None:
    """No tool has asked for the job in this run."""
    heard: list[bool] = []

    def until_told(request: Request) -> Any:
        heard.append(is_told(request, "Exit code 5"))
        if len(heard) == 1:
            go.write_text("word\n")
        if heard[-1] or len(heard) > 300:
            return reply("told")
        return reply(call("Bash", command="sleep 0.02"))

    runner.serve(
        reply(background(LONG)), reply("x", hold=_never(), hold_after=0), *[until_told] * 302
    )
    killed(runner, start(runner, "--keep-background"), pipe)
    assert runner.prompt("go on", "-c", *FREELY).code == 0
    assert heard[-1]


def test_it_can_be_stopped_by_a_later_run(runner: Runner, pipe: Pipe, go: Path) -> None:
    stubborn = "trap '' TERM; (setsid sleep 600 &) ; echo running > pipe; sleep 600; true"
    runner.serve(
        reply(background(stubborn)), reply("x", hold=_never(), hold_after=0),
        reply(call("TaskStop", task_id="job_1")), "done",
    )  # fmt: skip
    killed(runner, start(runner, "--keep-background"), pipe)
    (state,) = states(runner)
    again = runner.frames("go on", "-c", *FREELY)
    assert "Stopped: job_1" in str(again.tool_results[-1]["content"])
    assert not keeper_of(str(state))


def test_a_run_that_ends_says_what_goes_on_and_how_to_end_it(
    runner: Runner, pipe: Pipe, go: Path
) -> None:
    runner.serve(reply(background(LONG)), "started", "x")
    settings = '{"keepBackground": true}'
    ran = runner.prompt("go", *FREELY, "--settings", settings)
    assert ran.code == 0, ran
    assert pipe.line() == "running"
    (kept,) = ran.result["background_jobs_kept"]
    (state,) = states(runner)
    assert keeper_of(str(state)) == kept["pid"]
    assert f"to end it: kill {kept['pid']}" in ran.stderr
    refused = runner.run("sessions", "delete", ran.result["session_id"], "--yes")
    assert f"a background job of it still runs (kill {kept['pid']} ends it)" in refused.stderr
    assert refused.code != 0 and state.exists()
    os.kill(kept["pid"], signal.SIGTERM)
    assert soon(lambda: not keeper_of(str(state)))
    assert runner.prompt("go on", "-c").code == 0
    assert is_told(runner.requests[-1], "[Background job job_1")
    assert is_told(runner.requests[-1], "Killed by SIGTERM")


@pytest.mark.parametrize("how", ["unasked", "end"])
def test_without_the_setting_it_ends_with_the_session(runner: Runner, pipe: Pipe, how: str) -> None:
    os.mkfifo(runner.work / "go")
    runner.serve(reply(background(LONG)), reply("x", hold=_never(), hold_after=0), "on")
    live = start(runner)
    assert pipe.line() == "running"
    live.next("user")
    os.kill(live.pid, signal.SIGKILL if how == "unasked" else signal.SIGTERM)
    live.process.wait(PATIENCE)
    assert states(runner) == []
    assert soon(lambda: not _reads(runner.work / "go"), 5)


def test_a_job_that_the_log_does_not_know_is_found(runner: Runner, pipe: Pipe, go: Path) -> None:
    """The agent died between the start of the job and the record of it."""
    runner.serve(reply(background(LONG)), reply("x", hold=_never(), hold_after=0), "I see")
    live = start(runner, "--keep-background")
    killed(runner, live, pipe)
    log = runner.logs[0]
    lines = log.read_bytes().splitlines(keepends=True)
    at = next(n for n, line in enumerate(lines) if b'"callended"' in line)
    log.write_bytes(b"".join(lines[:at]))
    again: Ran = runner.prompt("go on", "-c", *FREELY)
    assert again.code == 0, again
    (result,) = runner.requests[-1].tool_results
    assert "Started in the background as job_1" in result.text and not result.is_error
    assert is_told(runner.requests[-1], "[Still in the background: job_1")


def test_jobs_of_an_unsaved_session_cannot_be_kept(runner: Runner) -> None:
    runner.serve("never")
    ran = runner.prompt("go", "--no-session", "--keep-background")
    assert ran.code == 2 and "saved session" in ran.stderr
    assert runner.prompt("go", "--no-session", "--settings", '{"keepBackground": true}').code == 0


def test_a_project_cannot_ask_for_it_without_trust(runner: Runner, pipe: Pipe) -> None:
    os.mkfifo(runner.work / "go")
    (runner.work / ".detent").mkdir()
    (runner.work / ".detent" / "settings.json").write_text('{"keepBackground": true}')
    runner.serve(reply(background(LONG)), "started")
    ran = runner.prompt("go", *FREELY)
    assert "keepBackground ignored until you trust it" in ran.stderr
    assert states(runner) == []


def _never() -> Any:
    import threading

    return threading.Event()


def _reads(path: Path) -> bool:
    """Whether somebody waits to read from the pipe."""
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
    except OSError:
        return False
    return True
