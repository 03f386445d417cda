"""When the agent dies, in whatever way, nothing that it has started is left after five seconds."""

from __future__ import annotations

import json
import os
import pty
import secrets
import signal
import subprocess
import threading
from collections.abc import Callable
from typing import Any

import pytest

from detent.testing import call, reply

from .conftest import DETENT, PATIENCE, Pipe, Runner
from .sandboxes import SANDBOXES
from .test_background_jobs import running_with
from .test_crash_repair import FREELY, soon

SIGNALS = pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGHUP, signal.SIGTERM])
WITHIN = 5.0

DAEMON = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork(): os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
for one in range(3): os.close(one)
open(sys.argv[1], "x").close()
time.sleep(600)
"""

HORDE = """
trap '' TERM
python3 daemon.py daemon.up {mark} &
setsid bash -c 'trap "" TERM; touch session.up; sleep 600; true' {mark} &
(trap '' TERM; touch deaf.up; exec -a {mark} sleep 600) &
while ! [ -e daemon.up ] || ! [ -e session.up ] || ! [ -e deaf.up ]; do sleep 0.02; done
echo running > pipe
exec -a {mark} sleep 600
"""
"""A daemon of two forks, one in a session of its own, one that ignores SIGTERM, and itself."""


@pytest.fixture
def mark() -> str:
    return f"mark-{secrets.token_hex(8)}"


def horde(runner: Runner, mark: str) -> str:
    (runner.work / "daemon.py").write_text(DAEMON)
    return HORDE.format(mark=mark)


def dies(
    runner: Runner,
    pipe: Pipe,
    mark: str,
    *args: str,
    least: int = 1,
    number: int = signal.SIGKILL,
    env: dict[str, str] | None = None,
) -> None:
    """The agent, once its children have said that they run; and nothing is left of those."""
    live = runner.start("-p", "go", *FREELY, *args, env=env)
    assert set(pipe.line().split()) == {"running"}, "one or several"
    assert soon(lambda: len(running_with(mark)) >= least)
    os.kill(live.pid, number)
    assert soon(lambda: not running_with(mark), WITHIN), running_with(mark)
    live.wait()


def settle(runner: Runner, **settings: Any) -> None:
    runner.state.mkdir(exist_ok=True)
    (runner.state / "settings.json").write_text(json.dumps(settings))


@SANDBOXES
@pytest.mark.parametrize("background", [False, True])
def test_commands_and_all_that_they_started(
    runner: Runner, pipe: Pipe, mark: str, sandbox: str, background: bool
) -> None:
    command = call("Bash", command=horde(runner, mark), run_in_background=background)
    runner.serve(reply(command), reply("x", hold=threading.Event(), hold_after=0))
    dies(runner, pipe, mark, "--sandbox", sandbox, least=4)


def test_a_command_that_has_stopped_its_keeper(runner: Runner, pipe: Pipe, mark: str) -> None:
    stops = f"kill -STOP $PPID; echo running > pipe; exec -a {mark} sleep 600"
    runner.serve(reply(call("Bash", command=stops)), "x")
    dies(runner, pipe, mark, "--sandbox", "off")


@SIGNALS
def test_whatever_ends_the_agent(runner: Runner, pipe: Pipe, mark: str, number: int) -> None:
    runner.serve(reply(call("Bash", command=horde(runner, mark))))
    dies(runner, pipe, mark, least=4, number=number)


def test_a_terminal_that_is_closed(runner: Runner, pipe: Pipe, mark: str) -> None:
    runner.serve(reply(call("Bash", command=horde(runner, mark))))
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [str(DETENT), "-p", "go", *FREELY],
        env=runner.env(),
        cwd=runner.work,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
        preexec_fn=_take_terminal,  # noqa: PLW1509
    ) as process:
        os.close(theirs)
        try:
            assert pipe.line() == "running"
            assert soon(lambda: len(running_with(mark)) >= 4)
            os.close(ours)
            assert soon(lambda: not running_with(mark), WITHIN)
            process.wait(PATIENCE)
        finally:
            process.kill()


def _take_terminal() -> None:
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


@pytest.mark.parametrize("is_async", [False, True])
def test_commands_of_hooks(runner: Runner, pipe: Pipe, mark: str, is_async: bool) -> None:
    hook = {"type": "command", "command": horde(runner, mark), "async": is_async}
    settle(runner, hooks={"PreToolUse": [{"matcher": "Bash", "hooks": [hook]}]})
    runner.serve(reply(call("Bash", command="sleep 600")))
    dies(runner, pipe, mark, least=4)


def test_language_servers(runner: Runner, pipe: Pipe, mark: str) -> None:
    server = f"echo running > {pipe.path}; exec -a {mark} sleep 600"
    settle(runner, lsp={"python": ["bash", "-c", server]})
    (runner.work / "a.py").write_text("x = 1\n")
    runner.serve(
        reply(call("LSP", operation="hover", filePath="a.py", line=1, character=1)),
        reply("x", hold=threading.Event(), hold_after=0),
    )
    dies(runner, pipe, mark)


def test_a_git_that_does_not_answer(runner: Runner, pipe: Pipe, mark: str) -> None:
    (runner.work / ".git").mkdir()
    (runner.work / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    slow = runner.folder / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text(
        f"#!/bin/bash\n(exec -a {mark} sleep 600) &\necho running > {pipe.path}\nwait\n"
    )
    slow.chmod(0o755)
    runner.serve("never asked for")
    dies(runner, pipe, mark, env={"PATH": f"{slow.parent}:{runner.env()['PATH']}"})


def test_only_this_run_is_ended(runner: Runner, pipe: Pipe, mark: str) -> None:
    """A run beside it keeps its own."""
    other = f"{mark}-other"
    runner.serve(
        reply(call("Bash", command=f"echo running > pipe; exec -a {other} sleep 600")),
        reply(call("Bash", command=f"echo running > pipe; exec -a {mark} sleep 600")),
    )
    beside = runner.start("-p", "other", *FREELY)
    assert pipe.line() == "running"
    live = runner.start("-p", "go", *FREELY)
    assert pipe.line() == "running"
    os.kill(live.pid, signal.SIGKILL)
    gone: Callable[[], bool] = lambda: len(running_with(mark)) == len(running_with(other))  # noqa: E731
    assert soon(gone, WITHIN)
    assert running_with(other)
    os.kill(beside.pid, signal.SIGKILL)
    assert soon(lambda: not running_with(other), WITHIN)
