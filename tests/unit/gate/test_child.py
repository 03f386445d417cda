"""The gate of a subagent: what it shares with its parent's, and what holds it back further."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from msgspec.structs import replace

from detent.gate.child import Child, ChildGate
from detent.gate.gate import Gatekeeper
from detent.gate.hooks import HookAnswer, HookSet
from detent.gate.hooks.events import AgentStarted, AgentStopping, HookEvent
from detent.gate.hooks.facts import Facts
from detent.gate.rules import parse_rule
from detent.gate.terms import KindLimits, Mode, Origin, Rule, RuleSet, Workspace
from detent.loop.limits import Limits
from detent.ports import Admitted, Answer, Desk, Proposal, Question
from detent.testing import call, reply
from detent.tools.registry import canonical_name
from detent.types.content import Call, Text
from detent.types.effects import Effect, Reads, Runs, Spawns, Writes
from detent.types.events import Asked, Reminded
from detent.types.outcomes import Refused, done
from detent.types.verdicts import Allow, Ask, Deny, Verdict
from kitbench import Bench, BenchTool, bench

HERE = Workspace("/p", ("/p",), "/h")
COPY = "/p/.detent-worktrees/a1"
APART = Workspace(COPY, (COPY,), "/h")


def rules(**texts: tuple[str, ...]) -> RuleSet:
    return RuleSet(**{kind: tuple(map(rule, given)) for kind, given in texts.items()})


def rule(text: str) -> Rule:
    return parse_rule(text, canonical_name, Origin("project", folder="/p"))


def session(mode: Mode = "default", **parts: Any) -> Gatekeeper:
    return Gatekeeper(HERE, mode=mode, canonical=canonical_name, **parts)


def child_of(
    above: Gatekeeper, workspace: Workspace = HERE, *, saved: bool = True, **more: Any
) -> ChildGate:
    given = {"agent": "a1", "kind": "Explore", "name": "Explore (find it)", **more}
    if (mode := given.pop("mode", None)) is not None:
        given["modes"] = (mode,)
    return ChildGate(above, workspace, Child(**given), lambda: saved)


def proposed(tool: str, *effects: Effect, cwd: str = "/p", **arguments: Any) -> Proposal:
    return Proposal(Call("c", tool, "{}"), tool, arguments, effects, cwd)


EDIT = proposed("Edit", Writes("/p/a.txt"))
MAKE = proposed("Bash", Runs("make all"), command="make all")
LOOK = proposed("Bash", Runs("ls"), command="ls")


class Person:
    def __init__(self, answer: Answer | None = None) -> None:
        self.answer = answer or Answer(True)
        self.questions: list[Question] = []

    async def ask(self, question: Question) -> Answer:
        self.questions.append(question)
        return self.answer


def admit(gate: Gatekeeper, proposal: Proposal, person: Person | None = None) -> Any:
    asked = person or Person(Answer(False))
    return asyncio.run(gate.admit(proposal, lambda changed: proposal, asked))


@pytest.mark.parametrize(
    ("parent", "own", "expected"),
    [
        ("default", None, Ask),
        ("default", "bypassPermissions", Ask),
        ("default", "acceptEdits", Ask),
        ("default", "plan", Deny),
        ("default", "dontAsk", Deny),
        ("bypassPermissions", None, Allow),
        ("bypassPermissions", "plan", Deny),
        ("bypassPermissions", "default", Ask),
        ("acceptEdits", "default", Ask),
        ("acceptEdits", "auto", Ask),
        ("plan", "bypassPermissions", Deny),
        ("dontAsk", "acceptEdits", Deny),
    ],
)
def test_the_stricter_mode_counts(parent: Mode, own: Mode | None, expected: type) -> None:
    assert isinstance(child_of(session(parent), mode=own).judge(EDIT), expected)


@pytest.mark.parametrize(
    ("parent", "own", "told"),
    [
        ("default", "bypassPermissions", "default"),
        ("bypassPermissions", "plan", "plan"),
        ("auto", None, "auto"),
        ("plan", "acceptEdits", "plan"),
    ],
)
def test_the_mode_that_is_told_is_the_stricter(parent: Mode, own: Mode | None, told: str) -> None:
    gate = child_of(session(parent), mode=own)
    assert gate.mode == told
    gate.mode = "bypassPermissions"
    assert gate.mode == told


def test_what_changes_above_counts_at_once() -> None:
    parent = session("bypassPermissions")
    gate = child_of(child_of(parent))
    assert isinstance(gate.judge(EDIT), Allow)
    parent.mode = "plan"
    assert isinstance(gate.judge(EDIT), Deny)
    parent.mode = "default"
    assert isinstance(gate.judge(MAKE), Ask)
    parent.trusts_sandbox = True
    assert isinstance(gate.judge(MAKE), Allow)
    gate.trusts_sandbox = False
    assert gate.trusts_sandbox is True


def test_a_log_that_takes_nothing_holds_the_child() -> None:
    allowed = session(rules=rules(allow=("Bash(make:*)",)))
    assert isinstance(child_of(allowed).judge(MAKE), Allow)
    free = session("acceptEdits")
    assert isinstance(child_of(free, saved=False).judge(EDIT), Ask)
    assert isinstance(free.judge(EDIT), Allow)


def test_what_a_person_agrees_to_counts_for_all_and_is_kept_as_the_parents() -> None:
    kept: list[tuple[str, str, str]] = []

    async def store(kind: str, text: str, scope: str) -> None:
        kept.append((kind, text, scope))

    parent = session(store=store)
    child, sibling = child_of(parent), child_of(parent, agent="a2")
    grandchild = child_of(child, agent="a3")
    said = Answer(True, rules=("Bash(make:*)",), denies=("Read(private/**)",), scope="local")
    assert isinstance(admit(grandchild, MAKE, Person(said)), Admitted)
    assert kept == [("allow", "Bash(make:*)", "local"), ("deny", "Read(private/**)", "local")]
    for gate in (parent, child, sibling, grandchild):
        assert isinstance(gate.judge(MAKE), Allow)
        assert isinstance(gate.judge(proposed("Read", Reads("/p/private/k"))), Deny)
    assert parent.rules.allow[-1].origin == Origin("session", folder="/p")


def test_managed_rules_alone_allow_in_children_too() -> None:
    told: list[str] = []
    parent = session(report=told.append)
    parent.takes_allow_rules = False
    assert isinstance(
        admit(child_of(parent), MAKE, Person(Answer(True, rules=("Bash",)))), Admitted
    )
    assert isinstance(parent.judge(MAKE), Ask)
    assert "was not added" in told[0]


class Classifying:
    def __init__(self, verdict: Verdict) -> None:
        self.verdict = verdict
        self.asked = 0

    async def classify(self, proposal: Proposal, reason: str) -> Verdict:
        self.asked += 1
        return self.verdict

    async def aclose(self) -> None:
        raise AssertionError("it is the parent's")


@pytest.mark.parametrize(
    ("parent", "own", "is_asked"),
    [("auto", None, True), ("auto", "auto", True), ("auto", "default", False),
     ("default", "auto", False), ("acceptEdits", "auto", False),
     ("bypassPermissions", "auto", True)],
)  # fmt: skip
def test_a_model_answers_only_where_every_mode_leaves_it_to_one(
    parent: Mode, own: Mode | None, is_asked: bool
) -> None:
    above = session(parent)
    above.classifier = classifier = Classifying(Allow("classifier"))
    gate, person = child_of(above, mode=own), Person(Answer(True))
    assert isinstance(admit(gate, MAKE, person), Admitted)
    assert (classifier.asked, len(person.questions)) == ((1, 0) if is_asked else (0, 1))
    asyncio.run(gate.aclose())


def hooked(moment: str, *answers: HookAnswer) -> tuple[HookSet, list[HookEvent]]:
    """A hook that gives these answers in turn, the last again and again."""
    told: list[HookEvent] = []

    def hook(event: HookEvent) -> HookAnswer:
        told.append(event)
        return answers[min(len(told), len(answers)) - 1]

    return HookSet(**{moment: (hook,)}), told


def test_a_hook_that_allows_does_not_reach_beyond_any_of_them() -> None:
    hooks, _ = hooked("before_call", HookAnswer("allow"))
    parent = session(hooks=hooks)
    assert isinstance(admit(parent, MAKE), Admitted)
    assert isinstance(admit(child_of(parent), MAKE), Admitted)
    assert isinstance(admit(child_of(parent, mode="plan"), EDIT), Refused)
    assert isinstance(admit(child_of(parent, deny=(rule("Bash(make:*)"),)), MAKE), Refused)
    careful = session(hooks=hooks, rules=rules(ask=("Bash(make:*)",)))
    assert isinstance(admit(child_of(careful, mode="bypassPermissions"), MAKE), Refused)


def test_hooks_are_told_whose_doing_it_is() -> None:
    hooks, told = hooked("before_call", HookAnswer())
    parent = session("bypassPermissions", hooks=hooks)
    child = child_of(parent, cwd=lambda: "/p/sub", mode="default")
    grandchild = child_of(child, agent="a2", kind="Plan", cwd=lambda: "/p/deep")
    for gate in (parent, child, grandchild):
        admit(gate, LOOK)
    assert [(e.agent_id, e.agent_type, e.cwd, e.permission_mode) for e in told] == [
        ("", "", "", ""),
        ("a1", "Explore", "/p/sub", "default"),
        ("a2", "Plan", "/p/deep", "default"),
    ]
    facts = Facts()
    facts.session, facts.path, facts.project = "s", "/log", "/p"
    first, second = (facts.common(event) for event in told[:2])
    assert "agent_id" not in first and first["cwd"] == "/p"
    assert second == {
        "session_id": "s", "transcript_path": "/log", "cwd": "/p/sub",
        "permission_mode": "default", "hook_event_name": "PreToolUse",
        "agent_id": "a1", "agent_type": "Explore",
    }  # fmt: skip


def test_every_moment_of_the_loop_is_signed() -> None:
    hooks, told = hooked("on_iteration_complete", HookAnswer())
    gate = child_of(session(hooks=hooks))
    facts = {"turn": 1, "step": 1, "stop": "end_turn", "calls": 0, "usage": None}
    asyncio.run(gate.happened("on_iteration_complete", **facts))
    assert [event.agent_id for event in told] == ["a1"]


def test_guards_of_an_agent_hear_those_below_it_too() -> None:
    own, told = hooked("before_call", HookAnswer("deny", "not here"))
    parent = session("bypassPermissions")
    child = child_of(parent)
    child.add_hooks(own)
    grandchild = child_of(child, agent="a2")
    assert isinstance(admit(grandchild, MAKE), Refused)
    assert isinstance(admit(child, MAKE), Refused)
    assert isinstance(admit(parent, MAKE), Admitted)
    assert [event.agent_id for event in told] == ["a2", "a1"]


def test_its_prompt_is_not_the_users() -> None:
    hooks, told = hooked("submitted", HookAnswer("deny", "no"))
    assert asyncio.run(child_of(session(hooks=hooks)).prompted((Text("do it"),))) == ""
    assert told == []


def test_its_beginning_is_told_once_and_is_none_of_a_session() -> None:
    hooks, told = hooked("agent_started", HookAnswer(context="mind the gap"))
    sessions, unheard = hooked("session_started", HookAnswer())
    gate = child_of(session(hooks=HookSet(agent_started=hooks.agent_started,
                                          session_started=sessions.session_started)))  # fmt: skip
    assert gate.opened() and not gate.opened()
    answer = asyncio.run(gate.happened("session_started", source="subagent", model="m"))
    assert answer.context == "mind the gap"
    (event,) = told
    assert isinstance(event, AgentStarted)
    assert (event.name, event.subject, event.agent_id) == ("SubagentStart", "Explore", "a1")
    assert unheard == []
    assert child_of(session(hooks=sessions)).opened() == ""


def test_its_end_is_a_subagents_end() -> None:
    hooks, told = hooked("agent_stopping", HookAnswer("deny", "look again"), HookAnswer())
    turns, unheard = hooked("stopping", HookAnswer("deny", "no"))
    both = HookSet(agent_stopping=hooks.agent_stopping, stopping=turns.stopping)
    gate = child_of(session(hooks=both), log="/l/a1.jsonl")
    assert asyncio.run(gate.stopping("found", False)) == "look again"
    assert asyncio.run(gate.stopping("found it", True)) == ""
    assert unheard == []
    event = told[-1]
    assert isinstance(event, AgentStopping)
    assert event.fields() == {
        "agent_id": "a1", "agent_type": "Explore", "agent_transcript_path": "/l/a1.jsonl",
        "stop_hook_active": True, "last_assistant_message": "found it",
    }  # fmt: skip
    assert asyncio.run(child_of(session(hooks=turns)).stopping("bye", False)) == ""


def test_a_stop_hook_of_its_own_is_about_itself() -> None:
    own, told = hooked("stopping", HookAnswer("deny", "once more"))
    child = child_of(session())
    child.add_hooks(own)
    grandchild = child_of(child, agent="a2")
    assert asyncio.run(grandchild.stopping("bye", False)) == ""
    assert asyncio.run(child.stopping("bye", False)) == "once more"
    assert [event.name for event in told] == ["SubagentStop"]


def test_a_hook_that_breaks_decides_nothing_and_is_reported() -> None:
    def broken(event: HookEvent) -> HookAnswer:
        raise RuntimeError("oh")

    reported: list[str] = []
    parent = session(hooks=HookSet(agent_stopping=(broken,)), report=reported.append)
    assert asyncio.run(child_of(parent).stopping("bye", False)) == ""
    assert reported == ["hook broken failed: RuntimeError: oh"]


def test_a_question_bears_its_name() -> None:
    person = Person()
    admit(child_of(session()), MAKE, person)
    (question,) = person.questions
    assert (question.agent, question.agent_id) == ("Explore (find it)", "a1")
    admit(session(), MAKE, person)
    assert (person.questions[1].agent, person.questions[1].agent_id) == ("", "")


def test_whoever_calls_the_person_says_for_whom() -> None:
    hooks, told = hooked("notified", HookAnswer())

    async def asked() -> None:
        parent = session(hooks=hooks)
        gate = child_of(parent)
        await gate.admit(MAKE, lambda changed: MAKE, Person())
        await gate.aclose()
        while not told:
            await asyncio.sleep(0)
        await parent.aclose()

    asyncio.run(asked())
    (event,) = told
    assert getattr(event, "message", "").endswith("may run for the subagent Explore (find it)")
    assert event.agent_id == "a1"


def test_in_a_folder_of_its_own_the_rest_is_outside() -> None:
    parent = session("acceptEdits")
    gate = child_of(parent, APART, copy_of="/p")
    assert isinstance(gate.judge(proposed("Edit", Writes(f"{COPY}/a.txt"), cwd=COPY)), Allow)
    assert isinstance(parent.judge(EDIT), Allow)
    assert isinstance(gate.judge(EDIT), Ask)
    assert isinstance(gate.judge(proposed("Read", Reads("/p/a.txt"), cwd=COPY)), Ask)
    assert isinstance(child_of(gate, APART, agent="a2").judge(EDIT), Ask)


@pytest.mark.parametrize(
    "text", ["Read(/private/**)", "Read(//p/private/**)", "Read(./private/k)", "Read(private/**)"]
)
def test_what_is_denied_is_denied_in_a_copy(text: str) -> None:
    parent = session("bypassPermissions", rules=rules(deny=(text,)))
    gate = child_of(parent, APART, copy_of="/p")
    for proposal in (
        proposed("Read", Reads(f"{COPY}/private/k"), cwd=COPY),
        proposed("Bash", Runs("cat private/k"), cwd=COPY),
    ):
        assert isinstance(gate.judge(proposal), Deny)
        assert isinstance(child_of(gate, APART, agent="a2").judge(proposal), Deny)
    assert not isinstance(gate.judge(proposed("Read", Reads(f"{COPY}/a"), cwd=COPY)), Deny)


@pytest.mark.parametrize("text", ["Edit(/src/**)", "Edit(//p/src/**)"])
def test_what_is_denied_is_denied_in_a_copy_of_a_copy(text: str) -> None:
    parent = session("bypassPermissions", rules=rules(deny=(text,)))
    first = child_of(parent, APART, copy_of="/p")
    place = f"{COPY}/.detent-worktrees/a2"
    second = child_of(first, Workspace(place, (place,), "/h"), agent="a2", copy_of=COPY)
    below = child_of(second, second.workspace, agent="a3")
    for gate in (second, below):
        edit = proposed("Edit", Writes(f"{place}/src/x"), cwd=place)
        assert isinstance(gate.judge(edit), Deny)
        assert gate.falls_under(text, edit)
        assert isinstance(gate.judge(proposed("Edit", Writes(f"{place}/a"), cwd=place)), Allow)


def test_what_its_kind_says_and_what_its_task_says_both_hold() -> None:
    """Modes differ in more than one way: neither stands in for the other."""
    outside = proposed("Read", Reads("/etc/hosts"))
    gate = child_of(session(), modes=("dontAsk", "plan"))
    assert isinstance(gate.judge(outside), Deny)  # not the question of plan mode
    gate = child_of(session("bypassPermissions"), modes=("acceptEdits", "auto"))
    verdict = gate.judge(MAKE)
    assert isinstance(verdict, Ask) and verdict.source == "mode acceptEdits"  # for no classifier
    gate = child_of(session("bypassPermissions"), modes=("plan", "bypassPermissions"))
    assert isinstance(gate.judge(EDIT), Deny) and gate.mode == "plan"


def test_a_hook_for_some_calls_sees_those_in_a_copy() -> None:
    parent = session()
    gate = child_of(parent, APART, copy_of="/p")
    edit = proposed("Edit", Writes(f"{COPY}/src/a"), cwd=COPY)
    assert not parent.falls_under("Edit(/src/a)", edit)
    assert parent.below["a1"].falls_under("Edit(/src/a)", edit)
    asyncio.run(gate.aclose())
    assert parent.below == {}


LOOKING: dict[str, bool] = {
    "ls -la": True, "git log -3": True, "cat a | head": True, "cat /etc/hosts": True,
    "make": False, "rm a": False, "echo x > a": False, "echo x > .git/config": False,
    "sed -i s/a/b/ a": False, "cat $X": False, "git commit -m x": False,
}  # fmt: skip


@pytest.mark.parametrize(("command", "may"), LOOKING.items())
def test_who_only_looks_changes_nothing_whatever_is_permitted(command: str, may: bool) -> None:
    parent = session("bypassPermissions", rules=rules(allow=("Bash", "Edit")))
    gate = child_of(parent, limits=KindLimits(reads_only=True))
    verdict = gate.judge(proposed("Bash", Runs(command), command=command))
    assert isinstance(verdict, Allow if may else Deny)
    assert isinstance(gate.judge(EDIT), Deny)
    below = child_of(gate, agent="a2", mode="bypassPermissions")
    assert type(below.judge(proposed("Bash", Runs(command)))) is type(verdict)
    hooks, _ = hooked("permission_asked", HookAnswer("allow"))
    parent.add_hooks(hooks)
    assert isinstance(admit(gate, EDIT, Person()), Refused)


def test_where_it_may_not_read_unasked_who_only_looks_asks() -> None:
    gate = child_of(session(), limits=KindLimits(reads_only=True))
    assert isinstance(gate.judge(proposed("Read", Reads("/etc/hosts"))), Ask)


PARTS: dict[str, bool] = {
    "git diff HEAD": True, "git commit -m x": True, "git diff && git commit -m x": True,
    "ls": True, "touch a": False, "git diff; touch a": False, "git $X": False,
}  # fmt: skip
"""What `Bash(git:*)` covers, and what only looks."""


@pytest.mark.parametrize("trusts", [False, True])
@pytest.mark.parametrize(("command", "may"), PARTS.items())
def test_a_tool_that_it_has_in_part(command: str, may: bool, trusts: bool) -> None:
    parent = session("bypassPermissions", rules=rules(allow=("Bash", "Edit")))
    parent.trusts_sandbox = trusts
    gate = child_of(parent, limits=KindLimits(only=(rule("Bash(git:*)"),)))
    verdict = gate.judge(proposed("Bash", Runs(command), command=command))
    assert isinstance(verdict, Allow if may else Deny)
    assert may or verdict.reason == "Of Bash you have only Bash(git:*)."
    assert isinstance(gate.judge(EDIT), Allow), "of other tools nothing was said"
    below = child_of(gate, agent="a2", mode="bypassPermissions")
    assert type(below.judge(proposed("Bash", Runs(command)))) is type(verdict)


def test_what_it_has_in_part_it_does_not_have_unasked() -> None:
    gate = child_of(session(), limits=KindLimits(only=(rule("Bash(git:*)"),)))
    assert isinstance(gate.judge(proposed("Bash", Runs("git commit"))), Ask)


def test_tools_that_its_kind_denies() -> None:
    parent = session("bypassPermissions")
    gate = child_of(parent, deny=(rule("Bash(git push:*)"),))
    push = proposed("Bash", Runs("cd /p && git push origin"))
    assert isinstance(gate.judge(push), Deny)
    assert isinstance(child_of(gate, agent="a2").judge(push), Deny)
    assert isinstance(parent.judge(push), Allow)
    assert gate.rules.deny[-1].text == "Bash(git push:*)"


@pytest.mark.parametrize("tool", ["Agent", "delegate_agent"])
@pytest.mark.parametrize("named", ["Explore", "explore", "EXPLORE"])
@pytest.mark.parametrize("text", ["Agent(Explore)", "Task(explore)", "Agent(ex*)", "Agent", "Task"])
@pytest.mark.parametrize(("kind", "expected"), [("deny", Deny), ("ask", Ask)])
def test_rules_for_starting_agents(
    tool: str, named: str, text: str, kind: str, expected: type
) -> None:
    parent = session("bypassPermissions", rules=rules(**{kind: (text,)}))
    starting = proposed(tool, Spawns("Plan"), Spawns(named))
    assert isinstance(parent.judge(starting), expected)
    assert isinstance(child_of(parent).judge(starting), expected)
    if "(" in text:
        assert isinstance(parent.judge(proposed(tool, Spawns("Plan"))), Allow)


def test_only_rules_are_offered_that_would_permit_it_for_all() -> None:
    gate = child_of(session(), APART, copy_of="/p")
    edit = proposed("Edit", Writes(f"{COPY}/src/a"), cwd=COPY)
    verdict = gate.judge(edit)
    assert isinstance(verdict, Ask)
    assert verdict.rules == ("Edit(/src/a)",), "as it will be called when it is merged"
    admit(gate, edit, Person(Answer(True, rules=verdict.rules)))
    assert isinstance(gate.judge(edit), Allow)


class Slow:
    """Answers when it is told to."""

    def __init__(self) -> None:
        self.open: dict[str, asyncio.Future[Answer]] = {}
        self.withdrawn: list[str] = []

    async def ask(self, question: Question) -> Answer:
        answer = self.open[question.agent_id] = asyncio.get_running_loop().create_future()
        try:
            return await answer
        except asyncio.CancelledError:
            self.withdrawn.append(question.agent_id)
            raise


async def asked_by(
    gates: list[Gatekeeper], person: Slow, proposal: Proposal = MAKE
) -> list[asyncio.Task[Any]]:
    tasks = [asyncio.create_task(g.admit(proposal, lambda c: proposal, person)) for g in gates]
    while len(person.open) < len(gates):
        await asyncio.sleep(0)
    return tasks


def test_what_is_agreed_for_one_answers_all_who_ask_the_same() -> None:
    async def play() -> None:
        parent, person = session(), Slow()
        gates = [child_of(parent, agent=name) for name in ("a", "b", "c")]
        asking = await asked_by([*gates, parent], person)
        person.open["b"].set_result(Answer(True, rules=("Bash(make:*)",)))
        done = await asyncio.gather(*asking)
        assert all(isinstance(each, Admitted) for each in done)
        assert [each.verdict.source for each in done] == [
            "rule Bash(make:*)", "person", "rule Bash(make:*)", "rule Bash(make:*)",
        ]  # fmt: skip
        assert sorted(person.withdrawn) == ["", "a", "c"]
        assert parent._waiting == []

    asyncio.run(play())


def test_a_mode_that_refuses_withdraws_the_question() -> None:
    async def play() -> None:
        parent, person = session(), Slow()
        (asking,) = await asked_by([child_of(parent)], person, EDIT)
        parent.mode = "acceptEdits"
        parent.mode = "plan"
        assert isinstance(await asking, Refused)
        assert person.withdrawn == ["a1"]

    asyncio.run(play())


def test_a_question_that_a_hook_wants_asked_stays() -> None:
    hooks, _ = hooked("before_call", HookAnswer("ask", "look at it"))

    async def play() -> None:
        parent, person = session(hooks=hooks), Slow()
        (asking,) = await asked_by([child_of(parent)], person)
        parent.mode = "bypassPermissions"
        for _ in range(5):
            await asyncio.sleep(0)
        assert not asking.done() and person.withdrawn == []
        person.open["a1"].set_result(Answer(False, "no"))
        assert isinstance(await asking, Refused)

    asyncio.run(play())


def test_cancelling_one_withdraws_only_its_own_question() -> None:
    async def play() -> None:
        parent, person = session(), Slow()
        first, second = await asked_by(
            [child_of(parent, agent="a"), child_of(parent, agent="b")], person
        )
        first.cancel()
        await asyncio.wait({first})
        assert person.withdrawn == ["a"] and not second.done()
        person.open["b"].set_result(Answer(True))
        assert isinstance(await second, Admitted)

    asyncio.run(play())


def at_work(*replies: Any, hooks: HookSet | None = None, **kit: Any) -> Bench:
    """A loop whose gate is a child's."""

    async def ran(args: dict[str, Any], desk: Desk) -> str:
        return "made"

    tool = BenchTool("Bash", ran, effects=(Runs("make"),))
    made = bench(*replies, tools=[tool], mode="default", **kit)
    made.kit = replace(made.kit, gate=child_of(session(hooks=hooks)))
    return made


