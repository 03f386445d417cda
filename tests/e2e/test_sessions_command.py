"""`detent sessions …` and `--resume`, as installed."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import threading
from collections.abc import Iterator

import pytest

from detent.testing import Reply, reply, say

from .conftest import DETENT, PATIENCE, Ran, Runner


def two(runner: Runner) -> tuple[str, str]:
    """The first is about a walrus, the second, newer one about an oyster."""
    runner.serve(*(f"answer {n}" for n in range(9)))
    ids = [
        str(runner.prompt(f"tell me of the {what}").result["session_id"])
        for what in ("walrus", "oyster")
    ]
    return ids[0], ids[1]


def asked(runner: Runner) -> list[str]:
    return runner.requests[-1].user_texts


def listed(runner: Runner, *args: str) -> list[str]:
    return [card["id"] for card in json.loads(runner.run("sessions", "--json", *args).stdout)]


def test_listing(runner: Runner) -> None:
    first, second = two(runner)
    other = runner.folder / "other"
    other.mkdir()
    third = str(runner.prompt("elsewhere", cwd=other).result["session_id"])
    here = runner.run("sessions").stdout.splitlines()
    assert [line.split()[0] for line in here] == [second, first]
    assert here[0].endswith("1 turn  tell me of the oyster")
    assert listed(runner) == [second, first]
    assert listed(runner, "--all") == [third, second, first] == listed(runner, "all")
    assert listed(runner, "--all", "--limit", "2") == [third, second]
    assert runner.run("sessions", "list", "all", "json").stdout.startswith("[{")
    everywhere = runner.run("sessions", "--all").stdout.splitlines()
    assert everywhere[0].endswith(f"elsewhere  {other}")
    assert listed(runner, "--cwd", str(other)) == [third]


def test_nothing_yet(runner: Runner) -> None:
    assert runner.run("sessions").stdout == "No sessions here yet.\n"
    assert runner.run("sessions", "--json").stdout == "[]\n"
    assert not runner.state.exists(), "looking leaves nothing"


def test_searching(runner: Runner) -> None:
    first, _ = two(runner)
    ran = runner.run("sessions", "search", "walr")
    head, snippet = ran.stdout.splitlines()
    assert head.startswith(first) and "step 1  prompt" in head
    assert snippet == "    tell me of the »walrus«"
    (hit,) = json.loads(runner.run("sessions", "search", '"the walrus"', "--json").stdout)
    (prompted,) = (one["seq"] for one in runner.entries(first) if one["type"] == "prompted")
    assert (hit["session"], hit["entry"], hit["step"]) == (first, prompted, 1)
    assert len(json.loads(runner.run("sessions", "search", "answer", "--json").stdout)) == 2
    other = runner.folder / "other"
    other.mkdir()
    nothing = runner.run("sessions", "search", "walrus", "--cwd", str(other))
    assert (nothing.code, nothing.stdout) == (1, "Nothing was found.\n")
    assert runner.run("sessions", "search", "walrus", cwd=other).code == 0, "all, as a rule"


@pytest.mark.parametrize("words", ['"', "NEAR(", "a AND", "*", "said:x", "'; DROP TABLE words"])
def test_a_search_never_trips_over_its_words(runner: Runner, words: str) -> None:
    two(runner)
    ran = runner.run("sessions", "search", words)
    assert ran.code in (1, 2) and "Traceback" not in ran.stderr, ran


def test_what_a_terminal_would_obey_is_not_shown(runner: Runner) -> None:
    runner.serve("done")
    runner.prompt("walrus \x1b[31mred\x07 \u202eback")
    for words in (("sessions",), ("sessions", "search", "walrus"), ("sessions", "show", "walrus")):
        shown = runner.run(*words).stdout
        assert "walrus" in shown and not {"\x1b", "\x07", "\u202e"} & set(shown)


def test_names(runner: Runner) -> None:
    first, second = two(runner)
    assert runner.run("sessions", "name", first[:8], "my", "walrus").code == 0
    assert "my walrus: tell me of the walrus" in runner.run("sessions").stdout
    taken = runner.run("sessions", "name", second, "my walrus")
    assert taken.code == 2 and first in taken.stderr
    ran = runner.run("-p", "go on", "--resume=my walrus")
    assert ran.code == 0 and f"goes on with session {first}" in ran.stderr
    assert asked(runner) == ["tell me of the walrus", "go on"]
    assert runner.run("sessions", "name", first, "--remove").code == 0
    assert "my walrus" not in runner.run("sessions").stdout


def test_a_session_is_named_as_it_begins_and_later(runner: Runner) -> None:
    runner.serve("one", "two", "three")
    runner.prompt("first", "--name", "walrus")
    runner.prompt("second", "-r", "walrus", "-n", "oyster")
    runner.prompt("third", "-r", "oyster", "-n", "oyster")
    assert asked(runner) == ["first", "second", "third"]
    (log,) = runner.logs
    names = [entry["name"] for entry in runner.entries(log.stem) if entry["type"] == "named"]
    assert names == ["walrus", "oyster"]


def test_a_session_in_use_is_neither_named_nor_deleted(runner: Runner) -> None:
    release = threading.Event()
    held: Reply = reply(say("one", "two"), hold=release, hold_after=1)
    runner.serve(held)
    live = runner.start("-p", "x")
    runner.server.wait_for(1)
    (log,) = runner.logs
    assert "[running]" in runner.run("sessions").stdout
    assert "in use by another process" in runner.run("sessions", "name", log.stem, "w").stderr
    ran = runner.run("sessions", "delete", log.stem, "--yes")
    assert ran.code == 1 and "in use by another process" in ran.stderr
    assert log.exists()
    assert runner.run("sessions", "delete", "--older-than", "0d", "--yes").code == 0
    assert log.exists()
    release.set()
    assert live.finish().code == 0
    assert "[running]" not in runner.run("sessions").stdout


def test_deleting(runner: Runner) -> None:
    first, second = two(runner)
    unsure = runner.run("sessions", "delete", first)
    assert unsure.code == 2 and "--yes" in unsure.stderr and first in unsure.stdout
    assert runner.run("sessions", "delete", "walrus", "--yes").code == 2, "not by mere words"
    only_shown = runner.run("sessions", "delete", first, "--yes", "--dry-run")
    assert only_shown.code == 0 and first in only_shown.stdout
    assert sorted(listed(runner)) == sorted([first, second])
    ran = runner.run("sessions", "delete", first[:8], "--yes")
    assert ran.code == 0 and ran.stdout.startswith("1 session deleted, ")
    assert listed(runner) == [second]
    assert runner.run("sessions", "search", "walrus").code == 1


def test_deleting_what_is_old(runner: Runner) -> None:
    first, second = two(runner)
    for log in runner.logs:
        if log.stem == first:
            old = log.stat().st_mtime - 40 * 86_400
            os.utime(log, (old, old))
    assert runner.run("sessions", "delete", "--older-than", "soon", "--yes").code == 2
    assert runner.run("sessions", "delete", first, "--older-than", "1d", "--yes").code == 2
    assert runner.run("sessions", "delete", "--older-than", "6w", "--yes").code == 0
    assert len(listed(runner)) == 2
    assert runner.run("sessions", "delete", "--older-than", "30d", "--yes").code == 0
    assert listed(runner) == [second]


def test_showing(runner: Runner) -> None:
    first, _ = two(runner)
    runner.prompt("and more", "-r", first)
    shown = runner.run("sessions", "show", first[:8]).stdout
    assert "Turn 1" in shown and "> tell me of the walrus" in shown and "answer 0" in shown
    assert "Turn 2" in shown and "> and more" in shown
    one = json.loads(runner.run("sessions", "show", "walrus", "--json").stdout)
    assert one["card"]["id"] == first
    assert [turn["prompt"] for turn in one["turns"]] == ["tell me of the walrus", "and more"]
    assert one["spent"]["dollars"] > 0


def test_the_index_can_be_thrown_away(runner: Runner) -> None:
    two(runner)
    assert runner.run("sessions", "reindex").stdout == "The index holds 2 sessions.\n"
    index = runner.state / "index.sqlite"
    index.write_bytes(b"rubbish" * 1000)
    assert len(listed(runner)) == 2
    index.unlink()
    assert runner.run("sessions", "search", "walrus").code == 0


@pytest.mark.parametrize(
    "words",
    ["telepathy", "list telepathy", "show", "show a b", "search", "name x", "delete",
     f"delete --older-than {'9' * 400}d", "delete --older-than -1d"],
)  # fmt: skip
def test_wrong_words_are_told(runner: Runner, words: str) -> None:
    ran = runner.run("sessions", *words.split())
    assert ran.code == 2 and ran.stderr.startswith("detent: ") and "Traceback" not in ran.stderr


# --resume


def test_going_on_needs_no_index(runner: Runner) -> None:
    first, _ = two(runner)
    for args in (("-c",), ("-r", first), ("-r", first[:8])):
        assert runner.prompt("more", *args).code == 0
    assert not (runner.state / "index.sqlite").exists()


def test_words_of_one_session_are_enough(runner: Runner) -> None:
    two(runner)
    ran = runner.run("-p", "go on", "-r", "walrus")
    assert ran.code == 0, ran
    assert asked(runner) == ["tell me of the walrus", "go on"]
    assert runner.prompt("more", "--resume=the walrus").code == 0
    assert asked(runner)[-1] == "more"


def test_several_are_listed_where_nobody_can_be_asked(runner: Runner) -> None:
    first, second = two(runner)
    for args in (("-r", "tell"), ("-r",)):
        ran = runner.run("-p", "go on please", *args)
        assert ran.code == 2, ran
        assert [line.split()[0] for line in ran.stderr.splitlines()[1:]] == [second, first]
    framed = runner.prompt("go on please", "-r")
    assert framed.code == 2 and framed.result["is_error"]
    assert len(runner.requests) == 2, "and nobody was asked anything"


def test_resume_without_sessions(runner: Runner) -> None:
    runner.serve("x")
    ran = runner.run("-p", "go", "-r")
    assert ran.code == 2 and "no earlier session in this folder" in ran.stderr


OWN_TERMINAL = """if True:
    import fcntl, os, sys, termios
    fcntl.ioctl(int(sys.argv[1]), termios.TIOCSCTTY, 0)
    os.close(int(sys.argv[1]))
    os.execv(sys.argv[2], sys.argv[2:])
