"""Text for people who look on: it flows while the model still speaks."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import threading
from collections.abc import Iterator

import pytest

from detent.testing import call, fault, reply, say

from .conftest import BOTH_WIRES, DETENT, PATIENCE, Runner

pytestmark = BOTH_WIRES


class Terminal:
    """The command, with a terminal for its output."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self._ours, self._theirs = pty.openpty()
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, *args: str) -> None:
        self._process = subprocess.Popen(
            [str(DETENT), *args],
            env=self._runner.env(),
            cwd=self._runner.work,
            stdin=subprocess.DEVNULL,
            stdout=self._theirs,
            stderr=subprocess.PIPE,
        )

    def until(self, end: str) -> str:
        """What is shown, up to this."""
        shown = ""
        while not shown.endswith(end):
            assert select.select([self._ours], [], [], PATIENCE)[0], f"only {shown!r} came"
            shown += os.read(self._ours, 65536).decode().replace("\r\n", "\n")
        return shown

    def finish(self) -> tuple[int, str]:
        assert self._process is not None
        _, errors = self._process.communicate(timeout=PATIENCE)
        return self._process.returncode, errors.decode()

    def close(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        os.close(self._ours)
        os.close(self._theirs)


@pytest.fixture
def terminal(runner: Runner) -> Iterator[Terminal]:
    opened = Terminal(runner)
    yield opened
    opened.close()


def test_text_flows_while_the_model_still_speaks(runner: Runner, terminal: Terminal) -> None:
    release = threading.Event()
    runner.serve(reply(say("a few words", " more"), hold=release, hold_after=1))
    terminal.start("-p", "tell me")
    assert terminal.until("words") == "a few words"
    assert all(mark.what != "stop" for mark in runner.server.timeline)
    release.set()
    assert terminal.until("\n") == " more\n"
    assert terminal.finish() == (0, "")


def test_talk_before_a_call_is_shown(runner: Runner, terminal: Terminal) -> None:
    runner.serve(reply("Let me look. ", call("Bash", command="echo hi")), "It says hi.")
    terminal.start("-p", "what does it say?")
    assert terminal.until("hi.\n") == "Let me look. \nIt says hi.\n"
    assert terminal.finish() == (0, "")


def test_what_a_terminal_would_obey_is_left_out(runner: Runner, terminal: Terminal) -> None:
    """Also where it comes in pieces."""
    colours = "\x1b]0;title\x07red \x1b[31mand\x9b0m \x1b", "[2Jback\rward\x08\x7f\t"
    runner.serve(reply(say(*colours, "\u202e\u200b\U000e0041日本é\u00a0🎉 end")))
    terminal.start("-p", "hi")
    shown = terminal.until("end\n").expandtabs(8)
    assert shown == "]0;titlered [31mand0m [2Jbackward\t日本é\u00a0🎉 end\n".expandtabs(8)
    assert terminal.finish() == (0, "")


def test_an_answer_that_starts_again_is_told(runner: Runner, terminal: Terminal) -> None:
    """What is shown cannot be taken back."""
    runner.serve(reply(say("first ", "try"), fault=fault(cut_after=1)), "second try")
    terminal.start("-p", "hi")
    assert terminal.until("second try\n") == "first \nsecond try\n"
    code, told = terminal.finish()
    assert code == 0
    assert "starts again" in told