def test_whoever_reads_the_events_knows_who_asks() -> None:
    work = at_work(reply(call("Bash", command="make")), "done")
    work.run()
    (asked,) = work.of(Asked)
    assert (asked.name, asked.agent) == ("Bash", "Explore (find it)")


def test_what_is_said_at_its_beginning_reads_before_its_task() -> None:
    hooks, told = hooked("agent_started", HookAnswer(context="mind the gap"))
    work = at_work("done", "again", hooks=hooks)
    work.run()
    kinds = [type(entry).__name__ for entry in work.log.entries[:2]]
    assert kinds == ["Reminded", "Prompted"]
    assert work.of(Reminded)[0].text == "mind the gap"
    work.run("more")
    assert len(told) == 1


def test_a_stop_hook_makes_it_go_on_but_not_for_ever() -> None:
    hooks, told = hooked("agent_stopping", HookAnswer("deny", "look again"))
    work = at_work(*["found"] * 5, hooks=hooks, limits=Limits(forced=2))
    ended = work.run()
    assert ended.reason == "end_turn" and len(ended.steps) == 3
    assert [getattr(event, "again", None) for event in told] == [False, True, True]


def test_an_answer_that_ends_the_turn_ends_all_above() -> None:
    parent = session()
    child = child_of(parent)
    grandchild = child_of(child, agent="a2")
    outcome = done("done")

    def stops() -> list[str]:
        gates = (child, parent)
        return [asyncio.run(gate.review(MAKE, outcome)).stop for gate in gates]

    admit(grandchild, MAKE, Person(Answer(False, "enough", interrupt=True)))
    assert stops() == ["enough", "enough"]
    assert stops() == ["", ""]
    admit(grandchild, MAKE, Person(Answer(False, "enough", interrupt=True)))
    asyncio.run(parent.prompted((Text("go on"),)))
    assert stops()[1] == ""