"""


class Screen:
    """The command in a terminal of its own, which it may open by name."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self._ours, self._theirs = pty.openpty()
        fcntl.ioctl(self._theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self._process: subprocess.Popen[bytes] | None = None
        self.shown = ""

    def start(self, *args: str, stdin: bytes | None = None, **env: str) -> None:
        """With `stdin`, that is a pipe, and stdout another."""
        theirs = self._theirs
        self._process = subprocess.Popen(
            [sys.executable, "-c", OWN_TERMINAL, str(theirs), str(DETENT), *args],
            env=self._runner.env({"TERM": "xterm", **env}),
            cwd=self._runner.work,
            stdin=theirs if stdin is None else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=theirs,
            start_new_session=True,
            pass_fds=(theirs,),
        )
        if stdin is not None:
            assert self._process.stdin is not None
            self._process.stdin.write(stdin)
            self._process.stdin.close()
            self._process.stdin = None

    def until(self, text: str) -> None:
        while text not in self.shown:
            assert select.select([self._ours], [], [], PATIENCE)[0], f"only {self.shown!r} came"
            self.shown += os.read(self._ours, 65536).decode()

    def press(self, keys: str) -> None:
        self.shown = ""
        os.write(self._ours, keys.encode())

    def signal(self, number: int) -> None:
        assert self._process is not None
        self._process.send_signal(number)

    def finish(self) -> Ran:
        assert self._process is not None
        out, _ = self._process.communicate(timeout=PATIENCE)
        return Ran(self._process.returncode, out, b"")

    @property
    def is_usual(self) -> bool:
        """It shows what is typed, line by line, as before."""
        wanted = termios.ICANON | termios.ECHO | termios.ISIG
        return termios.tcgetattr(self._theirs)[3] & wanted == wanted

    def close(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        if self._process is not None and self._process.stdout is not None:
            self._process.stdout.close()
        os.close(self._ours)
        os.close(self._theirs)


@pytest.fixture
def screen(runner: Runner) -> Iterator[Screen]:
    opened = Screen(runner)
    yield opened
    opened.close()


def test_the_picker(runner: Runner, screen: Screen) -> None:
    two(runner)
    screen.start("-p", "go on please", "-r")
    screen.until("Resume which (2 of 2")
    assert ">  1  " in screen.shown and "tell me of the walrus" in screen.shown
    screen.press("\x1b[B\r")
    ran = screen.finish()
    assert (ran.code, ran.stdout) == (0, "answer 2\n")
    assert asked(runner) == ["tell me of the walrus", "go on please"]
    assert screen.is_usual


def test_typing_narrows_also_when_stdin_is_a_pipe(runner: Runner, screen: Screen) -> None:
    two(runner)
    screen.start("-p", "go on please", "-r", stdin=b"piped in")
    screen.until("Resume which (2 of 2")
    screen.press("walr")
    screen.until("(1 of 2")
    screen.press("\r")
    assert screen.finish().code == 0
    assert asked(runner)[0] == "tell me of the walrus"
    assert "piped in" in asked(runner)[1]


def test_words_of_several_sessions_are_asked_about(runner: Runner, screen: Screen) -> None:
    two(runner)
    screen.start("-p", "go on please", "--resume=tell")
    screen.until("Resume which (2 of 2")
    screen.press("oyster")
    screen.until("(1 of 2")
    screen.press("\r")
    assert screen.finish().code == 0
    assert asked(runner)[0] == "tell me of the oyster"
    assert len(runner.logs) == 2


@pytest.mark.parametrize("key", ["\x1b", "\x03"])
def test_leaving_the_picker(runner: Runner, screen: Screen, key: str) -> None:
    two(runner)
    screen.start("-p", "go on please", "-r")
    screen.until("Resume which")
    screen.press(key)
    assert screen.finish().code == 130
    assert len(runner.requests) == 2
    assert screen.is_usual


def test_a_signal_leaves_the_terminal_as_it_was(runner: Runner, screen: Screen) -> None:
    two(runner)
    screen.start("-p", "go on please", "-r")
    screen.until("Resume which")
    assert not screen.is_usual
    screen.signal(signal.SIGTERM)
    assert screen.finish().code == 143
    assert screen.is_usual


def test_a_terminal_that_cannot_move_its_cursor_gets_the_list(
    runner: Runner, screen: Screen
) -> None:
    two(runner)
    screen.start("-p", "go on please", "-r", TERM="dumb")
    assert screen.finish().code == 2


def test_deleting_asks_in_a_terminal(runner: Runner, screen: Screen) -> None:
    first, second = two(runner)
    screen.start("sessions", "delete", first)
    screen.press("n\n")
    assert screen.finish().code == 1
    assert len(listed(runner)) == 2
    screen.start("sessions", "delete", first)
    screen.press("y\n")
    assert screen.finish().code == 0
    assert listed(runner) == [second]
