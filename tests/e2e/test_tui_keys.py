"""Keys that do more than type, in a real terminal."""

from __future__ import annotations

import os
import select
import threading
from collections.abc import Callable
from pathlib import Path

from detent.testing import call, reply

from .conftest import DETENT, PATIENCE, Pipe, Runner
from .terminal import READY, Term

Sit = Callable[..., Term]
FREELY = ("--permission-mode", "bypassPermissions", "--sandbox", "off")
FREE = "ALLOWS EVERYTHING"


def script(path: Path, text: str) -> str:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def test_a_command_goes_on_in_the_background(runner: Runner, sit: Sit, pipe: Pipe) -> None:
    """The model goes on as well; the job has a line of its own until it ends with the session."""
    runner.serve(
        reply(call("Bash", command=f"echo $$ > {pipe.path}; exec sleep 1000")), "It runs on."
    )
    term = sit(*FREELY)
    term.see(FREE)
    term.say("run it")
    handle = os.pidfd_open(int(pipe.line()))
    try:
        term.see("▸ Bash")
        term.press("ctrl+b")
        term.rest("It runs on.", "⚙ job_1")
        assert "job_1" in runner.requests[1].tool_results[0].text
        term.press("ctrl+d")
        assert term.ended() == 0
        assert select.select([handle], [], [], PATIENCE)[0], "it ends with the session"
    finally:
        os.close(handle)


def test_the_transcript_shows_all_and_leaves_the_screen_as_it_was(runner: Runner, sit: Sit) -> None:
    (runner.work / "long.txt").write_text("".join(f"line {n}\n" for n in range(1, 61)))
    runner.serve(reply(call("Read", file_path="long.txt")), "I have read it.")
    term = sit()
    term.see(READY)
    term.say("read it")
    before = term.rest("I have read it.", "30 tokens")
    assert "line 59" not in before
    term.press("ctrl+o")
    term.see("q leaves", "I have read it.", "line 60")
    term.press("page up")
    term.see("lines below", "line 30")
    term.press("home")
    term.see("❯ read it", "file_path: long.txt")
    term.type("q")
    term.see(READY)
    assert term.text == before


def test_a_search_in_earlier_prompts(runner: Runner, sit: Sit) -> None:
    """Of the run before, too, as Up has them."""
    runner.serve("One.", "Two.", "Three.")
    term = sit()
    term.see(READY)
    term.say("look at the apples")
    term.rest("One.")
    term.say("look at the pears")
    term.rest("Two.")
    term.press("ctrl+d")
    assert term.ended() == 0
    term = sit()
    term.see(READY)
    term.press("up")
    term.see("❯ look at the pears")
    term.press("up")
    term.see("❯ look at the apples")
    term.press("down", "down")
    term.see("❯ Describe a task")
    term.press("ctrl+r")
    term.see("Search in earlier prompts:", "look at the apples", "look at the pears")
    term.type("app")
    term.no_longer("look at the pears")
    term.press("enter")
    term.rest("❯ look at the apples", READY)
    term.type(", please")
    term.press("enter")
    term.rest("Three.")
    assert runner.requests[2].user_texts[-1].endswith("look at the apples, please")


def test_the_list_of_things_to_do_comes_and_goes(runner: Runner, sit: Sit) -> None:
    gate = threading.Event()
    todos = [
        {"content": "Mend add", "status": "in_progress", "activeForm": "Mending add"},
        {"content": "Run tests", "status": "pending", "activeForm": "Running tests"},
    ]
    runner.serve(reply(call("TodoWrite", todos=todos)), reply("Soon.", hold=gate, hold_after=1))
    term = sit()
    term.see(READY)
    term.say("go")
    term.see("Soon.", "[>] Mend add", "[ ] Run tests")
    term.press("ctrl+t")
    term.no_longer("[ ] Run tests")
    term.press("ctrl+t")
    term.see("[ ] Run tests")
    gate.set()
    term.rest("tokens · $")


def test_a_question_mark_lists_the_keys_and_typing_takes_the_list_away(
    runner: Runner, sit: Sit
) -> None:
    runner.serve()
    term = sit(rows=50)
    term.see(READY)
    term.type("?")
    term.see("ctrl+g", "write in your editor", "shift+tab", "next permission mode")
    term.type("w")
    term.no_longer("write in your editor")
    term.type("hat?")
    term.see("❯ what?")


def test_a_prompt_written_in_the_editor(runner: Runner, sit: Sit) -> None:
    editor = script(runner.folder / "editor.sh", 'cat "$1"; echo "and a second line" >> "$1"')
    runner.serve("Got both.")
    term = sit(env={"EDITOR": f"{editor}", "VISUAL": None})
    term.see(READY)
    term.type("a first line\n")
    term.see("❯ a first line")
    term.press("ctrl+g")
    term.rest("and a second line", READY)
    term.press("enter")
    term.rest("Got both.")
    assert runner.requests[0].user_texts[-1].endswith("a first line\nand a second line")


def test_an_editor_that_fails_changes_nothing(runner: Runner, sit: Sit) -> None:
    editor = script(runner.folder / "editor.sh", 'echo lost > "$1"; exit 3')
    runner.serve()
    term = sit(env={"VISUAL": editor})
    term.see(READY)
    term.type("mine")
    term.press("ctrl+g")
    term.rest("ended with exit code 3", "❯ mine", READY)


def test_suspended_and_resumed(runner: Runner) -> None:
    """By a shell with job control, as a person has one."""
    runner.serve("Here again.")
    env = runner.env({"TERM": "xterm-256color", "LANG": "C.UTF-8", "PS1": "shell> "})
    term = Term(["/bin/bash", "--norc", "--noprofile", "-i"], env, runner.work)
    try:
        term.see("shell>")
        term.say(str(DETENT))
        term.see(READY)
        term.type("half a prompt")
        term.see("❯ half a prompt")
        term.press("ctrl+z")
        term.see("Stopped", "shell>")
        term.say("stty -a | grep -o '.icanon'; fg")
        term.rest(" icanon", "❯ half a prompt", READY)
        term.say(", and the rest")
        term.rest("Here again.")
        assert runner.requests[0].user_texts[-1].endswith("half a prompt, and the rest")
        term.press("ctrl+d")
        term.see("--resume")
        term.say("exit")
        assert term.ended() == 0
    finally:
        term.close()
