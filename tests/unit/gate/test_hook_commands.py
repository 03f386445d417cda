"""Commands as hooks, with real processes: what they are told, which run, how they add up."""

from __future__ import annotations

import asyncio
import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from detent.app.hooking import PARTING, say_goodbye
from detent.gate.gate import Gatekeeper
from detent.gate.hooks import HookAnswer, HookSet
from detent.gate.hooks.entry import HookEntry
from detent.gate.hooks.events import (
    AfterCall,
    AfterCalls,
    AfterCompact,
    AgentStarted,
    AgentStopping,
    BeforeCall,
    BeforeCompact,
    HookEvent,
    InstructionsLoaded,
    Notified,
    PermissionAsked,
    PermissionRefused,
    SessionEnded,
    SessionStarted,
    StopFailed,
    Stopping,
    Submitted,
    TaskCompleted,
    TaskCreated,
)
from detent.gate.hooks.kinds import KINDS
from detent.gate.hooks.moments import whole_paths
from detent.gate.rules import parse_rule
from detent.gate.terms import RuleSet, Workspace
from detent.ports import Admitted, Answer, Desk, Proposal, Question
from detent.testing import call, reply
from detent.types.codec import encode
from detent.types.content import Call
from detent.types.effects import Connects, Reads, Runs
from detent.types.events import CallEnded, CallStarted, HookEnded, HookStarted
from detent.types.outcomes import Cut, Done, Failed, Refused, done, text_of
from hookbench import Hooked, saying, special
from kitbench import Approving, BenchTool, bench

LS = BeforeCall("Bash", {"command": "ls"}, "c1")


def tell(folder: Path, event: HookEvent, *entries: HookEntry) -> tuple[HookAnswer, Hooked]:
    async def told() -> tuple[HookAnswer, Hooked]:
        hooked = Hooked(bench("done"), folder, entries)
        try:
            return await hooked.bench.kit.gate.tell(event), hooked
        finally:
            await hooked.aclose()

    return asyncio.run(told())


def pre(command: str, **fields: Any) -> HookEntry:
    return HookEntry("PreToolUse", command, **fields)


# What a hook is told


EVENTS: list[tuple[HookEvent, dict[str, Any]]] = [
    (LS, {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "c1"}),
    (
        AfterCall("Bash", {}, "c1", Done((), {"stdout": "a"}), 12),
        {"tool_name": "Bash", "tool_response": {"stdout": "a"}, "duration_ms": 12},
    ),
    (
        AfterCall("Bash", {}, "c1", Cut("timed out")),
        {"error": "[timed out]", "is_interrupt": True, "hook_event_name": "PostToolUseFailure"},
    ),
    (AfterCall("Bash", {}, "c1", Failed("no")), {"error": "no", "is_interrupt": False}),
    (
        AfterCalls((AfterCall("Bash", {"a": 1}, "c1", done("x")),)),
        {"tool_calls": [
            {"tool_name": "Bash", "tool_input": {"a": 1}, "tool_use_id": "c1", "tool_response": "x"}
        ]},
    ),
    (
        PermissionAsked("Bash", {}, "c1", "why", ("Bash(make:*)", "Bash")),
        {"permission_suggestions": [
            {"type": "addRules", "rules": [rule], "behavior": "allow",
             "destination": "localSettings"}
            for rule in ({"toolName": "Bash", "ruleContent": "make:*"}, {"toolName": "Bash"})
        ]},
    ),
    (PermissionRefused("Bash", {}, "c1", "a rule"), {"tool_name": "Bash", "reason": "a rule"}),
    (Submitted("hello"), {"prompt": "hello"}),
    (Stopping("bye", True), {"stop_hook_active": True, "last_assistant_message": "bye"}),
    (
        StopFailed("api_error", "it is down", "half"),
        {"error": "api_error", "error_details": "it is down", "last_assistant_message": "half"},
    ),
    (AgentStarted("a1", "explore"), {"agent_id": "a1", "agent_type": "explore"}),
    (
        AgentStopping("a1", "explore", "found", False, "/l"),
        {"agent_id": "a1", "agent_type": "explore", "stop_hook_active": False,
         "last_assistant_message": "found", "agent_transcript_path": "/l"},
    ),
    (
        TaskCreated("3", "write it", "all of it", "alice"),
        {"task_id": "3", "task_subject": "write it", "task_description": "all of it",
         "teammate_name": "alice"},
    ),
    (
        TaskCompleted("3", "write it"),
        {"task_id": "3", "task_subject": "write it", "task_description": ""},
    ),
    (SessionStarted("resume", "m"), {"source": "resume", "model": "m"}),
    (SessionEnded("other"), {"reason": "other"}),
    (BeforeCompact("auto"), {"trigger": "auto", "custom_instructions": ""}),
    (AfterCompact("manual", "so far"), {"trigger": "manual", "compact_summary": "so far"}),
    (
        InstructionsLoaded("/p/a.md", "local", "include", ("*.py",), "/p/CLAUDE.local.md"),
        {"file_path": "/p/a.md", "memory_type": "Local", "load_reason": "include",
         "globs": ["*.py"], "parent_file_path": "/p/CLAUDE.local.md"},
    ),
    (
        Notified("look", "permission_prompt", "Hey"),
        {"message": "look", "title": "Hey", "notification_type": "permission_prompt"},
    ),
]  # fmt: skip


