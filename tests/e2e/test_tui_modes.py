"""Modes, plans and questions of the model in a real terminal."""

from __future__ import annotations

from collections.abc import Callable

from detent.testing import call, reply

from .conftest import Runner
from .terminal import READY, Term

Sit = Callable[..., Term]
PLAN = call("ExitPlanMode", plan="# The plan\n\n1. write **a.txt**")
WRITE = call("Write", file_path="a.txt", content="a\n")
STORE = {
    "question": "Which store?",
    "header": "Store",
    "options": [
        {"label": "SQLite", "description": "one file"},
        {"label": "Postgres", "description": "a server"},
    ],
    "multiSelect": False,
}
PARTS = {**STORE, "question": "Which parts?", "header": "Parts", "multiSelect": True}


def test_shift_tab_goes_round_and_edits_are_accepted(runner: Runner, sit: Sit) -> None:
    runner.serve(reply(WRITE), "Written.")
    term = sit()
    for words in (READY, "accepts edits", "plans only", "a model decides", READY):
        term.see(words)
        term.press("back tab")
    term.see("acceptEdits: accepts edits")
    term.say("write it")
    term.see("Written.", "A a.txt +1 -0")
    assert (runner.work / "a.txt").exists(), "nobody was asked"


def test_a_plan_is_shown_sent_back_and_approved(runner: Runner, sit: Sit) -> None:
    runner.serve(reply(PLAN), reply(PLAN), reply(WRITE), "Carried out.")
    term = sit("--permission-mode", "plan")
    term.see("plans only")
    term.say("plan it")
    term.see("The plan", "1. write a.txt", "Carry out this plan?")
    term.type("3")
    term.see("What should be different?")
    term.say("shorter please")
    term.see("Carry out this plan?", lambda: len(runner.requests) == 2)
    assert "shorter please" in runner.requests[1].tool_results[0].text
    term.see("❯ 1. Yes, and accept edits without asking")
    term.type("1")
    term.see("Carried out.", "acceptEdits: accepts edits")
    assert (runner.work / "a.txt").read_text() == "a\n"


def test_questions_of_the_model(runner: Runner, sit: Sit) -> None:
    """One of several, some of several, and words of one's own."""
    name = {**STORE, "question": "Which name?", "header": "Name"}
    runner.serve(reply(call("AskUserQuestion", questions=[STORE, PARTS, name])), "I see.")
    term = sit()
    term.see(READY)
    term.say("build it")
    term.see("Which store?", "1. SQLite", "2. Postgres", "a server", "Something else")
    term.press("down", "enter")
    term.see("Which parts?", "[ ]")
    term.type("12")
    term.see("[x]")
    term.press("enter")
    term.see("Which name?")
    term.type("3")
    term.see("Your answer")
    term.say("Ωmega")
    term.rest("I see.")
    told = runner.requests[1].tool_results[0].text
    assert "Postgres" in told and "SQLite, Postgres" in told and "Ωmega" in told


def test_who_does_not_want_to_answer(runner: Runner, sit: Sit) -> None:
    runner.serve(reply(call("AskUserQuestion", questions=[STORE])), "Then not.")
    term = sit()
    term.see(READY)
    term.say("build it")
    term.see("Which store?")
    term.press("escape")
    term.rest("Then not.")
    assert "did not want to answer" in runner.requests[1].tool_results[0].text
