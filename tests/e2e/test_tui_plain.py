"""Terminals that show no colours or cannot move, ears instead of eyes, and text that means harm."""

from __future__ import annotations

import re
from collections.abc import Callable

from detent.testing import call, reply, say

from .conftest import Runner
from .terminal import READY, Term

Sit = Callable[..., Term]
FREELY = ("--permission-mode", "bypassPermissions", "--sandbox", "off")
COLOUR = re.compile(rb"\x1b\[[0-9;:]*m")
SEQUENCE = re.compile(rb"\x1b\[[0-9;:?>=]*[A-Za-z]")


def turn(runner: Runner) -> None:
    (runner.work / "a.py").write_text("def f():\n    return 1\n")
    edit = call("Edit", file_path="a.py", old_string="return 1", new_string="return 2")
    runner.serve(
        reply("# Look\n\n- at `a.py`\n", call("Read", file_path="a.py")),
        reply(edit),
        "```python\ndef f():\n    return 2\n```\n\n**Done.**",
    )


def test_without_colours_nothing_is_coloured(runner: Runner, sit: Sit) -> None:
    turn(runner)
    term = sit(env={"NO_COLOR": "1"})
    term.see(READY)
    term.say("mend it")
    term.see("wants to use Edit", "-     return 1", "+     return 2")
    term.type("y")
    term.rest("Done.", "M a.py +1 -1")
    found = set(COLOUR.findall(term.raw)) - {b"\x1b[0m", b"\x1b[m"}
    plain = {b"\x1b[1m", b"\x1b[2m", b"\x1b[3m", b"\x1b[4m", b"\x1b[7m", b"\x1b[9m"}
    assert found <= plain, "at most bold, faint, underlined"


def test_a_terminal_that_cannot_move_gets_lines_and_nothing_else(runner: Runner, sit: Sit) -> None:
    turn(runner)
    term = sit(env={"TERM": "dumb"})
    term.see(">")
    term.say("mend it")
    term.see("Edit", "?")
    term.say("y")
    term.see("Done.", re.compile(r"^> $|^>$", re.MULTILINE))
    term.say("/status")
    term.see("Model")
    term.say("/exit")
    assert term.ended() == 0
    assert b"\x1b" not in term.raw
    assert "return 2" in (runner.work / "a.py").read_text()
    assert f"--resume {runner.logs[0].stem}" in term.past


def test_for_who_listens_to_the_screen(runner: Runner, sit: Sit) -> None:
    """Line after line: no spinner, no line that counts, no colours; questions as everywhere."""
    turn(runner)
    term = sit("--screen-reader")
    term.see("Describe a task")
    term.say("mend it")
    term.see("wants to use Edit", "Your answer?")
    term.type("y")
    term.see("Done.", "M a.py +1 -1")
    term.press("back tab")
    term.see("acceptEdits: accepts edits")
    term.press("ctrl+d")
    assert term.ended() == 0
    assert not COLOUR.search(term.raw)
    assert not set("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏") & set(term.raw.decode())
    assert b"esc to interrupt" not in term.raw


def test_nothing_that_others_say_is_obeyed(runner: Runner, sit: Sit) -> None:
    """Tools, files, the model and what is pasted: title, colours, screen, links, directions."""
    evil = "A\x1b]0;owned\x07B\x1b[31mC\x1b[2JD\x9b31mE\x1b]8;;http://x\x1b\\F\u202eG\u2066H\x08I"
    (runner.work / "evil.txt").write_text(evil)
    (runner.work / f"n{evil[:12].replace('/', '')}.txt").write_text("x")
    runner.serve(
        reply(call("Bash", command="cat evil.txt; exit 1"), call("Read", file_path="evil.txt")),
        reply(say("I say: ", *evil), call("Bash", command=f"echo '{evil}'")),
        reply(f"```\n{evil}\n```\n\n| {evil} |\n|---|\n| {evil} |\n"),
    )
    term = sit(*FREELY)
    term.see("ALLOWS EVERYTHING")
    term.paste(f"look {evil}")
    term.see("❯ look")
    term.press("enter")
    term.rest("tokens · $")
    term.say("!cat evil.txt; ls")
    term.rest("❯ !cat evil.txt; ls")
    term.press("ctrl+o")
    term.see("q leaves")
    term.type("q")
    term.see("ALLOWS EVERYTHING")
    term.press("ctrl+d")
    assert term.ended() == 0
    assert term.screen.title == "", "nobody has set it"
    written = SEQUENCE.sub(b"", term.raw).decode()
    assert not set(written) & set("\x1b\x07\x08\x9b\u202e\u2066"), "what is left is ours"
    assert b"\x1b[2J" not in term.raw and b"\x1b[31m" not in term.raw
    assert "GHI" in term.past, "what can be shown is shown"