def test_there_is_an_event_for_every_name() -> None:
    assert {event.name for event, _ in EVENTS} == KINDS.keys()
    for event, _ in EVENTS:
        assert KINDS[event.name].listeners == event.listeners
        assert event.listeners in HookSet.__struct_fields__


@pytest.mark.parametrize(("event", "expected"), EVENTS, ids=lambda e: getattr(e, "name", ""))
def test_the_event_comes_as_json_and_in_variables(
    event: HookEvent, expected: dict[str, Any], tmp_path: Path
) -> None:
    entry = HookEntry(
        event.name, f"cat > '{tmp_path}/in'; env > '{tmp_path}/env'; pwd > '{tmp_path}/pwd'"
    )
    tell(tmp_path, event, entry)
    given = json.loads((tmp_path / "in").read_text())
    common = {
        "session_id": "s1",
        "transcript_path": "/log.jsonl",
        "cwd": str(tmp_path),
        "permission_mode": "bypassPermissions",
        "hook_event_name": event.name,
    }
    assert given.items() >= {**common, **expected}.items()
    variables = dict(
        line.partition("=")[::2] for line in (tmp_path / "env").read_text().split("\n")
    )
    assert variables["CLAUDE_PROJECT_DIR"] == variables["DETENT_PROJECT_DIR"] == str(tmp_path)
    assert variables["DETENT_HOOK_EVENT"] == event.name
    assert variables["DETENT_SESSION_ID"] == "s1"
    assert variables.get("DETENT_TOOL_NAME") == getattr(event, "tool", None)
    assert (tmp_path / "pwd").read_text().strip() == str(tmp_path)


@pytest.mark.parametrize(
    ("arguments", "effects", "expected"),
    [
        ({"file_path": "a/../b"}, (Reads("/p/b"),), {"file_path": "/p/b"}),
        ({"file_path": "/p/b"}, (Reads("/p/b"),), {"file_path": "/p/b"}),
        ({"path": "sub", "pattern": "x"}, (Reads("/p/sub"),), {"path": "/p/sub", "pattern": "x"}),
        ({"path": "/v1/x"}, (Connects("h"),), {"path": "/v1/x"}),
        ({"path": "v1/x"}, (Connects("h"),), {"path": "v1/x"}),
        ({"file_path": 5}, (), {"file_path": 5}),
    ],
)
def test_paths_of_file_tools_are_absolute(arguments: Any, effects: Any, expected: Any) -> None:
    proposal = Proposal(Call("c", "Read", ""), "Read", arguments, effects, "/p")
    assert whole_paths(proposal) == expected
    linked = Proposal(Call("c", "R", ""), "R", {"path": "l"}, (Reads("/q"),), "/p", {"/p/l": "/q"})
    assert whole_paths(linked) == {"path": "/p/l"}


# Which of them run


