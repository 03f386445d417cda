"""Commands that people write themselves, in headless runs."""

from __future__ import annotations

import json
import signal
from pathlib import Path

from detent.testing import Request, call, reply

from .conftest import Frame, Pipe, Runner


def write(folder: Path, name: str, text: str, *head: str) -> None:
    path = folder / "commands" / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(["---", *head, "---", text]) if head else text)


def user(text: str, **fields: object) -> Frame:
    return {"type": "user", "message": {"role": "user", "content": text}, **fields}


def prompt_in(request: Request) -> str:
    """The last thing that the user says in it."""
    return [said.text for said in request.talk if said.role == "user"][-1]


def test_a_command_becomes_a_prompt(runner: Runner) -> None:
    runner.serve("done")
    write(runner.home / ".claude", "fix", "Fix issue $1.\nHost: !`echo here`\nSee @a.py")
    (runner.work / "a.py").write_text("print(1)\n")
    ran = runner.prompt("/fix 12")
    assert (ran.code, ran.result["result"]) == (0, "done")
    said = prompt_in(runner.requests[0])
    assert "Fix issue 12.\nHost: here\nSee @a.py" in said
    assert "1\tprint(1)" in said
    listed = json.loads(runner.run("sessions", "--json").stdout)
    assert "/fix 12" in json.dumps(listed)


def test_what_is_built_in_wins_and_a_slip_of_the_pen_may_be_a_command(runner: Runner) -> None:
    runner.serve("done")
    write(runner.home / ".claude", "help", "never")
    write(runner.home / ".claude", "contexts", "Tell of contexts.")
    told = runner.prompt("/help").result["result"]
    assert "never" not in told and "Tell of contexts. (user)" in told
    assert runner.requests == []
    assert runner.prompt("/contexts").result["result"] == "done"
    assert "Tell of contexts." in prompt_in(runner.requests[0])


def test_what_fails_in_it_is_told_and_no_model_is_asked(runner: Runner) -> None:
    runner.serve("never")
    write(runner.home / ".claude", "fix", "!`rm -r things`")
    ran = runner.prompt("/fix")
    assert (ran.code, ran.result["reason"]) == (2, "bad_input")
    assert "/fix: `rm -r things` may not run" in ran.result["result"]
    assert runner.requests == []


def test_slash_commands_can_be_switched_off(runner: Runner) -> None:
    runner.serve("done")
    write(runner.home / ".claude", "fix", "Fix it.")
    runner.prompt("/fix", "--disable-slash-commands")
    assert "Fix it." not in prompt_in(runner.requests[0])


def test_a_strangers_command_widens_nothing_until_it_is_trusted(runner: Runner) -> None:
    touch = reply(call("Bash", command="touch made"))
    runner.serve(touch, "no", touch, "yes")
    write(runner.work / ".claude", "make", "Make it.", "allowed-tools: Bash(touch:*)")
    ran = runner.prompt("/make")
    assert ran.code == 3 and not (runner.work / "made").exists()
    assert "allowed-tools ignored until you trust it" in ran.stderr
    assert "allows without a question: Bash(touch:*)" in runner.run("trust", "--yes").stdout
    assert runner.prompt("/make").code == 0
    assert (runner.work / "made").exists()


def test_a_model_for_one_turn(runner: Runner) -> None:
    """In the log, for a resumed session and for a replay."""
    runner.serve("one", "two", "three")
    write(runner.home / ".claude", "quick", "Quick.", "model: haiku", "effort: low")
    session = runner.prompt("begin").result["session_id"]
    assert runner.prompt("/quick", "--continue").result["result"] == "two"
    assert runner.prompt("go on", "--continue").result["result"] == "three"
    models = [request.json["model"] for request in runner.requests]
    assert "haiku" in models[1] and models[0] == models[2] != models[1]
    switched = [entry for entry in runner.entries(session) if entry["type"] == "switched"]
    assert [(one["model"], one["once"]) for one in switched] == [
        (models[1], True),
        (models[0], True),
    ]
    assert runner.run("replay", session).code == 0


def test_frames_list_them_and_run_them(runner: Runner) -> None:
    runner.serve("one", "two")
    write(runner.home / ".claude", "front/fix", "Fix $ARGUMENTS.", "argument-hint: WHAT")
    live = runner.converse()
    answer = live.control("initialize")["response"]
    (told,) = [one for one in answer["commands"] if one["name"] == "fix"]
    assert told["argumentHint"] == "WHAT" and "(user:front)" in told["description"]
    live.say("/front:fix the roof")
    init = live.next("system", "init")
    assert init["slash_commands"][-1] == "fix" and init["slash_commands"].count("help") == 1
    assert live.next("result")["result"] == "one"
    live.send(user("/fix the door", client_composed=True))
    assert live.next("result")["result"] == "two"
    assert live.finish().code == 0
    first, second = (prompt_in(request) for request in runner.requests)
    assert "Fix the roof." in first
    assert second.endswith("/fix the door"), "a program composed it: it is no command"


def test_frames_tell_what_is_wrong_with_one(runner: Runner) -> None:
    runner.serve("one")
    write(runner.home / ".claude", "fix", "!`rm -r things`")
    live = runner.converse()
    live.say("/fix")
    result = live.next("result")
    assert (result["is_error"], result["reason"]) == (True, "bad_input")
    assert "may not run" in result["result"]
    live.say("go on")
    assert live.next("result")["result"] == "one"
    assert live.finish().code == 0


ENDLESS = "!`echo up > {}; tail -f /dev/null`"
FREELY = ("--permission-mode", "bypassPermissions", "--sandbox", "off")


def test_an_interrupt_ends_what_it_runs(runner: Runner, pipe: Pipe) -> None:
    runner.serve("one")
    write(runner.home / ".claude", "fix", ENDLESS.format(pipe.path))
    live = runner.converse(*FREELY)
    live.say("/fix")
    assert pipe.line() == "up"
    live.control("interrupt")
    assert live.next("result")["reason"] == "user_cancelled"
    live.say("go on")
    assert live.next("result")["result"] == "one"
    assert live.finish().code == 0


def test_a_signal_ends_what_it_runs(runner: Runner, pipe: Pipe) -> None:
    runner.serve("never")
    write(runner.home / ".claude", "fix", ENDLESS.format(pipe.path))
    live = runner.start("-p", "/fix", *FREELY)
    assert pipe.line() == "up"
    live.process.send_signal(signal.SIGINT)
    assert live.finish().code == 130
    assert runner.requests == []
