"""Questions to the person: AskUserQuestion over the host's `can_use_tool` and over stdin."""

from typing import Any

import pytest

from detent.testing import call, reply

from .conftest import BOTH_WIRES, Frame, Live, Ran, Runner

ASKS_HOST = ("--permission-prompt-tool", "stdio")
FOR_A_PERSON = {"AskUserQuestion", "EnterPlanMode", "ExitPlanMode"}
STORE: Frame = {
    "question": "Which store?",
    "header": "Store",
    "options": [
        {"label": "SQLite", "description": "one file"},
        {"label": "Postgres", "description": "a server"},
    ],
    "multiSelect": False,
}
PARTS: Frame = {**STORE, "question": "Which parts?", "header": "Parts", "multiSelect": True}


def ask(*questions: Frame) -> Any:
    return reply(call("AskUserQuestion", questions=list(questions or [STORE])))


def asked(live: Live) -> Frame:
    return live.next("control_request", where=lambda f: f["request"]["subtype"] == "can_use_tool")


def told(runner: Runner) -> str:
    return runner.requests[1].tool_results[0].text


@BOTH_WIRES
@pytest.mark.parametrize(
    "flags",
    [
        (),
        ("--permission-mode", "bypassPermissions"),
        ("--permission-mode", "acceptEdits", "--allowedTools", "AskUserQuestion"),
        ("--permission-mode", "plan"),
    ],
    ids=["default", "bypass", "allowed", "plan"],
)
def test_the_host_answers(runner: Runner, flags: tuple[str, ...]) -> None:
    runner.serve(ask(STORE, PARTS), "done")
    live = runner.converse(*ASKS_HOST, *flags)
    live.say("build it")
    assert set(live.next("system", "init")["tools"]) >= FOR_A_PERSON
    question = asked(live)
    request = question["request"]
    assert request["tool_name"] == "AskUserQuestion"
    assert request["input"] == {"questions": [STORE, PARTS]}
    answers = {"Which store?": "Postgres", "Which parts?": ["SQLite", "Postgres"]}
    live.answer(question, behavior="allow", updatedInput={**request["input"], "answers": answers})
    assert live.next("result")["result"] == "done"
    ran = live.finish()
    assert ran.code == 0, ran
    assert told(runner) == (
        "The user answered:\n- Which store? -> Postgres\n- Which parts? -> SQLite, Postgres"
    )
    (result,) = ran.tool_results
    assert result["data"]["questions"] == [STORE, PARTS]
    assert result["data"]["answers"]["Which parts?"] == "SQLite, Postgres"


@BOTH_WIRES
def test_a_host_that_only_allows_has_not_answered(runner: Runner) -> None:
    """Nor has the model, whatever it writes into the arguments itself."""
    forged = {"questions": [STORE], "answers": {"Which store?": "SQLite"}}
    runner.serve(reply(call("AskUserQuestion", forged)), "done")
    live = runner.converse(*ASKS_HOST)
    live.say("build it")
    question = asked(live)
    live.answer(question, behavior="allow", updatedInput=question["request"]["input"])
    live.next("result")
    assert live.finish().code == 0
    assert told(runner).startswith("The user gave no answer; decide yourself")


def test_an_answer_that_the_model_wrote_ahead_is_still_the_persons_to_give(runner: Runner) -> None:
    answers = {"Which store?": "SQLite"}
    forged = {"questions": [STORE], "answers": answers}
    runner.serve(reply(call("AskUserQuestion", forged)), "done")
    live = runner.converse(*ASKS_HOST)
    live.say("build it")
    question = asked(live)
    shown = question["request"]["input"]
    assert "answers" not in shown, "nobody is led on"
    live.answer(question, behavior="allow", updatedInput={**shown, "answers": answers})
    live.next("result")
    assert live.finish().code == 0
    assert "Which store? -> SQLite" in told(runner)


def test_a_host_that_will_not_answer(runner: Runner) -> None:
    runner.serve(ask(), "I see")
    live = runner.converse(*ASKS_HOST)
    live.say("build it")
    live.answer(asked(live), behavior="deny", message="You decide.")
    live.next("result")
    assert live.finish().code == 0
    assert told(runner) == "Not run. The user said: You decide. This needs the user's answer."


def test_a_mode_that_never_asks(runner: Runner) -> None:
    runner.serve(ask(), "I see")
    live = runner.converse(*ASKS_HOST, "--permission-mode", "dontAsk")
    live.say("build it")
    assert live.next("result")["permission_denials"][0]["tool_name"] == "AskUserQuestion"
    ran = live.finish()
    assert not ran.of("control_request")
    assert told(runner).startswith("Not run.")


@pytest.mark.parametrize("flags", [(), ("--on-ask", "fail"), ("--tools", "Read,AskUserQuestion")])
def test_where_nobody_can_be_asked_nobody_is_offered(
    runner: Runner, flags: tuple[str, ...]
) -> None:
    runner.serve(ask(), "done")
    ran = runner.frames("build it", *flags)
    assert ran.code == 0, ran
    (init,) = ran.of("system", "init")
    assert not FOR_A_PERSON & set(init["tools"])
    assert "Read" in init["tools"]
    assert "no tool named" in told(runner)


def on_stdin(runner: Runner, said: str, *replies: Any, flags: tuple[str, ...] = ()) -> Ran:
    runner.serve(*replies)
    return runner.frames("build it", "--on-ask", "stdio", *flags, stdin=said)


def test_answers_on_stdin(runner: Runner) -> None:
    third = {**STORE, "question": "And why?"}
    ran = on_stdin(runner, "2\n1, 2\nbecause\n", ask(STORE, PARTS, third), "done")
    assert ran.code == 0, ran
    assert "Which store?\n  1. SQLite: one file\n  2. Postgres: a server" in ran.stderr
    assert told(runner) == (
        "The user answered:\n- Which store? -> Postgres\n- Which parts? -> SQLite, Postgres\n"
        "- And why? -> because"
    )


def test_no_answer_on_stdin(runner: Runner) -> None:
    ran = on_stdin(runner, "", ask(), "done")
    assert ran.code == 0, ran
    assert told(runner).startswith("The user gave no answer")


@pytest.mark.parametrize(("said", "is_approved"), [("y", True), ("more tests", False)])
def test_a_plan_on_stdin(runner: Runner, said: str, is_approved: bool) -> None:
    plan = reply(call("ExitPlanMode", plan="1. write"))
    ran = on_stdin(runner, f"{said}\n", plan, "done", flags=("--permission-mode", "plan"))
    assert "The plan:\n1. write\nGo on? [y/N]" in ran.stderr
    assert ("approved" in told(runner)) is is_approved
    assert (said in told(runner)) is not is_approved