@pytest.mark.parametrize(
    ("matcher", "tool", "runs"),
    [
        ("", "Bash", True),
        ("*", "Bash", True),
        ("Bash", "Bash", True),
        ("Bash", "BashOutput", False),
        ("bash", "Bash", False),
        ("Edit|Write", "Write", True),
        ("Edit, Write", "Write", True),
        ("Edit|Write", "MultiEdit", False),
        ("Edit.*", "MultiEdit", True),
        ("^Edit$", "MultiEdit", False),
        ("mcp__.*__write", "mcp__x__write_file", True),
        ("mcp__memory", "mcp__memory__x", False),
    ],
)
def test_a_matcher_is_a_list_or_a_pattern(
    matcher: str, tool: str, runs: bool, tmp_path: Path
) -> None:
    entry = pre(saying(special("PreToolUse", additionalContext="ran")), matcher=matcher)
    answer, _ = tell(tmp_path, BeforeCall(tool, {}, "c"), entry)
    assert answer.context == ("ran" if runs else "")


@pytest.mark.parametrize(
    ("event", "matching", "other"),
    [
        (SessionStarted("resume"), "resume", "startup"),
        (SessionEnded("other"), "other", "clear"),
        (BeforeCompact("auto"), "auto", "manual"),
        (AfterCompact("auto", ""), "auto", "manual"),
        (Notified("m", "permission_prompt"), "permission_prompt", "idle_prompt"),
        (AgentStarted("a", "explore"), "explore", "plan"),
        (AgentStopping("a", "explore", "", False), "explore", "plan"),
        (StopFailed("api_error"), "api_error", "rate_limit"),
        (PermissionAsked("Bash", {}, "c"), "Bash", "Edit"),
        (Submitted("x"), "anything", ""),
        (Stopping("x", False), "anything", ""),
        (AfterCalls(()), "anything", ""),
    ],
    ids=lambda e: getattr(e, "name", e),
)
def test_what_a_matcher_is_compared_with(
    event: HookEvent, matching: str, other: str, tmp_path: Path
) -> None:
    for matcher, runs in ((matching, True), (other, not other)):
        _, hooked = tell(tmp_path, event, HookEntry(event.name, "true", matcher=matcher))
        assert bool(hooked.shown) is runs


def test_the_same_command_runs_once_for_an_event(tmp_path: Path) -> None:
    line = f"echo x >> '{tmp_path}/ran'"
    entries = [pre(line), pre(line, matcher="Bash"), pre(line, matcher="Edit"), pre(line + " ")]
    tell(tmp_path, LS, *entries)
    assert (tmp_path / "ran").read_text() == "x\nx\n"


def test_hooks_of_one_event_run_at_the_same_time(tmp_path: Path) -> None:
    """Each waits for the other: one after the other would never end."""
    for name in ("a", "b"):
        os.mkfifo(tmp_path / name)
    one = f"echo go > '{tmp_path}/a'; read x < '{tmp_path}/b'"
    other = f"read x < '{tmp_path}/a'; echo go > '{tmp_path}/b'"
    entries = [pre(one, seconds=30.0), pre(other, seconds=30.0)]
    _, hooked = tell(tmp_path, LS, *entries)
    assert hooked.told == []
    assert [e.exit_code for e in hooked.shown if isinstance(e, HookEnded)] == [0, 0]


@pytest.mark.parametrize(
    ("rule", "command", "runs"),
    [
        ("Bash(git push:*)", "git push origin", True),
        ("Bash(git push:*)", "git status", False),
        ("Bash(git push:*)", "sudo git push", True),
        ("Bash(git push:*)", "$X push", True),
        ("Edit", "git push", False),
    ],
)
def test_if_is_a_rule_that_a_call_might_fall_under(
    rule: str, command: str, runs: bool, tmp_path: Path
) -> None:
    proposal = Proposal(Call("c", "Bash", ""), "Bash", {"command": command}, (Runs(command),))
    event = BeforeCall("Bash", {"command": command}, "c", proposal)
    _, hooked = tell(tmp_path, event, pre("true", only_if=rule))
    assert bool(hooked.shown) is runs


# What their end means


def test_nothing_undoes_exit_code_2(tmp_path: Path) -> None:
    allow = special("PreToolUse", permissionDecision="allow", updatedInput={"command": "x"})
    answer, hooked = tell(tmp_path, LS, pre(f"echo no >&2; {saying(allow, code=2)}"))
    assert (answer.decision, answer.reason, answer.arguments) == ("deny", "no", None)
    assert hooked.told == []
    answer, _ = tell(tmp_path, LS, pre(f"echo no >&2; {saying({'reason': 'better'}, code=2)}"))
    assert (answer.decision, answer.reason) == ("deny", "better")
    answer, _ = tell(tmp_path, LS, pre("exit 2"))
    assert answer.decision == "deny" and answer.reason


