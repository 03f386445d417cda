"""The gate as the loop meets it: hooks, the approver and what its answer changes."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from detent.gate.gate import Gatekeeper
from detent.gate.hooks import HookAnswer, HookSet
from detent.gate.hooks.events import AfterCall, BeforeCall, Stopping, Submitted
from detent.gate.rules import parse_rule
from detent.gate.terms import RuleSet, Workspace, parse_mode
from detent.ports import Admitted, Answer, Proposal, Question
from detent.tools.registry import canonical_name
from detent.types.content import Call, Text
from detent.types.effects import Connects, Reads, Runs, Writes
from detent.types.errors import BadInput, PromptBlocked
from detent.types.outcomes import Done, Failed, Refused, done, text_of
from detent.types.verdicts import Allow, Ask, Deny

CWD = "/w/app"


class Person:
    def __init__(self, answer: Answer | None = None) -> None:
        self.answer = answer or Answer(True)
        self.questions: list[Question] = []

    async def ask(self, question: Question) -> Answer:
        self.questions.append(question)
        return self.answer


def gate(mode: Any = "default", **parts: Any) -> Gatekeeper:
    texts = {name: parts.pop(name, ()) for name in ("allow", "ask", "deny")}
    rules = RuleSet(**{k: tuple(parse_rule(t, canonical_name) for t in texts[k]) for k in texts})
    workspace = Workspace(CWD, (CWD,), "/home/dev")
    return Gatekeeper(workspace, mode=mode, rules=rules, canonical=canonical_name, **parts)


def bash(command: str) -> Proposal:
    return Proposal(Call("c1", "Bash", "{}"), "Bash", {"command": command}, (Runs(command),))


def rebash(changed: dict[str, Any]) -> Proposal:
    return bash(changed["command"])


def admit(keeper: Gatekeeper, command: str, person: Person | None = None) -> Admitted | Refused:
    return asyncio.run(keeper.admit(bash(command), rebash, person or Person()))


def hook(**answer: Any) -> HookSet:
    return HookSet(before_call=(lambda event: HookAnswer(**answer),))


def test_a_hook_sees_the_call() -> None:
    seen: list[BeforeCall] = []
    admit(gate(hooks=HookSet(before_call=(seen.append,))), "make")  # type: ignore[arg-type]
    (event,) = seen
    assert (event.tool, event.arguments, event.call_id) == ("Bash", {"command": "make"}, "c1")


def test_a_hook_may_allow_what_the_mode_would_ask() -> None:
    person = Person()
    admitted = admit(gate(hooks=hook(decision="allow")), "make", person)
    assert isinstance(admitted, Admitted) and admitted.verdict == Allow("hook")
    assert not person.questions


def test_an_async_hook_is_awaited() -> None:
    async def denies(event: BeforeCall) -> HookAnswer:
        await asyncio.sleep(0)
        return HookAnswer("deny", "no")

    refused = admit(gate(hooks=HookSet(before_call=(denies,))), "ls")
    assert refused == Refused("no", "hook")


@pytest.mark.parametrize(
    ("rules", "command"),
    [
        ({"deny": ["Bash(make:*)"]}, "make"),
        ({"deny": ["Bash(make:*)"], "allow": ["Bash"]}, "make"),
        ({"deny": ["Read(private/**)"]}, "cat private/x"),
    ],
)
def test_a_hook_never_beats_a_deny_rule_and_is_not_even_asked(rules: Any, command: str) -> None:
    asked: list[Any] = []

    def allows(event: Any) -> HookAnswer:
        asked.append(event)
        return HookAnswer("allow")

    outcome = admit(gate(hooks=HookSet(before_call=(allows,)), **rules), command)
    assert isinstance(outcome, Refused) and outcome.by.startswith("rule ")
    assert not asked


@pytest.mark.parametrize(
    ("parts", "command"),
    [
        ({"ask": ["Bash(make:*)"]}, "make"),
        ({}, "rm -rf /etc"),
        ({"allow": ["Bash"]}, "echo x > .git/config"),
        ({"allow": ["Bash"], "deny": ["Bash(docker push:*)"]}, "$X push"),
    ],
)
def test_a_hook_never_answers_for_the_person(parts: Any, command: str) -> None:
    """Ask rules, critical removals, protected places and doubts are the person's to answer."""
    person = Person(Answer(False, "no"))
    outcome = admit(gate(hooks=hook(decision="allow"), **parts), command, person)
    assert isinstance(outcome, Refused)
    assert len(person.questions) == 1


def test_a_hook_may_ask_and_may_deny_what_would_run() -> None:
    person = Person()
    assert isinstance(admit(gate(hooks=hook(decision="ask", reason="why")), "ls", person), Admitted)
    assert [q.reason for q in person.questions] == ["why"]
    assert isinstance(admit(gate(hooks=hook(decision="deny")), "ls"), Refused)


