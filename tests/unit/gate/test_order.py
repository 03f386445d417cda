"""D01: hooks first or permission first. In both a denied call never runs."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from detent.gate.gate import Gatekeeper
from detent.gate.hooks import HookAnswer, HookSet
from detent.gate.rules import parse_rule
from detent.gate.terms import RuleSet, Workspace
from detent.ports import Admitted, Answer, Proposal, Question, Stopped
from detent.types.content import Call
from detent.types.effects import Runs
from detent.types.outcomes import Refused


class Line:
    """Who was asked, in order."""

    def __init__(self, allowed: bool = True, **answer: Any) -> None:
        self.asked: list[str] = []
        self._answer = Answer(allowed, **answer)

    async def ask(self, question: Question) -> Answer:
        self.asked.append(f"person: {question.proposal.arguments['command']}")
        return self._answer


def propose(given: dict[str, Any]) -> Proposal:
    return Proposal(Call("c", "Bash", ""), "Bash", given, (Runs(given["command"]),))


def admit(command: str, line: Line, *, hooks_first: bool, deny: str = "", **hook: Any) -> Any:
    def before(event: Any) -> HookAnswer:
        line.asked.append(f"hook: {event.arguments['command']}")
        return HookAnswer(**hook)

    gate = Gatekeeper(
        Workspace("/p", ("/p",), "/home/u"),
        rules=RuleSet(deny=(parse_rule(deny, str),) if deny else ()),
        hooks=HookSet(before_call=(before,)),
        hooks_first=hooks_first,
    )
    return asyncio.run(gate.admit(propose({"command": command}), propose, line))


@pytest.mark.parametrize("hooks_first", [True, False])
def test_the_order(hooks_first: bool) -> None:
    line = Line()
    assert isinstance(admit("make", line, hooks_first=hooks_first), Admitted)
    expected = ["hook: make", "person: make"]
    assert line.asked == (expected if hooks_first else expected[::-1])


@pytest.mark.parametrize("hooks_first", [True, False])
def test_a_deny_rule_comes_before_both(hooks_first: bool) -> None:
    line = Line()
    outcome = admit("make", line, hooks_first=hooks_first, deny="Bash(make)", decision="allow")
    assert isinstance(outcome, Refused) and line.asked == []


@pytest.mark.parametrize("hooks_first", [True, False])
def test_a_hook_that_denies_is_final(hooks_first: bool) -> None:
    assert isinstance(admit("ls", Line(), hooks_first=hooks_first, decision="deny"), Refused)
    assert isinstance(admit("ls", Line(), hooks_first=hooks_first, stop="enough"), Stopped)


def test_a_refused_call_is_not_shown_to_hooks_when_permission_comes_first() -> None:
    line = Line(allowed=False)
    assert isinstance(admit("make", line, hooks_first=False), Refused)
    assert line.asked == ["person: make"]


def test_what_a_hook_changed_is_checked_again() -> None:
    line = Line()
    changed = {"command": "make clean"}
    admitted = admit("ls", line, hooks_first=False, arguments=changed)
    assert line.asked == ["hook: ls", "person: make clean"]
    assert isinstance(admitted, Admitted) and admitted.arguments == changed
    refused = admit("ls", Line(), hooks_first=False, arguments=changed, deny="Bash(make:*)")
    assert isinstance(refused, Refused)


def test_what_the_person_changed_is_what_the_hook_sees_and_what_runs() -> None:
    line = Line(arguments={"command": "make -n"})
    admitted = admit("make", line, hooks_first=False)
    assert line.asked == ["person: make", "hook: make -n"]
    assert isinstance(admitted, Admitted) and admitted.arguments == {"command": "make -n"}


def test_a_hooks_allow_does_not_stand_in_for_the_person() -> None:
    line = Line(allowed=False)
    assert isinstance(admit("make", line, hooks_first=False, decision="allow"), Refused)