def test_another_exit_code_is_reported_and_its_json_still_counts(tmp_path: Path) -> None:
    deny = special("PreToolUse", permissionDecision="deny", permissionDecisionReason="no")
    answer, hooked = tell(tmp_path, LS, pre(f"echo why >&2; {saying(deny, code=3)}"))
    assert (answer.decision, answer.reason) == ("deny", "no")
    assert "exit code 3" in hooked.told[0] and "why" in hooked.told[0]


@pytest.mark.parametrize(
    ("event", "context"),
    [(SessionStarted("startup"), "plain words"), (Submitted("x"), "plain words"), (LS, "")],
    ids=lambda e: getattr(e, "name", e),
)
def test_plain_output_is_context_where_there_is_a_prompt(
    event: HookEvent, context: str, tmp_path: Path
) -> None:
    answer, hooked = tell(tmp_path, event, HookEntry(event.name, "echo plain words"))
    assert answer.context == context
    assert hooked.told == []


@pytest.mark.parametrize(
    ("said", "complaint"),
    [
        (special("PostToolUse", permissionDecision="deny"), "'PostToolUse', but the event was"),
        (special("PreToolUse", permissionDecision="maybe"), "'maybe'"),
        (special("PreToolUse", updatedInput="ls"), "updatedInput that is no object"),
        (special("PreToolUse", decision={"behavior": "perhaps"}), "'perhaps'"),
        ({"hookSpecificOutput": 5}, "hookSpecificOutput that is no object"),
        ({"decision": 5}, "decision 5"),
        ({"continue": "no"}, "`continue`"),
    ],
)
def test_an_answer_that_cannot_be_understood_is_reported(
    said: Any, complaint: str, tmp_path: Path
) -> None:
    answer, hooked = tell(tmp_path, LS, pre(saying(said)))
    assert answer == HookAnswer(ran=answer.ran)
    assert complaint in hooked.told[0]
    answer, _ = tell(tmp_path, LS, pre(saying(said), fail_closed=True))
    assert answer.decision == "deny" and complaint in answer.reason


def test_universal_fields(tmp_path: Path) -> None:
    said = {
        "continue": False,
        "stopReason": "enough",
        "systemMessage": "psst",
        "suppressOutput": True,
    }
    answer, hooked = tell(tmp_path, LS, pre(saying(said)))
    assert (answer.stop, answer.decision) == ("enough", "none")
    assert hooked.told == ["psst"]
    assert tell(tmp_path, LS, pre(saying({"continue": False})))[0].stop


@pytest.mark.parametrize(
    ("said", "decision"),
    [
        ({"decision": "approve"}, "allow"),
        ({"decision": "block"}, "deny"),
        (special("PreToolUse", permissionDecision="ask"), "ask"),
        (special("PreToolUse", permissionDecision="defer"), "ask"),
        ({"hookSpecificOutput": {"permissionDecision": "allow"}}, "allow"),
        ({}, "none"),
    ],
)
def test_decisions(said: Any, decision: str, tmp_path: Path) -> None:
    assert tell(tmp_path, LS, pre(saying(said)))[0].decision == decision


def test_several_commands_the_strictest_decides_and_all_speak(tmp_path: Path) -> None:
    def says(decision: str, **more: Any) -> HookEntry:
        return pre(saying(special("PreToolUse", permissionDecision=decision, **more)))

    entries = [
        says("allow", permissionDecisionReason="fine", additionalContext="one"),
        says("ask", permissionDecisionReason="hm", additionalContext="two"),
        says("deny", permissionDecisionReason="no"),
    ]
    answer, _ = tell(tmp_path, LS, *entries)
    assert (answer.decision, answer.reason) == ("deny", "no")
    assert answer.context == "one\ntwo"
    assert tell(tmp_path, LS, *entries[:2])[0].decision == "ask"


