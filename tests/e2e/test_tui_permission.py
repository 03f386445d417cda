"""The permission dialog in a real terminal: every way to say yes and no."""

from __future__ import annotations

import threading
from collections.abc import Callable

from detent.testing import call, reply

from .conftest import Runner
from .terminal import READY, Term

Sit = Callable[..., Term]
ASKED = "wants to use Bash"


def touch(name: str) -> object:
    return reply(call("Bash", command=f"touch {name}"))


def begun(term: Term) -> Term:
    term.see(READY)
    term.say("go")
    term.see(ASKED, "Yes, this once")
    return term


def files_in(runner: Runner) -> list[str]:
    """What commands have made; a sandbox leaves the places behind that it protects."""
    return [path.name for path in runner.work.iterdir() if not path.name.startswith(".")]


def test_no_and_why_reaches_the_model(runner: Runner, sit: Sit) -> None:
    runner.serve(touch("wrong"), "I see.")
    term = begun(sit())
    term.type("n")
    term.see("Tell the model why")
    term.say("use the other folder")
    term.rest("I see.")
    assert "use the other folder" in runner.requests[1].tool_results[0].text
    assert not (runner.work / "wrong").exists()


def test_a_rule_for_the_session_is_not_asked_about_again(runner: Runner, sit: Sit) -> None:
    runner.serve(touch("one"), touch("one"), "It was done twice.")
    term = begun(sit())
    term.see("2. Yes, and always in this session: Bash(touch one)")
    term.type("2")
    term.rest("It was done twice.")
    assert not runner.requests[2].tool_results[0].is_error
    assert not list(runner.folder.rglob("settings*.json")), "kept for the session alone"


def test_how_long_a_rule_holds_is_chosen_with_tab(runner: Runner, sit: Sit) -> None:
    runner.serve(touch("one"), "Done.")
    term = begun(sit())
    term.press("tab", "tab")
    term.see("for everybody in this project: Bash(touch one)")
    term.press("tab")
    term.see("Yes, and always for you everywhere: Bash(touch one)")
    term.type("2")
    term.rest("Done.")
    assert "Bash(touch one)" in (runner.state / "settings.json").read_text()


def test_the_command_as_the_person_has_edited_it(runner: Runner, sit: Sit) -> None:
    runner.serve(touch("theirs"), "Done.")
    term = begun(sit())
    term.type("?")
    term.see("Decided by:")
    term.type("e")
    term.see("Edit command; enter runs it as it is then", "❯ touch theirs")
    term.press(*["erase"] * len("theirs"))
    term.say("mine")
    term.rest("Done.")
    assert files_in(runner) == ["mine"]
    assert "❯ Describe a task" in term.text, "nothing of it is left in the text box"


def test_escape_is_no_and_ends_the_turn(runner: Runner, sit: Sit) -> None:
    """Out of an edit that was begun it is the way back to the question."""
    runner.serve(touch("one"), touch("two"), "And on.")
    term = begun(sit())
    term.press("escape")
    term.rest("! No, and stop.")
    term.say("again")
    term.see(ASKED, "touch two")
    term.type("e")
    term.see("❯ touch two")
    term.press("escape")
    term.no_longer("❯ touch two")
    term.see("Yes, this once")
    term.press("escape")
    term.see(READY)
    term.say("go on")
    term.rest("And on.")
    assert files_in(runner) == []
    assert runner.requests[2].user_texts[-1].endswith("go on")


def test_several_questions_come_one_after_the_other(runner: Runner, sit: Sit) -> None:
    both = reply(call("Bash", command="touch one"), call("Bash", command="touch two"))
    runner.serve(both, "One of them.")
    term = begun(sit())
    seen = term.text
    assert ("touch one" in seen) != ("touch two" in seen)
    first, other = ("one", "two") if "touch one" in seen else ("two", "one")
    term.type("y")
    term.see(ASKED, f"touch {other}", "Yes, this once")
    term.type("n")
    term.see("Tell the model why")
    term.press("enter")
    term.rest("One of them.")
    assert files_in(runner) == [first]


def test_what_was_being_typed_is_there_again_afterwards(runner: Runner, sit: Sit) -> None:
    """The question takes the keys, not the text."""
    gate = threading.Event()
    command = call("Bash", command="touch one")
    runner.serve(reply("Wait.", command, hold=gate, hold_after=1), "Then on.")
    term = sit()
    term.see(READY)
    term.say("go")
    term.see("Wait.")
    term.type("by the way")
    term.see("❯ by the way")
    gate.set()
    term.see(ASKED)
    term.press("escape")
    term.rest("❯ by the way", "! No, and stop.")
    term.press("enter")
    term.rest("Then on.")
    assert runner.requests[1].user_texts[-1].endswith("by the way")
