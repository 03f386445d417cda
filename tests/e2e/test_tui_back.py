"""Going back and going on in a real terminal: rewind, undo, redo, resume, continue."""

from __future__ import annotations

from collections.abc import Callable

from detent.testing import Request, call, reply

from .conftest import Runner
from .terminal import READY, Term

Sit = Callable[..., Term]
EDITS = ("--permission-mode", "acceptEdits")
EDITING = "accepts edits"


def writing(text: str) -> object:
    return reply(call("Write", file_path="a.txt", content=text))


def changed(runner: Runner, sit: Sit, *more: object) -> Term:
    """Two turns, each of which writes the file."""
    runner.serve(writing("one\n"), "One is written.", writing("two\n"), "Two is written.", *more)
    term = sit(*EDITS)
    term.see(EDITING)
    term.say("write one")
    term.rest("One is written.")
    term.say("write two")
    term.rest("Two is written.")
    return term


def texts(request: Request) -> str:
    return request.body.decode()


def test_escape_twice_goes_back_to_a_prompt(runner: Runner, sit: Sit) -> None:
    """Chat and files; the prompt stands in the text box again, to be put otherwise."""
    term = changed(runner, sit, "Three it is.")
    term.press("escape", "escape")
    term.see("Go back to before which prompt?", "1. write one", "❯ 2. write two")
    term.press("enter")
    term.see("Go back to before: write two", "The chat and the files", "a.txt")
    term.type("1")
    term.rest("❯ write two\nacceptEdits: ")
    assert (runner.work / "a.txt").read_text() == "one\n"
    term.press(*["erase"] * len("two"))
    term.say("three")
    term.rest("Three it is.")
    assert "write two" not in texts(runner.requests[-1])
    assert "One is written." in texts(runner.requests[-1])


def test_the_chat_or_the_files_alone(runner: Runner, sit: Sit) -> None:
    term = changed(runner, sit, "I remember one.")
    term.press("escape", "escape")
    term.see("❯ 2. write two")
    term.press("enter")
    term.see("The files alone")
    term.type("3")
    term.rest(lambda: (runner.work / "a.txt").read_text() == "one\n", EDITING)
    term.say("/redo")
    term.rest(lambda: (runner.work / "a.txt").read_text() == "two\n", "❯ /redo")
    term.press("escape", "escape")
    term.see("❯ 2. write two")
    term.press("enter")
    term.see("The chat alone")
    term.type("2")
    term.rest("❯ write two\nacceptEdits: ")
    assert (runner.work / "a.txt").read_text() == "two\n"
    term.press("ctrl+c")
    term.see("❯ Describe a task")
    term.say("what do you know?")
    term.rest("I remember one.")
    assert "Two is written." not in texts(runner.requests[-1])


def test_undo_and_redo(runner: Runner, sit: Sit) -> None:
    term = changed(runner, sit)
    term.say("/undo")
    term.rest(lambda: (runner.work / "a.txt").read_text() == "one\n", "❯ /undo")
    term.say("/redo")
    term.rest(lambda: (runner.work / "a.txt").read_text() == "two\n", "❯ /redo")


def past(runner: Runner, sit: Sit) -> None:
    """Two sessions of one turn each, in this folder."""
    for word in ("apples", "pears"):
        assert runner.prompt(f"about {word}").result["result"] == f"All about {word}."


def test_sessions_to_choose_from(runner: Runner, sit: Sit) -> None:
    """With `--resume` and no name, and with /resume within a session."""
    runner.serve("All about apples.", "All about pears.", "More of apples.", "More of pears.")
    past(runner, sit)
    term = sit("--resume")
    term.see("about apples", "about pears")
    term.press("down", "enter")
    term.rest("❯ about apples", "All about apples.", READY)
    term.say("more")
    term.rest("More of apples.")
    assert "All about apples." in texts(runner.requests[2])
    term.say("/resume")
    term.see("about pears")
    term.press("enter")
    term.rest("All about pears.", READY)
    term.say("more")
    term.rest("More of pears.")
    sent = texts(runner.requests[3])
    assert "All about pears." in sent and "apples" not in sent
    term.press("ctrl+d")
    assert term.ended() == 0
    (pears,) = (log.stem for log in runner.logs if "All about pears." in log.read_text())
    assert f"--resume {pears}" in term.past


def test_continue_shows_the_last_turn_again(runner: Runner, sit: Sit) -> None:
    runner.serve("All about apples.", "All about pears.", "And on.")
    past(runner, sit)
    term = sit("--continue")
    term.rest("❯ about pears", "All about pears.", READY)
    assert "apples" not in term.text
    term.type("/clear\rand on\r")
    term.rest("And on.")
    assert "pears" not in texts(runner.requests[2]), "a new session, also for who types fast"
    assert len(runner.logs) == 3