def test_changed_input_is_checked_again() -> None:
    changed = hook(decision="allow", arguments={"command": "docker push"})
    outcome = admit(gate(hooks=changed, deny=["Bash(docker push:*)"]), "ls")
    assert isinstance(outcome, Refused) and outcome.by == "rule Bash(docker push:*)"
    person = Person()
    admitted = admit(gate(hooks=hook(arguments={"command": "make"})), "ls", person)
    assert isinstance(admitted, Admitted) and admitted.arguments == {"command": "make"}
    assert [q.proposal.arguments for q in person.questions] == [{"command": "make"}]


def test_an_empty_change_is_a_change() -> None:
    keeper = gate(hooks=hook(decision="allow", arguments={}))
    proposal = Proposal(Call("c", "T", "{}"), "T", {"a": 1}, ())
    admitted = asyncio.run(
        keeper.admit(proposal, lambda given: Proposal(proposal.call, "T", given, ()), Person())
    )
    assert isinstance(admitted, Admitted) and admitted.arguments == {}


def test_several_hooks_the_strictest_decides_all_speak() -> None:
    answers = [
        HookAnswer("allow", "one", context="c1"),
        HookAnswer("deny", "two", context="c2"),
        HookAnswer("ask", "three"),
    ]
    for order in (answers, answers[::-1]):
        hooks = HookSet(before_call=tuple((lambda a: lambda e: a)(answer) for answer in order))
        assert admit(gate(hooks=hooks), "ls") == Refused("two", "hook")
    hooks = HookSet(
        before_call=(lambda e: HookAnswer(context="c1"), lambda e: HookAnswer(context="c2"))
    )
    admitted = admit(gate(hooks=hooks), "ls")
    assert isinstance(admitted, Admitted) and admitted.context == "c1\nc2"


@pytest.mark.parametrize("wrong", [{"decision": "allow"}, True, "deny"])
def test_a_broken_hook_is_reported_and_decides_nothing(wrong: Any) -> None:
    said: list[str] = []

    def raises(event: Any) -> HookAnswer:
        raise RuntimeError("boom")

    def gives_nonsense(event: Any) -> Any:
        return wrong

    hooks = HookSet(before_call=(raises, gives_nonsense, lambda event: HookAnswer("deny", "no")))
    keeper = gate(hooks=hooks, report=said.append)
    assert admit(keeper, "ls") == Refused("no", "hook")
    assert said[0] == "hook raises failed: RuntimeError: boom"
    assert "gives_nonsense" in said[1] and type(wrong).__name__ in said[1]
    person = Person(Answer(False))
    admit(gate(hooks=HookSet(before_call=(raises,))), "make", person)
    assert len(person.questions) == 1, "a failing hook neither allows nor denies"


def test_rules_of_an_answer_hold_at_once() -> None:
    keeper = gate()
    person = Person(Answer(True, rules=("Bash(make:*)",)))
    assert isinstance(admit(keeper, "make a", person), Admitted)
    assert isinstance(admit(keeper, "make b", person), Admitted)
    assert len(person.questions) == 1
    admit(keeper, "makeb", person)
    assert len(person.questions) == 2


def test_rules_of_a_refusal_do_not_hold() -> None:
    keeper = gate()
    person = Person(Answer(False, rules=("Bash(make:*)",)))
    admit(keeper, "make", person)
    assert isinstance(keeper.judge(bash("make")), Ask)


def test_a_rule_that_cannot_be_read_permits_nothing_and_is_reported() -> None:
    said: list[str] = []
    keeper = gate(report=said.append)
    person = Person(Answer(True, rules=("Bash(", "Bash(make:*)")))
    assert isinstance(admit(keeper, "make", person), Admitted)
    assert isinstance(keeper.judge(bash("make x")), Allow)
    assert isinstance(keeper.judge(bash("other")), Ask)
    assert len(said) == 1 and "Bash(" in said[0]


def test_an_answer_may_change_the_input_but_not_into_a_denied_one() -> None:
    changed = Answer(True, arguments={"command": "make b"})
    admitted = admit(gate(), "make a", Person(changed))
    assert isinstance(admitted, Admitted) and admitted.arguments == {"command": "make b"}
    refused = admit(gate(deny=["Bash(make b:*)"]), "make a", Person(changed))
    assert isinstance(refused, Refused) and refused.by == "rule Bash(make b:*)"


def test_a_refusal_tells_the_reason_and_the_narrowest_rule() -> None:
    refused = admit(gate(), "npm run build", Person(Answer(False, "Not now.", by="person")))
    assert isinstance(refused, Refused)
    assert refused.by == "person"
    assert "Not now." in refused.reason and "Bash(npm run build)" in refused.reason


