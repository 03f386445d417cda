"""Stopping in a real terminal: the answer, a command, the session."""

from __future__ import annotations

import os
import re
import select
import threading
from collections.abc import Callable

from detent.testing import call, fault, reply, say

from .conftest import PATIENCE, Pipe, Runner
from .terminal import READY, Term

Sit = Callable[..., Term]
FREELY = ("--permission-mode", "bypassPermissions", "--sandbox", "off")
FREE = "ALLOWS EVERYTHING"


def is_gone(pidfd: int) -> bool:
    """A pidfd becomes readable when its process has ended."""
    try:
        return bool(select.select([pidfd], [], [], PATIENCE)[0])
    finally:
        os.close(pidfd)


def test_what_was_written_is_kept_when_the_answer_is_interrupted(runner: Runner, sit: Sit) -> None:
    never = threading.Event()
    half = say("The first half.\n\n", "The second ha", "lf, which nobody hears.")
    runner.serve(reply(half, hold=never, hold_after=2), "And on.")
    term = sit()
    term.see(READY)
    term.say("tell me")
    term.see("The first half.", "The second ha", "esc to interrupt")
    term.press("escape")
    seen = term.rest("interrupted")
    assert "The first half." in seen and "The second ha" in seen
    assert "esc to interrupt" not in seen
    runner.server.wait_for_mark(1, "gone")
    term.say("go on")
    term.rest("And on.")
    assert "The second ha" in runner.requests[1].body.decode()


def test_a_command_is_ended_with_all_that_it_has_started(
    runner: Runner, sit: Sit, pipe: Pipe
) -> None:
    command = f"sleep 1000 & echo $$ $! > {pipe.path}; wait"
    runner.serve(reply(call("Bash", command=command)), "And on.")
    term = sit(*FREELY)
    term.see(FREE)
    term.say("run it")
    handles = [os.pidfd_open(int(pid)) for pid in pipe.line().split()]
    term.see("▸ Bash sleep 1000")
    term.press("ctrl+c")
    term.rest("interrupted", "cut off")
    assert all(map(is_gone, handles))
    term.say("go on")
    term.see("And on.")
    assert "interrupted" in runner.requests[1].tool_results[0].text.lower()


def test_ctrl_c_clears_then_warns_then_leaves(runner: Runner, sit: Sit) -> None:
    """What it cleared is not lost: Up brings it back."""
    runner.serve("Hello.")
    term = sit()
    term.see(READY)
    term.say("hello")
    term.rest("Hello.")
    term.type("half a prompt")
    term.see("❯ half a prompt")
    term.press("ctrl+c")
    term.no_longer("❯ half a prompt")
    term.press("up")
    term.see("❯ half a prompt")
    term.press("ctrl+c", "ctrl+c", "ctrl+c")
    assert term.ended() == 0
    assert b"ctrl+c again: leave" in term.raw
    assert f"Go on with: detent --resume {runner.logs[0].stem}" in term.past
    assert "tokens, $" in term.past


def test_who_said_nothing_is_told_nothing(runner: Runner, sit: Sit) -> None:
    """And leaves no log; the terminal is as it was."""
    runner.serve()
    term = sit()
    term.see(READY)
    term.press("ctrl+d")
    assert term.ended() == 0
    assert "--resume" not in term.past and runner.logs == []
    assert "Describe a task" not in term.text, "nothing live is left behind"
    assert term.raw.rstrip().endswith((b"\x1b[?25h", b"m")) and b"\x1b[?2004l" in term.raw


def test_leaving_while_it_works_ends_the_turn(runner: Runner, sit: Sit, pipe: Pipe) -> None:
    runner.serve(reply(call("Bash", command=f"echo $$ > {pipe.path}; exec sleep 1000")), "And on.")
    term = sit(*FREELY)
    term.see(FREE)
    term.say("run it")
    handle = os.pidfd_open(int(pipe.line()))
    term.press("ctrl+d")
    assert term.ended() == 0
    assert is_gone(handle)
    assert "Go on with: detent --resume" in term.past
    assert runner.prompt("go on", "-c").result["result"] == "And on."


def test_a_command_of_the_person_is_ended_too(runner: Runner, sit: Sit, pipe: Pipe) -> None:
    runner.serve()
    term = sit("--sandbox", "off")
    term.see(READY)
    term.say(f"!echo $$ > {pipe.path}; exec sleep 1000")
    handle = os.pidfd_open(int(pipe.line()))
    term.see("(esc to interrupt)")
    term.press("escape")
    term.rest("Interrupted.")
    assert is_gone(handle)


def test_a_model_that_fails_is_told_of_and_asked_again(runner: Runner, sit: Sit) -> None:
    runner.serve(fault(401, body="wrong key"), "Now it works.")
    term = sit("hello", "there")
    term.rest("❯ hello there", re.compile("✗ .*401|✗ .*key"))
    term.say("again")
    term.rest("Now it works.")
    assert runner.requests[1].user_texts[-1].endswith("again")
