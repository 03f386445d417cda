"""A rule that a person keeps holds at once and in the next run, and brings along nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from detent.testing import call, reply

from .conftest import Frame, Live, Runner

ASKS_HOST = ("--permission-prompt-tool", "stdio")
STDIO = ("--on-ask", "stdio")
COMMAND = "touch made"
FILES = {
    "l": ".detent/settings.local.json",
    "p": ".detent/settings.json",
    "u": "",
}


def run_it(times: int = 1) -> list[Any]:
    return [*(reply(call("Bash", command=COMMAND)) for _ in range(times)), "done"]


def kept(runner: Runner, letter: str) -> Path:
    name = FILES[letter]
    return runner.work / name if name else runner.state / "settings.json"


def rules(path: Path) -> list[str]:
    found: list[str] = json.loads(path.read_text())["permissions"]["allow"]
    return found


@pytest.mark.parametrize("letter", list(FILES))
def test_a_rule_is_kept_and_honoured_after_a_restart(runner: Runner, letter: str) -> None:
    runner.serve(*run_it(2), *run_it(), *run_it())
    ran = runner.run("-p", "go", *STDIO, stdin=f"{letter}\n")
    assert (ran.code, ran.stdout) == (0, "done\n"), ran
    assert ran.stderr.count("Run it?") == 1, "the second call needs no question"
    assert "  1. Bash(touch made)\n" in ran.stderr, "shown as it is kept"
    assert rules(kept(runner, letter)) == ["Bash(touch made)"]
    ran = runner.run("-p", "go")
    assert (ran.code, ran.stderr) == (0, "")
    # What somebody else adds to that file later is not what the person agreed to.
    path = kept(runner, letter)
    path.write_text(json.dumps({"permissions": {"allow": ["Bash(touch made)", "Bash"]}}))
    ran = runner.run("-p", "go")
    if letter == "u":
        assert ran.code == 0
    else:
        assert ran.code == 3 and "permissions.allow changed since you trusted it" in ran.stderr


def test_for_the_session_nothing_is_written(runner: Runner) -> None:
    runner.serve(*run_it(2), *run_it())
    ran = runner.run("-p", "go", *STDIO, stdin="s\n")
    assert (ran.code, ran.stderr.count("Run it?")) == (0, 1)
    assert sorted(path.name for path in runner.work.iterdir()) == ["made"]
    assert not (runner.state / "settings.json").exists()
    assert runner.run("-p", "go").code == 3


def test_once_is_once(runner: Runner) -> None:
    runner.serve(*run_it(2))
    ran = runner.run("-p", "go", *STDIO, stdin="y\nnot again\n")
    assert (ran.code, ran.stderr.count("Run it?")) == (3, 2)
    assert "The user said: not again." in runner.requests[2].tool_results[-1].text


@pytest.mark.parametrize("said", ["", "n", "s9", "s0", "local", "p -f", "yes, but"])
def test_anything_else_is_no(runner: Runner, said: str) -> None:
    runner.serve(*run_it())
    assert runner.run("-p", "go", *STDIO, stdin=f"{said}\n").code == 3
    assert list(runner.work.iterdir()) == []


def test_the_question_shows_all_of_it(runner: Runner) -> None:
    tail = "x" * 5000
    command = f"touch a\x1b[2K\u202e\ndetent: harmless\ntouch {tail}"
    runner.serve(reply(call("Bash", command=command)), "done")
    ran = runner.run("-p", "go", *STDIO, stdin="n\n")
    shown = f"touch a<U+001B>[2K<U+202E>\n    detent: harmless\n    touch {tail}\n"
    assert shown in ran.stderr
    assert f"\n  in {runner.work}\n" in ran.stderr
    assert "\x1b" not in ran.stderr and "\u202e" not in ran.stderr


def test_beside_what_is_not_trusted_the_rule_holds_for_the_session(runner: Runner) -> None:
    runner.serve(*run_it(2), *run_it())
    path = runner.work / FILES["p"]
    path.parent.mkdir()
    path.write_text('{"permissions": {"allow": ["Bash"]}}')
    ran = runner.run("-p", "go", *STDIO, stdin="p\n")
    assert (ran.code, ran.stderr.count("Run it?")) == (0, 1)
    assert "holds for this session only: you have not trusted" in ran.stderr
    assert rules(path) == ["Bash"]
    assert runner.run("-p", "go").code == 3


def asked(live: Live) -> Frame:
    return live.next("control_request", where=lambda f: f["request"]["subtype"] == "can_use_tool")


def update(behavior: str, what: str, destination: str) -> Frame:
    return {
        "type": "addRules",
        "rules": [{"toolName": "Bash", "ruleContent": what}],
        "behavior": behavior,
        "destination": destination,
    }


@pytest.mark.parametrize(
    ("destination", "letter"),
    [("localSettings", "l"), ("projectSettings", "p"), ("userSettings", "u")],
)
def test_a_host_keeps_what_was_suggested(runner: Runner, destination: str, letter: str) -> None:
    runner.serve(*run_it(2), *run_it())
    live = runner.converse(*ASKS_HOST)
    live.say("go")
    question = asked(live)
    first, *_ = question["request"]["permission_suggestions"]
    assert first == update("allow", COMMAND, "localSettings")
    live.answer(
        question, behavior="allow", updatedPermissions=[{**first, "destination": destination}]
    )
    assert live.next("result")["permission_denials"] == []
    assert live.finish().code == 0
    assert rules(kept(runner, letter)) == ["Bash(touch made)"]
    assert runner.run("-p", "go").code == 0


def test_a_host_that_restricts_is_heard_at_once(runner: Runner) -> None:
    runner.serve(*run_it(), reply(call("Bash", command="touch other")), "done")
    live = runner.converse(*ASKS_HOST)
    live.say("go")
    updates = [update("deny", "touch other", "session"), update("allow", COMMAND, "session")]
    live.answer(asked(live), behavior="allow", updatedPermissions=updates)
    live.next("result")
    live.say("and now the other")
    result = live.next("result")
    assert result["permission_denials"][0]["tool_input"] == {"command": "touch other"}
    assert live.finish().code == 0
    assert [path.name for path in runner.work.iterdir()] == ["made"]


def test_updates_for_different_places_hold_for_the_session(runner: Runner) -> None:
    runner.serve(*run_it())
    live = runner.converse(*ASKS_HOST)
    live.say("go")
    updates = [update("allow", COMMAND, "userSettings"), update("allow", "x", "localSettings")]
    live.answer(asked(live), behavior="allow", updatedPermissions=updates)
    live.next("result")
    assert live.finish().code == 0
    assert not kept(runner, "u").exists() and not kept(runner, "l").exists()


def test_an_edit_suggests_to_accept_edits(runner: Runner) -> None:
    runner.serve(
        reply(call("Write", file_path="a.txt", content="1")),
        reply(call("Write", file_path="b.txt", content="2")),
        "done",
    )
    live = runner.converse(*ASKS_HOST)
    live.say("go")
    question = asked(live)
    suggestion = question["request"]["permission_suggestions"][0]
    assert suggestion == {"type": "setMode", "mode": "acceptEdits", "destination": "session"}
    live.answer(question, behavior="allow", updatedPermissions=[suggestion])
    live.next("result")
    assert live.finish().code == 0
    assert sorted(path.name for path in runner.work.iterdir()) == ["a.txt", "b.txt"]


@pytest.mark.parametrize("said", [b"s" + b"1" * 5000, b"\xff\xfe\x00", b"n" * 3_000_000])
def test_rubbish_is_no(runner: Runner, said: bytes) -> None:
    runner.serve(*run_it())
    ran = runner.run("-p", "go", *STDIO, stdin=said + b"\n")
    assert ran.code == 3 and "Traceback" not in ran.stderr
    assert len(runner.requests[1].tool_results[0].text) < 12_000
    assert list(runner.work.iterdir()) == []


@pytest.mark.parametrize("shell", ["", "exec 0<&-"])
def test_every_question_after_the_end_of_input_is_answered_at_once(
    runner: Runner, shell: str
) -> None:
    runner.serve(*run_it(2))
    ran = runner.run("-p", "go", *STDIO, shell=shell)
    assert (ran.code, ran.stderr.count("Run it?")) == (3, 2)
    assert "Nobody answered" in runner.requests[2].tool_results[-1].text


def test_a_host_that_answers_with_rubbish_adds_nothing(runner: Runner) -> None:
    runner.serve(*run_it())
    live = runner.converse(*ASKS_HOST)
    live.say("go")
    updates = [{**update("allow", COMMAND, ""), "destination": {"a": []}}, 5, {"rules": 1}]
    live.answer(asked(live), behavior="allow", updatedPermissions=updates)
    assert live.next("result")["permission_denials"] == []
    live.finish()
    assert sorted(path.name for path in runner.work.iterdir()) == ["made"]


@pytest.mark.parametrize("given", ["sub/a.txt", "./sub/../sub/a.txt"])
def test_a_host_is_shown_whole_paths(runner: Runner, given: str) -> None:
    runner.serve(reply(call("Write", file_path=given, content="x")), "done")
    live = runner.converse(*ASKS_HOST)
    live.say("go")
    question = asked(live)
    shown = question["request"]["input"]
    assert shown == {"file_path": str(runner.work / "sub" / "a.txt"), "content": "x"}
    live.answer(question, behavior="allow", updatedInput=shown)
    assert live.next("result")["permission_denials"] == []
    live.finish()
    assert (runner.work / "sub" / "a.txt").read_text() == "x"


WRITE = reply(call("Write", file_path="a.txt", content="1\n"))


@pytest.mark.parametrize("letter", list(FILES))
def test_a_rule_for_a_file_means_that_file_from_every_folder(runner: Runner, letter: str) -> None:
    """Kept in a folder of a repository, whose local settings count in all of it."""
    (runner.work / ".git").mkdir()
    sub = runner.work / "sub"
    sub.mkdir()
    runner.serve(WRITE, "done", WRITE, "done", WRITE, "done")
    ran = runner.run("-p", "go", *STDIO, stdin=f"{letter}\n", cwd=sub)
    path = kept(runner, letter) if letter != "p" else sub / FILES["p"]
    rule = "Edit(/a.txt)" if letter == "p" else f"Edit(/{sub}/a.txt)"
    assert ran.code == 0 and rules(path) == [rule], ran
    assert f"detent: {rule} is kept in {path}\n" in ran.stderr
    (sub / "a.txt").unlink()
    assert runner.run("-p", "go", cwd=sub).code == 0
    assert runner.run("-p", "go").code == 3, "another file of the same name"
    assert not (runner.work / "a.txt").exists()


@pytest.mark.parametrize(
    ("said", "code", "times"),
    [("s9\ny\n", 0, 2), ("s9\ns\n", 0, 2), ("s9\ns9\n", 3, 2), ("u2\n", 3, 2), ("no s9\n", 3, 1)],
)
def test_a_slip_is_asked_about_once_more(runner: Runner, said: str, code: int, times: int) -> None:
    runner.serve(*run_it())
    ran = runner.run("-p", "go", *STDIO, stdin=said)
    assert (ran.code, ran.stderr.count("Run it?")) == (code, times)


def test_a_rule_where_none_is_offered_is_a_slip(runner: Runner) -> None:
    runner.serve(reply(call("Bash", command="rm made")), "done")
    ran = runner.run("-p", "go", *STDIO, stdin="u\ny\n")
    assert ran.code == 0 and "There is no rule 'u' to keep. Once more: Run it?" in ran.stderr


def test_an_edit_is_shown_as_what_it_changes(runner: Runner) -> None:
    (runner.work / "a.txt").write_text("one\n--two\nthree\n")
    change = {"old_string": "one\n--two\nthree", "new_string": "one\n++2\x1b[2K\nthree"}
    read = reply(call("Read", file_path="a.txt"))
    runner.serve(read, reply(call("Edit", file_path="a.txt", **change)), "done")
    ran = runner.run("-p", "go", *STDIO, stdin="n\n")
    shown = "     one\n    ---two\n    +++2<U+001B>[2K\n     three\n  in "
    assert shown in ran.stderr and '"file_path"' in ran.stderr and "old_string" not in ran.stderr
    runner.serve(reply(call("Write", file_path="b", content="x\n\ny")), "done")
    ran = runner.run("-p", "go", *STDIO, stdin="n\n")
    assert "    +x\n    +\n    +y\n  in " in ran.stderr