def test_the_question_offers_rules_that_then_work() -> None:
    person = Person()
    admit(gate(), "npm run build", person)
    assert person.questions[0].rules == ("Bash(npm run build)", "Bash(npm run:*)")
    for rule in person.questions[0].rules:
        assert isinstance(gate(allow=[rule]).judge(bash("npm run build")), Allow)


@pytest.mark.parametrize(
    ("command", "rules"),
    [
        ("make", ("Bash(make)",)),
        ("git commit -m 'a b'", ("Bash(git commit -m 'a b')", "Bash(git commit:*)")),
        ("python -c 'x y'", ("Bash(python -c 'x y')",)),
        ("sudo apt install", ("Bash(sudo apt install)",)),
        ("env make x", ("Bash(env make x)",)),
        ("rm '*' x", ()),
        ("make $X", ()),
        ("make && ls", ("Bash(make)",)),
        ("make && npm i", ()),
        ("timeout 5 make", ("Bash(make)",)),
    ],
)
def test_offered_rules_permit_no_more_than_they_seem_to(command: str, rules: Any) -> None:
    asked = gate().judge(bash(command))
    assert isinstance(asked, Ask) and asked.rules == rules
    for rule in rules:
        assert isinstance(gate(allow=[rule]).judge(bash(command)), Allow)


@pytest.mark.parametrize("name", ["**", "a*", "[ab]", "x(y)"])
def test_no_edit_rule_is_offered_for_a_name_that_reads_as_a_pattern(name: str) -> None:
    verdict = gate().judge(Proposal(Call("c", "Edit", ""), "Edit", {}, (Writes(f"{CWD}/{name}"),)))
    assert isinstance(verdict, Ask) and verdict.rules == ()


def test_offered_edit_rules_work() -> None:
    for path in (f"{CWD}/docs/a.md", "/elsewhere/a.md"):
        proposal = Proposal(Call("c", "Edit", ""), "Edit", {}, (Writes(path),))
        verdict = gate().judge(proposal)
        assert isinstance(verdict, Ask)
        assert isinstance(gate(allow=verdict.rules).judge(proposal), Allow)


@pytest.mark.parametrize(
    ("mode", "saved", "expected"),
    [
        ("acceptEdits", True, Allow),
        ("acceptEdits", False, Ask),
        ("default", False, Ask),
        ("dontAsk", False, Deny),
        ("bypassPermissions", False, Allow),
    ],
)
def test_an_unsaved_session_asks_for_what_only_the_mode_allows(
    mode: Any, saved: bool, expected: type
) -> None:
    keeper = gate(mode, saved=lambda: saved)
    write = Proposal(Call("c", "Edit", ""), "Edit", {}, (Writes(f"{CWD}/a"),))
    assert isinstance(keeper.judge(write), expected)
    assert isinstance(keeper.judge(bash("ls")), Allow), "reading loses nothing"
    ruled = gate(mode, saved=lambda: saved, allow=["Edit"])
    assert isinstance(ruled.judge(write), Allow)


def test_after_a_call_a_hook_may_object_add_and_stop() -> None:
    seen: list[AfterCall] = []

    def looks(event: AfterCall) -> HookAnswer:
        seen.append(event)
        return HookAnswer("deny", "it broke the build", context="see log", stop="enough")

    keeper = gate(hooks=HookSet(after_call=(looks,)))
    revised = asyncio.run(keeper.review(bash("make"), done("built")))
    assert seen[0].outcome == done("built")
    assert isinstance(revised.outcome, Failed)
    text = text_of(revised.outcome)
    assert "built" in text and "it broke the build" in text and "has taken place" in text
    assert "see log" in text
    assert revised.stop == "enough"


def test_without_objection_the_outcome_stays_what_it_is() -> None:
    keeper = gate(hooks=HookSet(after_call=(lambda e: HookAnswer(context="more"),)))
    revised = asyncio.run(keeper.review(bash("make"), done("built", {"a": 1})))
    assert isinstance(revised.outcome, Done) and revised.outcome.data == {"a": 1}
    assert text_of(revised.outcome) == "built\n\nmore"
    assert asyncio.run(gate().review(bash("make"), done("x"))).outcome == done("x")


def test_prompt_hooks_add_text_or_block() -> None:
    seen: list[Submitted] = []

    def adds(event: Submitted) -> HookAnswer:
        seen.append(event)
        return HookAnswer(context="note")

    keeper = gate(hooks=HookSet(submitted=(adds,)))
    assert asyncio.run(keeper.prompted((Text("hi"),))) == "note"
    assert seen == [Submitted("hi")]
    blocking = gate(hooks=HookSet(submitted=(lambda e: HookAnswer("deny", "not today"),)))
    with pytest.raises(PromptBlocked, match="not today"):
        asyncio.run(blocking.prompted((Text("hi"),)))
    assert asyncio.run(gate().prompted((Text("hi"),))) == ""


