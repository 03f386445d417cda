"""Calls that ask the person something: no mode, rule or hook answers for them."""

from __future__ import annotations

import asyncio
from typing import Any, get_args

import pytest

from detent.gate.gate import Gatekeeper
from detent.gate.hooks import HookAnswer, HookSet
from detent.gate.rules import parse_rule
from detent.gate.terms import Mode, RuleSet, Workspace
from detent.ports import Admitted, Answer, Proposal, Question
from detent.types.content import Call
from detent.types.effects import Asks, Effect, Writes
from detent.types.outcomes import Refused
from detent.types.verdicts import Allow, Ask, Deny

MODES = get_args(Mode)
ASKING = tuple(mode for mode in MODES if mode != "dontAsk")


class Person:
    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.asked = 0

    async def ask(self, question: Question) -> Answer:
        self.asked += 1
        return self.answer


def gate(mode: Any, **parts: Any) -> Gatekeeper:
    rules = {name: tuple(parse_rule(r, str) for r in parts.pop(name, ())) for name in ("allow",)}
    return Gatekeeper(Workspace("/p", ("/p",), "/h"), mode=mode, rules=RuleSet(**rules), **parts)


def proposal(*effects: Effect, **arguments: Any) -> Proposal:
    return Proposal(Call("c", "Q", "{}"), "Q", arguments, effects or (Asks(),))


def admit(keeper: Gatekeeper, person: Person, *effects: Effect) -> Any:
    def again(changed: dict[str, Any]) -> Proposal:
        return proposal(*effects, **changed)

    return asyncio.run(keeper.admit(proposal(*effects), again, person))


@pytest.mark.parametrize("rules", [(), ("Q",)])
@pytest.mark.parametrize("mode", ASKING)
def test_it_is_put_before_the_person_in_every_mode_that_can_ask(mode: str, rules: Any) -> None:
    assert isinstance(gate(mode, allow=rules).judge(proposal()), Ask)
    person = Person(Answer(True, arguments={"answers": {"a": "b"}}))
    admitted = admit(gate(mode, allow=rules), person)
    assert person.asked == 1
    assert isinstance(admitted, Admitted) and admitted.arguments == {"answers": {"a": "b"}}


@pytest.mark.parametrize("rules", [(), ("Q",)])
def test_where_nobody_may_be_asked_it_is_denied(rules: Any) -> None:
    assert isinstance(gate("dontAsk", allow=rules).judge(proposal()), Deny)


@pytest.mark.parametrize("mode", MODES)
def test_leaving_a_mode_one_is_not_in_is_refused_without_asking(mode: str) -> None:
    person = Person(Answer(True))
    outcome = admit(gate(mode, allow=["Q"]), person, Asks(leaves="plan"))
    assert (person.asked, isinstance(outcome, Admitted)) == (
        (1, True) if mode == "plan" else (0, False)
    )
    if mode != "plan":
        assert isinstance(outcome, Refused) and "not in plan mode" in outcome.reason


def test_a_question_does_not_make_the_rest_of_a_call_milder() -> None:
    both = (Asks(), Writes("/p/x"))
    assert isinstance(gate("plan", allow=["Q"]).judge(proposal(*both)), Deny)


def test_a_no_reaches_the_model() -> None:
    """In the user's own words, told apart from ours."""

    def said(answer: Answer) -> str:
        outcome = admit(gate("plan"), Person(answer), Asks(leaves="plan"))
        assert isinstance(outcome, Refused)
        return outcome.reason

    asked = "Leaving plan mode needs the user's consent."
    assert said(Answer(False, "Tests first.")) == f"The user said: Tests first. {asked}"
    assert said(Answer(False, " too vague", by="host")) == f"The user said: too vague. {asked}"
    assert said(Answer(False)) == f"{asked} The user denied it."
    assert said(Answer(False, "Nobody is here.", by="x")) == f"{asked} Nobody is here."


def test_a_hook_answers_only_with_an_answer() -> None:
    """Its plain consent is none; with arguments it speaks for the person."""

    def hook(**answer: Any) -> HookSet:
        return HookSet(before_call=(lambda event: HookAnswer("allow", **answer),))

    person = Person(Answer(True))
    assert admit(gate("default", hooks=hook()), person).verdict == Allow("person")
    assert person.asked == 1
    answered = admit(gate("default", hooks=hook(arguments={"answers": {}})), person)
    assert answered.verdict == Allow("hook") and person.asked == 1


def test_the_mode_to_return_to() -> None:
    keeper = gate("plan")
    assert keeper.usual_mode == "default"
    keeper.mode = "acceptEdits"
    keeper.mode = "plan"
    keeper.mode = "plan"
    assert (keeper.mode, keeper.usual_mode) == ("plan", "acceptEdits")
