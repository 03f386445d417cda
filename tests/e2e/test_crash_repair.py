"""A session that was killed goes on: each call that was cut off gets one end."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from detent.testing import Request, call, reply

from .conftest import PATIENCE, Frame, Pipe, Runner
from .sandboxes import SANDBOXES

FREELY = ("--permission-mode", "bypassPermissions")


def soon(condition: Callable[[], object], within: float = PATIENCE) -> bool:
    until = time.monotonic() + within
    while not condition():
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True


def killed_in(runner: Runner, pipe: Pipe, *args: str) -> None:
    """The agent dies while its command, which has written to the pipe, runs on."""
    live = runner.start("-p", "go", "--output-format", "stream-json", *FREELY, *args)
    assert pipe.line() == "running"
    os.kill(live.pid, signal.SIGKILL)
    live.wait()


def only_session(runner: Runner) -> str:
    (log,) = runner.logs
    return log.stem


def ends(runner: Runner, session: str) -> list[Frame]:
    return [entry for entry in runner.entries(session) if entry["type"] == "callended"]


def result_of(request: Request) -> str:
    (result,) = request.tool_results
    assert result.is_error
    return result.text


@SANDBOXES
def test_a_command_that_ran_was_ended_with_the_agent(
    runner: Runner, pipe: Pipe, sandbox: str
) -> None:
    runner.serve(reply(call("Bash", command="echo running > pipe; sleep 600")), "so it was cut")
    killed_in(runner, pipe, "--sandbox", sandbox)
    again = runner.prompt("go on", "-c", *FREELY)
    assert again.code == 0, again
    told = result_of(runner.requests[-1])
    assert "The command was running and was ended with the agent" in told, told


@SANDBOXES
def test_a_command_that_had_ended_by_itself(runner: Runner, pipe: Pipe, sandbox: str) -> None:
    """The agent is stopped, its command comes to its end, and then the agent is killed."""
    runner.serve(reply(call("Bash", command="echo running > pipe; read x < go; exit 7")), "well")
    os.mkfifo(runner.work / "go")
    live = runner.start("-p", "go", *FREELY, "--sandbox", sandbox)
    assert pipe.line() == "running"
    os.kill(live.pid, signal.SIGSTOP)
    (runner.work / "go").write_text("now\n")
    (notes,) = runner.state.glob("sessions/*/*/commands.jsonl")
    assert soon(lambda: '"ended"' in notes.read_text())
    os.kill(live.pid, signal.SIGKILL)
    live.wait()
    assert runner.prompt("go on", "-c", *FREELY).code == 0
    told = result_of(runner.requests[-1])
    assert "The command had come to its end (Exit code 7); its output is lost." in told, told


def test_output_that_went_to_a_file_is_named(runner: Runner, pipe: Pipe) -> None:
    command = "seq 1 200000; echo running > pipe; sleep 600"
    runner.serve(reply(call("Bash", command=command)), "I see")
    killed_in(runner, pipe)
    assert runner.prompt("go on", "-c", *FREELY).code == 0
    told = result_of(runner.requests[-1])
    path = told.partition("What it had printed is in ")[2].partition(".txt")[0] + ".txt"
    assert Path(path).read_text().startswith("1\n2\n3\n"), told


def test_a_second_resume_adds_nothing_and_says_the_same(runner: Runner, pipe: Pipe) -> None:
    runner.serve(
        reply(call("Bash", id="toolu_one", command="echo running > pipe; sleep 600")),
        "first", "second",
    )  # fmt: skip
    killed_in(runner, pipe)
    assert runner.prompt("go on", "-c", *FREELY).code == 0
    session = only_session(runner)
    assert len(ends(runner, session)) == 1
    assert runner.prompt("and on", "-c", *FREELY).code == 0
    assert len(ends(runner, session)) == 1
    first, second = (request.messages for request in runner.requests[-2:])
    assert _plain(second)[: len(first)] == _plain(first)


def test_a_fork_mends_its_own_copy(runner: Runner, pipe: Pipe) -> None:
    runner.serve(reply(call("Bash", command="echo running > pipe; sleep 600")), "x", "y")
    killed_in(runner, pipe)
    session = only_session(runner)
    before = runner.logs[0].read_bytes()
    assert runner.prompt("go on", "-c", "--fork-session", *FREELY).code == 0
    assert "was ended with the agent" in result_of(runner.requests[-1])
    (original,) = [log for log in runner.logs if log.stem == session]
    assert original.read_bytes() == before
    (fork,) = [log.stem for log in runner.logs if log.stem != session]
    assert len(ends(runner, fork)) == 1
    assert runner.prompt("go on", "-r", session, *FREELY).code == 0
    assert len(ends(runner, session)) == 1


def test_looking_at_it_writes_nothing(runner: Runner, pipe: Pipe) -> None:
    runner.serve(reply(call("Bash", command="echo running > pipe; sleep 600")), "x")
    killed_in(runner, pipe)
    before = runner.logs[0].read_bytes()
    assert runner.run("context", only_session(runner)).code == 0
    assert runner.logs[0].read_bytes() == before


def test_an_answer_that_was_lost_is_told_with_what_became_of_its_call(
    runner: Runner, pipe: Pipe
) -> None:
    """The call had begun while the answer still came; the agent died before the answer did."""
    hold = threading.Event()
    answer = call("Bash", command="echo running > pipe; sleep 600"), "and more"
    runner.serve(reply(*answer, hold=hold, hold_after=12), "I see")
    killed_in(runner, pipe)
    hold.set()
    assert runner.prompt("go on", "-c", *FREELY).code == 0
    said = str(runner.requests[-1].messages[-1])
    assert "an answer of yours was lost after its call Bash" in said
    assert "It came to: [interrupted" in said and "ended with the agent" in said


def _plain(messages: list[Frame]) -> list[Any]:
    """Without the marks of the cache, which move."""
    found = []
    for message in messages:
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        plain = [{k: v for k, v in block.items() if k != "cache_control"} for block in blocks]
        found.append((message["role"], plain))
    return found
