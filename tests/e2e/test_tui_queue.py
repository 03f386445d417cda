"""Saying something while it works: after the call, after the turn, or not after all."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest

from detent.testing import call, reply

from .conftest import Pipe, Runner
from .terminal import READY, Term

Sit = Callable[..., Term]
FREELY = ("--permission-mode", "bypassPermissions", "--sandbox", "off")
FREE = "ALLOWS EVERYTHING"


@pytest.fixture
def gate(runner: Runner) -> Iterator[Pipe]:
    """What is written here lets the command end."""
    gate = Pipe(runner.work / "gate")
    yield gate
    gate.close()


def at_work(runner: Runner, sit: Sit, pipe: Pipe, gate: Pipe) -> Term:
    """A session whose command runs."""
    command = f"echo runs > {pipe.path}; read line < {gate.path}"
    runner.serve(reply(call("Bash", command=command)), "First turn done.", "Second turn done.")
    term = sit(*FREELY)
    term.see(FREE)
    term.say("start")
    assert pipe.line() == "runs"
    return term


def test_enter_is_heard_after_the_call_and_tab_after_the_turn(
    runner: Runner, sit: Sit, pipe: Pipe, gate: Pipe
) -> None:
    term = at_work(runner, sit, pipe, gate)
    term.type("and quickly")
    term.press("tab")
    term.see("↳ after this turn: and quickly")
    term.say("mind the gap")
    term.see("↳ after this call: mind the gap", "↳ after this turn: and quickly")
    gate.path.write_text("\n")
    term.rest("Second turn done.")
    _, second, third = runner.requests
    assert second.tool_results and second.user_texts[-1].endswith("mind the gap")
    assert "and quickly" not in second.body.decode()
    assert third.user_texts[-1].endswith("and quickly")
    assert "↳" not in term.text
    shown = term.past
    assert shown.index("+ mind the gap") < shown.index("First turn done.")
    assert shown.index("First turn done.") < shown.index("❯ and quickly")


def test_what_waits_can_be_taken_back(runner: Runner, sit: Sit, pipe: Pipe, gate: Pipe) -> None:
    term = at_work(runner, sit, pipe, gate)
    term.say("one")
    term.see("↳ after this call: one")
    term.say("two")
    term.see("↳ after this call: two")
    term.press("alt+up")
    term.no_longer("↳ after this call: two")
    term.see("❯ two", "↳ after this call: one")
    term.type(" and a half")
    term.press("tab")
    term.see("↳ after this turn: two and a half")
    gate.path.write_text("\n")
    term.rest("Second turn done.")
    assert runner.requests[1].user_texts[-1].endswith("one")
    assert runner.requests[2].user_texts[-1].endswith("two and a half")


def test_an_interrupt_gives_back_what_was_not_heard(
    runner: Runner, sit: Sit, pipe: Pipe, gate: Pipe
) -> None:
    term = at_work(runner, sit, pipe, gate)
    term.say("one")
    term.see("↳ after this call: one")
    term.type("two")
    term.press("tab")
    term.see("↳ after this turn: two")
    term.press("escape")
    term.rest("interrupted", "❯ one\n  two")
    assert len(runner.requests) == 1
    term.press("enter")
    term.rest("First turn done.")
    assert runner.requests[1].user_texts[-1].endswith("one\ntwo")


def test_what_is_said_at_the_very_end_begins_the_next_turn(runner: Runner, sit: Sit) -> None:
    """No call follows after which it could be heard."""
    gate = threading.Event()
    runner.serve(reply("All done.", hold=gate, hold_after=1), "And that too.")
    term = sit()
    term.see(READY)
    term.say("do it")
    term.see("All done.")
    term.say("one more thing")
    term.see("↳ after this call: one more thing")
    gate.set()
    term.rest("And that too.")
    assert runner.requests[1].user_texts[-1].endswith("one more thing")
    assert term.past.count("one more thing") == 1