def test_long_texts_are_cut_and_say_so(tmp_path: Path) -> None:
    entry = HookEntry("UserPromptSubmit", "head -c 30000 /dev/zero | tr '\\0' x")
    answer, _ = tell(tmp_path, Submitted("x"), entry)
    assert answer.context.startswith("x" * 10_000 + "\n[") and "20,000 more" in answer.context
    answer, hooked = tell(tmp_path, LS, pre("head -c 3000000 /dev/zero | tr '\\0' '{'"))
    assert "JSON that cannot be read" in hooked.told[0]
    ended = next(e for e in hooked.shown if isinstance(e, HookEnded))
    assert len(ended.stdout) == 1_000_000


def test_the_exec_form_knows_no_shell(tmp_path: Path) -> None:
    answer, _ = tell(
        tmp_path,
        Submitted("x"),
        HookEntry("UserPromptSubmit", "/bin/echo", args=("$HOME", "a b;", "exit 2")),
    )
    assert answer.context == "$HOME a b; exit 2"


@pytest.mark.parametrize("closed", [False, True])
def test_a_program_that_is_not_there_is_broken_and_no_denial(closed: bool, tmp_path: Path) -> None:
    entry = pre("/nowhere/at-all", args=(), fail_closed=closed)
    answer, hooked = tell(tmp_path, LS, entry)
    assert answer.decision == ("deny" if closed else "none")
    assert "could not be" in hooked.told[0]


def test_nobody_waits_for_one_that_runs_beside(tmp_path: Path) -> None:
    """It stands at a pipe that is opened only when all has been said."""
    os.mkfifo(tmp_path / "pipe")

    async def told() -> tuple[HookAnswer, list[str]]:
        line = f"read x < '{tmp_path}/pipe'; touch '{tmp_path}/ran'; exit 2"
        hooked = Hooked(bench("done"), tmp_path, [pre(line, beside=True)])
        try:
            answer = await hooked.bench.kit.gate.tell(LS)
            await asyncio.to_thread((tmp_path / "pipe").write_text, "go\n")
            gate: Any = hooked.bench.kit.gate
            await asyncio.wait(gate._background._tasks, timeout=30)
            return answer, hooked.told
        finally:
            await hooked.aclose()

    answer, _ = asyncio.run(told())
    assert answer == HookAnswer(ran=answer.ran)
    assert (tmp_path / "ran").exists()