def test_stop_hooks_give_feedback_or_let_it_end() -> None:
    def again(event: Stopping) -> HookAnswer:
        return HookAnswer("deny", f"go on: {event.text} {event.again}")

    keeper = gate(hooks=HookSet(stopping=(again, lambda e: HookAnswer("allow", "unheard"))))
    assert asyncio.run(keeper.stopping("done", True)) == "go on: done True"
    assert asyncio.run(gate().stopping("done", False)) == ""


def test_the_mode_can_be_changed_and_named() -> None:
    keeper = gate()
    keeper.mode = parse_mode("plan")
    write = Proposal(Call("c", "Edit", ""), "Edit", {}, (Writes(f"{CWD}/a"),))
    assert isinstance(keeper.judge(write), Deny)
    assert parse_mode("manual") == "default"
    with pytest.raises(BadInput, match="acceptEdits"):
        parse_mode("yolo")


@pytest.mark.parametrize(
    ("effects", "harmless"),
    [
        ((), True),
        ((Reads(f"{CWD}/a"),), True),
        ((Reads("/etc/hosts"),), False),
        ((Runs("ls -la | wc -l"),), True),
        ((Runs("ls; make"),), False),
        ((Reads(f"{CWD}/a"), Writes(f"{CWD}/a")), False),
        ((Connects("x"),), False),
        ((Connects("x", only_asks=True),), True),
        ((Connects("x", only_asks=True), Writes(f"{CWD}/a")), False),
    ],
)
def test_harmless_calls_may_run_together(effects: Any, harmless: bool) -> None:
    assert gate().harmless(Proposal(Call("c", "T", ""), "T", {}, effects)) is harmless


def test_a_restriction_meets_every_tool_that_touches_the_same_thing() -> None:
    def judged(*effects: Any, **rules: Any) -> type:
        return type(gate(**rules).judge(Proposal(Call("c", "mine", ""), "mine", {}, effects)))

    assert judged(Reads(f"{CWD}/private/x"), deny=["Read(private/**)"]) is Deny
    assert judged(Writes(f"{CWD}/gen/x"), deny=["Edit(gen/**)"], allow=["mine"]) is Deny
    assert judged(Runs("docker push"), deny=["Bash(docker push:*)"], allow=["mine"]) is Deny
    assert judged(Runs("ls"), deny=["Bash"]) is Deny


def test_an_allow_rule_covers_all_that_a_call_touches_or_nothing() -> None:
    def judged(*effects: Any, allow: str) -> type:
        call = Proposal(Call("c", "Edit", ""), "Edit", {}, effects)
        return type(gate(allow=[allow]).judge(call))

    inside, outside = f"{CWD}/docs/a", "/etc/hosts"
    assert judged(Writes(inside), allow="Edit(docs/**)") is Allow
    assert judged(Writes(inside), Reads(outside), allow="Edit(docs/**)") is Ask
    assert judged(Reads(inside), Writes(inside), allow="Read(docs/**)") is Ask
    assert judged(Writes(inside), Connects("x"), allow="Edit(docs/**)") is Ask


def test_a_pipe_in_the_workspace_is_no_file(tmp_path: Path) -> None:
    real = os.path.realpath(tmp_path)
    os.mkfifo(f"{real}/pipe")
    keeper = Gatekeeper(Workspace(real, (real,), "/home/dev"))
    read = Proposal(Call("c", "Read", ""), "Read", {}, (Reads(f"{real}/pipe"),))
    assert isinstance(keeper.judge(read), Ask)
    assert isinstance(keeper.judge(bash("cat pipe")), Ask)


def test_relative_words_start_at_the_workspace_not_at_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Path(os.path.realpath(tmp_path))
    (real / "app").mkdir()
    (real / "app" / ".git").mkdir()
    (real / "app" / "link").symlink_to(".git")
    (real / "elsewhere").mkdir()
    monkeypatch.chdir(real / "elsewhere")
    cwd = str(real / "app")
    keeper = Gatekeeper(Workspace(cwd, (cwd,), "/home/dev"), mode="acceptEdits")
    assert isinstance(keeper.judge(bash("cp a link/config")), Ask)


def test_a_long_hostile_text_is_judged_soon() -> None:
    """Work grows with the text, not with its square: this would take minutes otherwise."""
    keeper = gate("bypassPermissions", deny=["Bash(docker push:*)", "Read(private/**)"])
    texts = ["rm " + "a " * 4000, "sudo " + "a " * 2000, "cd a; " * 3000 + "cat b", '"' * 20_001]
    assert [type(keeper.judge(bash(text))) for text in texts] == [Allow, Allow, Ask, Ask]
