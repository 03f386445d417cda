"""Subagents before the gate, with the installed command: whose hooks, whose questions, whose no."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from detent.testing import Request, call, reply

from .conftest import DETENT, PATIENCE, Frame, Runner
from .crew import Model, serve
from .test_asking import ASKS_HOST, asked
from .test_hooks import hook_called, hooked

HEARD = (
    "PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop", "SessionStart", "SessionEnd",
    "SubagentStart", "SubagentStop", "Notification", "PermissionDenied",
)  # fmt: skip


def agents(*children: str, **more: Any) -> Any:
    return reply(
        *(
            call("Agent", {"description": f"find {name}", "prompt": f"TASK {name}", **more})
            for name in children
        )
    )


def bash(command: str) -> Any:
    return reply(call("Bash", command=command))


def declare(runner: Runner, events: tuple[str, ...] = HEARD, **more: Any) -> Path:
    """Hooks that write down what they are told, and then say what is given."""
    told = runner.folder / "told"
    told.mkdir()
    note = f'cat > "$(mktemp {told}/$DETENT_HOOK_EVENT.XXXXXX)"'
    hooks = {
        event: [{"hooks": [{"type": "command", "command": f"{note}; {more.get(event, 'true')}"}]}]
        for event in events
    }
    runner.state.mkdir(exist_ok=True)
    (runner.state / "settings.json").write_text(json.dumps({"hooks": hooks}))
    return told


def of(told: Path, event: str) -> list[Frame]:
    return [json.loads(path.read_text()) for path in told.glob(f"{event}.*")]


def wait_for_hooks(told: Path, count: int) -> None:
    """Those that nobody waits for end with the session at the latest."""
    until = time.monotonic() + PATIENCE
    while sum(path.read_text().endswith("}") for path in told.iterdir()) < count:
        assert time.monotonic() < until, "a hook was not called"
        time.sleep(0.01)


def agent_file(folder: Path, name: str, *lines: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    head = "\n".join(("---", f"name: {name}", "description: does it", *lines, "---"))
    (folder / f"{name}.md").write_text(f"{head}\nDo it.\n")


def test_hooks_are_told_of_children_with_their_ids(runner: Runner) -> None:
    more = '{"hookSpecificOutput":{"hookEventName":"SubagentStart","additionalContext":"MIND"}}'
    again = (
        f"test -e {runner.folder}/once || {{ touch {runner.folder}/once; echo AGAIN >&2; exit 2; }}"
    )
    told = declare(runner, SubagentStart=f"echo '{more}'", SubagentStop=again)
    model = serve(
        runner, agents("a", subagent_type="Explore"), "done", a=(bash("ls"), "found", "found it")
    )
    ran = runner.prompt("go")
    assert (ran.code, ran.result["result"]) == (0, "done"), ran
    (agent,) = (json.loads(p.read_text())["agent_id"] for p in told.glob("SubagentStart.*"))
    who = {"agent_id": agent, "agent_type": "Explore"}
    by_tool = {e["tool_name"]: e for e in of(told, "PreToolUse")}
    assert by_tool.keys() == {"Agent", "Bash"}
    assert "agent_id" not in by_tool["Agent"]
    assert who.items() <= by_tool["Bash"].items()
    assert by_tool["Bash"]["permission_mode"] == "plan"
    assert by_tool["Agent"]["permission_mode"] == "default"
    (log,) = runner.logs
    for event in (*of(told, "SubagentStart"), *of(told, "SubagentStop"), *by_tool.values()):
        assert event["transcript_path"] == str(log)
        assert event["session_id"] == log.stem
    first, last = sorted(of(told, "SubagentStop"), key=lambda event: event["stop_hook_active"])
    assert (first["stop_hook_active"], first["last_assistant_message"]) == (False, "found")
    assert (last["stop_hook_active"], last["last_assistant_message"]) == (True, "found it")
    assert Path(last["agent_transcript_path"]) == log.with_suffix("") / "agents" / f"{agent}.jsonl"
    assert Path(last["agent_transcript_path"]).exists()
    heard = model.heard["a"]
    assert "MIND" in "\n".join(heard[0].user_texts)
    assert "AGAIN" in "\n".join(heard[-1].user_texts)
    assert "found it" in model.results()[0]
    for event_name in ("UserPromptSubmit", "Stop", "SessionStart", "SessionEnd"):
        (event,) = of(told, event_name)
        assert "agent_id" not in event


def test_a_hook_that_fails_at_the_end_of_one_child_harms_no_other(runner: Runner) -> None:
    told = declare(runner, ("SubagentStop",), SubagentStop="exit 7")
    model = serve(runner, agents("a", "b"), "done", a=("A is done",), b=("B is done",))
    ran = runner.prompt("go")
    assert ran.result["result"] == "done"
    assert [text.split("\n")[0] for text in model.results()] == ["A is done", "B is done"]
    assert len({event["agent_id"] for event in of(told, "SubagentStop")}) == 2


def test_a_stop_hook_that_never_lets_go_ends_at_the_same_limit(runner: Runner) -> None:
    declare(runner, ("SubagentStop",), SubagentStop="echo NO >&2; exit 2")
    model = serve(runner, agents("a"), "done", a=tuple(["still here"] * 12))
    assert runner.prompt("go").result["result"] == "done"
    assert len(model.heard["a"]) == 6


def test_hooks_of_an_agent_file(runner: Runner) -> None:
    told = declare(runner, ())
    note = f'cat > "$(mktemp {told}/own.XXXXXX)"'
    agent_file(
        runner.state / "agents",
        "guarded",
        "hooks:",
        "  PreToolUse:",
        "    - matcher: Bash",
        "      hooks:",
        "        - type: command",
        "          command: echo guarded >&2; exit 2",
        "  Stop:",
        "    - hooks:",
        "        - type: command",
        f"          command: '{note}'",
    )
    below = reply(
        call("Agent", {"description": "b", "prompt": "TASK b", "subagent_type": "general-purpose"})
    )
    flags = ("--dangerously-skip-permissions",)
    model = serve(
        runner,
        agents("a", subagent_type="guarded"),
        bash("touch mine"),
        "done",
        a=(bash("touch a"), below, "A is done"),
        b=(bash("touch b"), "B is done"),
    )
    ran = runner.prompt("go", *flags)
    assert ran.result["result"] == "done", ran
    assert (runner.work / "mine").exists()
    assert not (runner.work / "a").exists() and not (runner.work / "b").exists()
    assert "guarded" in model.results("b")[0]
    (end,) = of(told, "own")
    assert (end["hook_event_name"], end["last_assistant_message"]) == ("SubagentStop", "A is done")


WAYS: dict[str, tuple[tuple[str, ...], Frame, str]] = {
    "a deny rule": (
        ("--dangerously-skip-permissions", "--disallowedTools", "Bash(touch:*)"), {}, "denies it",
    ),
    "no such tool": (
        ("--dangerously-skip-permissions", "--tools", "Read,Agent"), {}, "no tool named 'Bash'",
    ),
    "plan mode": (("--permission-mode", "plan"), {}, "plan mode"),
    "nobody to ask": ((), {}, "needs permission"),
    "a mode that the task names": ((), {"mode": "bypassPermissions"}, "needs permission"),
    "a mode that the file names": ((), {"subagent_type": "wide"}, "needs permission"),
    "a strict mode of the file": (
        ("--dangerously-skip-permissions",), {"subagent_type": "strict"}, "plan mode",
    ),
    "a strict mode that the task would widen": (
        ("--dangerously-skip-permissions",),
        {"subagent_type": "strict", "mode": "bypassPermissions"}, "plan mode",
    ),
    "tools of the file": (
        ("--dangerously-skip-permissions",), {"subagent_type": "few"}, "no tool named 'Bash'",
    ),
    "a rule of the file": (
        ("--dangerously-skip-permissions",), {"subagent_type": "held"}, "denies it",
    ),
    "one that only looks": (
        ("--dangerously-skip-permissions",), {"subagent_type": "Explore"}, "You only look",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("flags", "more", "reason"), WAYS.values(), ids=WAYS.keys())
def test_what_a_child_is_refused(
    runner: Runner, flags: tuple[str, ...], more: Frame, reason: str
) -> None:
    folder = runner.state / "agents"
    agent_file(folder, "wide", "permissionMode: bypassPermissions")
    agent_file(folder, "strict", "permissionMode: plan")
    agent_file(folder, "few", "tools: Read, Grep")
    agent_file(folder, "held", "disallowedTools: Bash(touch:*)")
    model = serve(runner, agents("a", **more), "done", a=(bash("touch out > log"), "cannot"))
    ran = runner.prompt("go", *flags)
    assert ran.result["result"] == "done", ran
    assert reason in model.results("a")[0]
    assert not (runner.work / "out").exists()


@pytest.mark.parametrize("named", ["Explore", "explore", " EXPLORE"])
def test_an_agent_that_may_not_be_started_is_not_by_any_name(runner: Runner, named: str) -> None:
    model = serve(runner, agents("a", subagent_type=named), "done", a=("never",))
    runner.prompt("go", "--disallowedTools", "Agent(Explore)")
    assert "Agent(Explore) denies it" in model.results()[0]
    assert "a" not in model.heard


class Typing:
    """The command with a terminal to ask at."""

    def __init__(self, runner: Runner, *args: str) -> None:
        self._ours, theirs = pty.openpty()
        self._process = subprocess.Popen(
            [str(DETENT), *args], env=runner.env(), cwd=runner.work,
            stdin=theirs, stdout=subprocess.DEVNULL, stderr=theirs,
        )  # fmt: skip
        os.close(theirs)
        self.shown = ""

    def until(self, end: str) -> str:
        while end not in self.shown:
            assert select.select([self._ours], [], [], PATIENCE)[0], f"only {self.shown!r} came"
            self.shown += os.read(self._ours, 65536).decode().replace("\r\n", "\n")
        before, _, self.shown = self.shown.partition(end)
        return before

    def type(self, line: str) -> None:
        os.write(self._ours, f"{line}\n".encode())

    def finish(self) -> int:
        return self._process.wait(PATIENCE)

    def close(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        os.close(self._ours)


@pytest.fixture
def typing(runner: Runner) -> Iterator[list[Typing]]:
    opened: list[Typing] = []
    yield opened
    for each in opened:
        each.close()


def test_a_person_reads_who_asks_and_one_question_at_a_time(
    runner: Runner, typing: list[Typing]
) -> None:
    told = declare(runner, ("Notification",))
    serve(
        runner,
        agents("a", "b"),
        "done",
        a=(bash("touch out-a"), "A is done"),
        b=(bash("touch out-b"), "B is done"),
    )
    terminal = Typing(runner, "-p", "go", "--on-ask", "stdio")
    typing.append(terminal)
    asked_for = []
    for number, said in enumerate(("y", "no"), 1):
        terminal.until("The subagent general-purpose (find ")
        name = terminal.until(") wants to run this. ")
        asked_for.append(name)
        shown = terminal.until("your words are the reason.")
        assert f"Bash: touch out-{name}" in shown
        assert "wants to run" not in shown
        wait_for_hooks(told, number)
        terminal.type(said)
    assert terminal.finish() == 3, "one was refused"
    assert sorted(asked_for) == ["a", "b"]
    assert (runner.work / f"out-{asked_for[0]}").exists()
    assert not (runner.work / f"out-{asked_for[1]}").exists()
    messages = sorted(event["message"] for event in of(told, "Notification"))
    assert [text.rpartition(" for the subagent ")[2] for text in messages] == [
        "general-purpose (find a)",
        "general-purpose (find b)",
    ]


def test_a_host_is_told_who_asks_and_its_answer_counts_for_all(runner: Runner) -> None:
    serve(
        runner,
        agents("a"),
        agents("b"),
        bash("touch out-c"),
        "done",
        a=(bash("touch out-a"), "A is done"),
        b=(bash("touch out-b"), reply(call("Write", file_path="n", content="x")), "B is done"),
    )
    live = runner.converse(*ASKS_HOST)
    live.say("go")
    question = asked(live)
    request = question["request"]
    assert request["agent_name"] == "general-purpose (find a)"
    assert request["agent_id"].startswith("agent")
    rule = {"toolName": "Bash", "ruleContent": "touch:*"}
    updates = [
        {"type": "addRules", "rules": [rule], "behavior": "allow", "destination": "session"},
        {"type": "setMode", "mode": "acceptEdits", "destination": "session"},
    ]
    live.answer(question, behavior="allow", updatedPermissions=updates)
    live.next("result")
    ran = live.finish()
    assert ran.code == 0, ran
    questions = [f for f in ran.of("control_request") if f["request"]["subtype"] == "can_use_tool"]
    assert len(questions) == 1
    assert {path.name for path in runner.work.iterdir()} >= {"out-a", "out-b", "out-c", "n"}
    (log,) = runner.logs
    assert [e["mode"] for e in runner.entries(log.stem) if e["type"] == "switched"] == [
        "acceptEdits"
    ]


def test_a_child_of_an_unsaved_session_reads_what_it_was_told_to_read(runner: Runner) -> None:
    """Long output lies in a file; nobody could be asked whether it may be read."""
    model = Model("unused")
    found: list[str] = []

    def child(request: Request) -> Any:
        if not request.tool_results:
            return bash("seq 1 60000")
        text = request.tool_results[-1].text
        if not found:
            found.append(re.search(r"(/\S+\.txt)", text)[1])  # type: ignore[index]
            return reply(call("Read", file_path=found[0], limit=3))
        return f"READ: {text}"

    def answer(request: Request) -> Any:
        if "TASK a" in "\n".join(request.user_texts):
            return child(request)
        model.heard.setdefault("", []).append(request)
        return agents("a") if not request.tool_results else "done"

    runner.serve(*[answer] * 6)
    ran = runner.prompt("go", "--no-session-persistence", "--allowedTools", "Bash(seq:*)")
    assert ran.result["result"] == "done", ran
    assert "READ: " in model.results()[0] and "2" in model.results()[0]
    assert "needs permission" not in model.results()[0]
    assert not Path(found[0]).exists()


def test_in_a_worktree_the_rest_of_the_project_is_outside(runner: Runner) -> None:
    (runner.work / "old").write_text("x\n")
    (runner.work / "private").mkdir()
    (runner.work / "private" / "note").write_text("x\n")
    for words in (["init", "-q"], ["add", "old", "private"]):
        subprocess.run(["git", *words], cwd=runner.work, check=True)
    who = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
    subprocess.run(["git", *who, "commit", "-qm", "x"], cwd=runner.work, check=True)
    model = serve(
        runner,
        agents("a", isolation="worktree"),
        "done",
        a=(
            reply(
                call("Write", file_path="new", content="x"),
                call("Write", file_path=str(runner.work / "outside"), content="x"),
                call("Write", file_path="private/more", content="x"),
            ),
            "done",
        ),
    )
    settings = {"permissions": {"deny": ["Edit(/private/**)"]}}
    (runner.work / ".detent").mkdir()
    (runner.work / ".detent" / "settings.json").write_text(json.dumps(settings))
    ran = runner.prompt("go", "--permission-mode", "acceptEdits")
    assert ran.result["result"] == "done", ran
    new, outside, private = model.results("a")
    assert "needs permission" not in new and (runner.work / "new").exists()
    assert "needs permission" in outside and not (runner.work / "outside").exists()
    assert "Edit(/private/**) denies it" in private
    assert not (runner.work / "private" / "more").exists()


def test_who_wants_to_fail_at_the_first_question_does_so_below_too(runner: Runner) -> None:
    below = reply(call("Agent", {"description": "b", "prompt": "TASK b"}))
    model = serve(runner, agents("a"), "done", a=(below, "A is done"), b=(bash("touch x"), "no"))
    ran = runner.prompt("go", "--on-ask", "fail")
    assert ran.code == 3, ran
    assert "told to stop at the first question" in str(ran.result)
    (denied,) = ran.result["permission_denials"]
    assert denied["tool_input"]["command"] == "touch x" and denied["agent_id"].startswith("agent_")
    assert {name: len(heard) for name, heard in model.heard.items()} == {"": 1, "a": 1, "b": 1}


def test_and_so_does_one_in_the_background(runner: Runner) -> None:
    """The session rests meanwhile: it is not asked again."""
    behind = call("Agent", {"description": "a", "prompt": "TASK a", "run_in_background": True})
    rests = threading.Event()

    def resting(request: Request) -> str:
        rests.set()
        return "waiting"

    wants = reply(call("Bash", command="touch x"), hold=rests, hold_after=0)
    model = serve(runner, reply(behind), resting, "never", a=(wants, "no"))
    ran = runner.prompt("go", "--on-ask", "fail", "--output-format", "text")
    assert ran.code == 3, ran
    assert {name: len(heard) for name, heard in model.heard.items()} == {"": 2, "a": 1}
    assert re.search(r"not permitted: Bash of agent_\w+\. Running `touch x` needs", ran.stderr), ran


def test_callbacks_of_a_host_are_told_whose_call_it_is(runner: Runner) -> None:
    model = serve(runner, agents("a"), "done", a=(bash("ls"), "A is done"))
    live = hooked(runner, "PreToolUse", matcher="Bash")
    live.say("go")
    asking = hook_called(live)
    given = asking["request"]["input"]
    assert given["agent_type"] == "general-purpose" and given["agent_id"]
    assert given["tool_input"] == {"command": "ls"}
    output = {"hookEventName": "PreToolUse", "permissionDecision": "deny"}
    live.answer(asking, hookSpecificOutput={**output, "permissionDecisionReason": "not you"})
    assert live.next("result")["result"] == "done"
    live.finish()
    assert "not you" in model.results("a")[0]