def test_closing_ends_what_runs_beside(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    async def told() -> None:
        line = f"read x < '{tmp_path}/pipe'"
        hooked = Hooked(bench("done"), tmp_path, [pre(line, beside=True)])
        await hooked.bench.kit.gate.tell(LS)
        await hooked.aclose()
        assert not hooked.bench.kit.gate._background._tasks  # type: ignore[attr-defined]

    asyncio.run(asyncio.wait_for(told(), 30))


def test_each_run_is_shown(tmp_path: Path) -> None:
    _, hooked = tell(tmp_path, LS, pre("echo out; echo err >&2; exit 1", label="checking"))
    started, ended = hooked.shown
    assert started == HookStarted("hook_1", "checking", "PreToolUse")
    assert ended == HookEnded("hook_1", "checking", "PreToolUse", "out\n", "err\n", 1, "error")
    _, hooked = tell(tmp_path, LS, pre("sleep 60", seconds=0.1))
    assert isinstance(hooked.shown[1], HookEnded)
    assert (hooked.shown[1].exit_code, hooked.shown[1].outcome) == (None, "cancelled")
    assert "checking" not in hooked.told[0]


def test_all_hooks_at_the_end_share_a_short_time(tmp_path: Path) -> None:
    async def leave() -> tuple[float, Hooked]:
        entries = [HookEntry("SessionEnd", f"sleep 6{n}", seconds=60.0) for n in range(3)]
        hooked = Hooked(bench("done"), tmp_path, entries)
        gate: Any = hooked.bench.kit.gate
        begun = time.monotonic()
        await say_goodbye(gate, hooked.bench.recorder)
        took = time.monotonic() - begun
        await hooked.aclose()
        return took, hooked

    took, hooked = asyncio.run(leave())
    assert PARTING <= took < 30
    assert "1.5 s" in hooked.notices[0]


# The gate


class Person:
    def __init__(self, allowed: bool = False) -> None:
        self.questions: list[Question] = []
        self._allowed = allowed

    async def ask(self, question: Question) -> Answer:
        self.questions.append(question)
        return Answer(self._allowed, by="person")


def propose(given: dict[str, Any]) -> Proposal:
    return Proposal(Call("c", "Bash", ""), "Bash", given, (Runs(given["command"]),))


def admit(
    folder: Path,
    command: str,
    entry: HookEntry,
    *,
    hooks_first: bool = True,
    person: Person | None = None,
    **rules: str,
) -> Any:
    async def run() -> Any:
        given = {kind: (parse_rule(text, str),) for kind, text in rules.items()}
        gate = Gatekeeper(
            Workspace("/p", ("/p",), "/home/u"), rules=RuleSet(**given), hooks_first=hooks_first
        )
        stand = bench("done")
        stand.kit = type(stand.kit)(**{**_fields(stand.kit), "gate": gate})
        hooked = Hooked(stand, folder, [entry])
        try:
            return await gate.admit(propose({"command": command}), propose, person or Person())
        finally:
            await hooked.aclose()

    return asyncio.run(run())


def _fields(struct: Any) -> dict[str, Any]:
    return {name: getattr(struct, name) for name in struct.__struct_fields__}


ALLOWS = {
    "PreToolUse": pre(saying(special("PreToolUse", permissionDecision="allow"))),
    "PermissionRequest": HookEntry(
        "PermissionRequest", saying(special("PermissionRequest", decision={"behavior": "allow"}))
    ),
}
BOTH_ORDERS = pytest.mark.parametrize("hooks_first", [True, False])


@BOTH_ORDERS
@pytest.mark.parametrize("event", ALLOWS)
def test_no_hook_turns_a_denial_into_consent(event: str, hooks_first: bool, tmp_path: Path) -> None:
    outcome = admit(tmp_path, "make", ALLOWS[event], hooks_first=hooks_first, deny="Bash(make:*)")
    assert isinstance(outcome, Refused) and outcome.by.startswith("rule ")


@pytest.mark.parametrize("event", ALLOWS)
@pytest.mark.parametrize(
    ("command", "rules"),
    [
        ("make", {"ask": "Bash(make:*)"}),
        ("rm -rf /etc", {}),
        ("make && echo x > .git/config", {}),
        ("$X push", {"deny": "Bash(docker push:*)"}),
        ("$X push", {"ask": "Bash(docker push:*)"}),
    ],
)
def test_no_hook_answers_what_only_the_person_may(
    event: str, command: str, rules: dict[str, str], tmp_path: Path
) -> None:
    person = Person()
    assert isinstance(admit(tmp_path, command, ALLOWS[event], person=person, **rules), Refused)
    assert len(person.questions) == 1


@pytest.mark.parametrize("event", ALLOWS)
def test_a_hook_answers_the_question_of_the_mode(event: str, tmp_path: Path) -> None:
    person = Person()
    admitted = admit(tmp_path, "make", ALLOWS[event], person=person)
    assert isinstance(admitted, Admitted) and admitted.verdict.source == "hook"
    assert not person.questions


def _changing(event: str, command: str) -> HookEntry:
    changed = {"updatedInput": {"command": command}}
    if event == "PermissionRequest":
        return HookEntry(event, saying(special(event, decision={"behavior": "allow", **changed})))
    return HookEntry(event, saying(special(event, permissionDecision="allow", **changed)))


@BOTH_ORDERS
@pytest.mark.parametrize(
    ("event", "command"), [("PreToolUse", "ls"), ("PermissionRequest", "make")]
)
def test_a_changed_input_is_judged_again(
    event: str, command: str, hooks_first: bool, tmp_path: Path
) -> None:
    """Into a denied command, into one that an ask rule names, into one that needs nobody."""
    person = Person()
    to_denied = _changing(event, "docker push")
    outcome = admit(
        tmp_path, command, to_denied, hooks_first=hooks_first, person=person, deny="Bash(docker:*)"
    )
    assert isinstance(outcome, Refused) and outcome.by == "rule Bash(docker:*)"
    outcome = admit(
        tmp_path, command, to_denied, hooks_first=hooks_first, person=person, ask="Bash(docker:*)"
    )
    assert isinstance(outcome, Refused) and len(person.questions) == 1
    outcome = admit(tmp_path, command, _changing(event, "pwd"), hooks_first=hooks_first)
    assert isinstance(outcome, Admitted) and outcome.arguments == {"command": "pwd"}


def test_what_was_judged_is_what_runs(tmp_path: Path) -> None:
    ran: list[dict[str, Any]] = []

    async def echo(args: dict[str, Any], desk: Desk) -> str:
        ran.append(args)
        return "ok"

    async def run() -> Hooked:
        changed = {"updatedInput": {"n": 2}}
        stand = bench(reply(call("echo", n=1)), "done", tools=[BenchTool("echo", echo)])
        hooked = Hooked(stand, tmp_path, [pre(saying(special("PreToolUse", **changed)))])
        await stand.turn()
        await hooked.aclose()
        return hooked

    hooked = asyncio.run(run())
    assert ran == [{"n": 2}]
    (started,) = hooked.bench.of(CallStarted)
    assert json.loads(started.arguments) == {"n": 2}


def test_an_interrupting_denial_ends_the_turn(tmp_path: Path) -> None:
    async def echo(args: dict[str, Any], desk: Desk) -> str:
        return "ran"

    async def run() -> Any:
        decision = {"behavior": "deny", "message": "stop it", "interrupt": True}
        entry = HookEntry(
            "PermissionRequest", saying(special("PermissionRequest", decision=decision))
        )
        tool = BenchTool("echo", echo, effects=(Connects("x"),))
        stand = bench(reply(call("echo")), "never", tools=[tool], mode="default")
        hooked = Hooked(stand, tmp_path, [entry])
        ended = await stand.turn()
        await hooked.aclose()
        return ended, text_of(stand.of(CallEnded)[0].outcome)

    ended, text = asyncio.run(run())
    assert (ended.reason, ended.error) == ("hook_stopped", "stop it")
    assert "stop it" in text


def test_nobody_is_called_when_nobody_is_asked(tmp_path: Path) -> None:
    async def echo(args: dict[str, Any], desk: Desk) -> str:
        return "ran"

    async def run(asks_person: bool) -> Hooked:
        tool = BenchTool("echo", echo, effects=(Connects("x"),))
        stand = bench(reply(call("echo")), "x", tools=[tool], mode="default", approver=Approving())
        gate: Any = stand.kit.gate
        gate.asks_person = asks_person
        hooked = Hooked(stand, tmp_path, [HookEntry("Notification", "true")])
        await stand.turn()
        if gate._background is not None:
            await asyncio.wait(gate._background._tasks, timeout=30)
        await hooked.aclose()
        return hooked

    assert asyncio.run(run(True)).shown
    assert not asyncio.run(run(False)).shown


def test_a_hook_runs_where_the_session_began(tmp_path: Path) -> None:
    """Not where the model has gone: a guard with a relative name would not be found there."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "guard").write_text("pwd >&2; exit 2")

    async def told() -> HookAnswer:
        hooked = Hooked(bench("done"), tmp_path, (pre("sh ./guard"),))
        hooked.facts.cwd = lambda: str(tmp_path / "elsewhere")
        try:
            return await hooked.bench.kit.gate.tell(LS)
        finally:
            await hooked.aclose()

    answer = asyncio.run(told())
    assert (answer.decision, answer.reason) == ("deny", str(tmp_path))


@pytest.mark.parametrize("careless", [{"beside": True}, {"seconds": 0.001}, {}])
def test_a_careless_declaration_does_not_replace_a_strict_one(
    careless: Any, tmp_path: Path
) -> None:
    """The same command twice: one of them counts for what goes wrong."""
    entries = pre("exit 1", **careless), pre("exit 1", fail_closed=True)
    assert tell(tmp_path, LS, *entries)[0].decision == "deny"


@pytest.mark.parametrize("reason", [5, ["a"], {"why": "b"}, True])
def test_a_denial_does_not_fail_by_how_it_gives_its_reason(reason: Any, tmp_path: Path) -> None:
    answer, hooked = tell(tmp_path, LS, pre(saying({"decision": "block", "reason": reason})))
    assert answer.decision == "deny" and answer.reason == encode(reason).decode()
    assert hooked.told == []
