"""How a sitting ends that nobody ended: the window closed, a signal, a fault of the settings."""

from __future__ import annotations

import os
import select
import signal
import threading
from collections.abc import Callable

import pytest

from detent.testing import call, reply, say

from .conftest import PATIENCE, Pipe, Runner
from .terminal import READY, Term

Sit = Callable[..., Term]
FREELY = ("--permission-mode", "bypassPermissions", "--sandbox", "off")
FREE = "ALLOWS EVERYTHING"


def is_gone(pidfd: int) -> bool:
    try:
        return bool(select.select([pidfd], [], [], PATIENCE)[0])
    finally:
        os.close(pidfd)


def test_a_closed_window_leaves_a_session_and_no_child(
    runner: Runner, sit: Sit, pipe: Pipe
) -> None:
    command = f"trap '' HUP; sleep 1000 & echo $$ $! > {pipe.path}; wait"
    runner.serve(reply("I run it.", call("Bash", command=command)), "And on.")
    term = sit(*FREELY)
    term.see(FREE)
    term.say("run it")
    handles = [os.pidfd_open(int(pid)) for pid in pipe.line().split()]
    assert term.hang_up() == 129
    assert all(map(is_gone, handles))
    again = runner.prompt("go on", "-c")
    assert again.result["result"] == "And on."
    sent = runner.requests[1]
    assert sent.user_texts[0] == "run it" and sent.user_texts[-1].endswith("go on")
    assert "I run it." in sent.body.decode()


def test_a_closed_window_while_the_model_speaks(runner: Runner, sit: Sit) -> None:
    never = threading.Event()
    runner.serve(reply(say("Half of ", "it all."), hold=never, hold_after=1), "And on.")
    term = sit()
    term.see(READY)
    term.say("tell me")
    term.see("Half of")
    assert term.hang_up() == 129
    runner.server.wait_for_mark(1, "gone")
    assert runner.prompt("go on", "-c").result["result"] == "And on."
    assert "Half of" in runner.requests[1].body.decode()


@pytest.mark.parametrize("is_working", [True, False])
def test_told_to_end(runner: Runner, sit: Sit, is_working: bool) -> None:
    """The terminal is given back as it was, and the way back is told."""
    never = threading.Event()
    runner.serve("Hello.", reply(say("Half of ", "it all."), hold=never, hold_after=1))
    term = sit()
    term.see(READY)
    term.say("hello")
    term.rest("Hello.")
    if is_working:
        term.say("tell me")
        term.see("Half of")
    os.kill(term.pid, signal.SIGTERM)
    assert term.ended() == 143
    assert f"detent --resume {runner.logs[0].stem}" in term.past
    assert "Describe a task" not in term.text and "esc to interrupt" not in term.text
    assert term.raw.rfind(b"\x1b[?2004l") > term.raw.rfind(b"\x1b[?2004h")
    assert not term.screen.cursor.hidden


def test_settings_that_are_broken_are_told_and_nothing_is_left_raw(
    runner: Runner, sit: Sit
) -> None:
    runner.serve()
    runner.state.mkdir()
    (runner.state / "settings.json").write_text("{ nonsense")
    term = sit()
    assert term.ended() == 2
    assert "settings.json" in term.text and "Traceback" not in term.text
    assert term.raw.rfind(b"\x1b[?2004l") > term.raw.rfind(b"\x1b[?2004h")
