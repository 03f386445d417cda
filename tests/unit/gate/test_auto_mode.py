"""Mode `auto`: a classifier stands between the rules and the person, and only there (F048)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from detent.gate.gate import Gatekeeper
from detent.gate.rules import parse_rule
from detent.gate.terms import Mode, RuleSet, Workspace
from detent.ports import Admitted, Answer, Proposal, Question
from detent.types.content import Call
from detent.types.effects import Effect, Reads, Runs, Writes
from detent.types.outcomes import Refused
from detent.types.verdicts import Allow, Ask, Deny, Verdict

YES, NO, UNSURE = Allow("classifier m", "fine"), Deny("classifier m", "bad"), Ask("classifier m")


class Classifier:
    def __init__(self, verdict: Verdict) -> None:
        self.verdict = verdict
        self.asked: list[Proposal] = []

    async def classify(self, proposal: Proposal, reason: str) -> Verdict:
        self.asked.append(proposal)
        return self.verdict

    async def aclose(self) -> None:
        pass


class Person:
    def __init__(self) -> None:
        self.asked: list[Question] = []

    async def ask(self, question: Question) -> Answer:
        self.asked.append(question)
        return Answer(True, by="person")


def proposal(effect: Effect) -> Proposal:
    tool = {Runs: "Bash", Reads: "Read", Writes: "Write"}[type(effect)]
    return Proposal(Call("c", tool, "{}"), tool, {}, (effect,))


def passed(
    effect: Effect,
    verdict: Verdict,
    *,
    mode: Mode = "auto",
    classifies: bool = True,
    **lists: tuple[str, ...],
) -> tuple[Any, list[Proposal], list[Question]]:
    rules = {name: tuple(parse_rule(t, str) for t in texts) for name, texts in lists.items()}
    gate = Gatekeeper(Workspace("/p", ("/p",), "/h"), mode=mode, rules=RuleSet(**rules))
    classifier, person = Classifier(verdict), Person()
    if classifies:
        gate.classifier = classifier
    call = proposal(effect)
    admitted = asyncio.run(gate.admit(call, lambda arguments: call, person))
    return admitted, classifier.asked, person.asked


def test_what_no_rule_decides_is_its_to_decide() -> None:
    admitted, _, asked = passed(Runs("make all"), YES)
    assert isinstance(admitted, Admitted) and admitted.verdict == YES and not asked
    refused, _, asked = passed(Runs("make all"), NO)
    assert refused == Refused("bad", "classifier m") and not asked


def test_when_it_is_not_sure_the_person_is_asked_and_sees_the_rules() -> None:
    admitted, _, asked = passed(Runs("make all"), UNSURE)
    assert isinstance(admitted, Admitted) and admitted.verdict.source == "person"
    assert [question.rules[0] for question in asked] == ["Bash(make all)"]


@pytest.mark.parametrize("mode", ["default", "acceptEdits"])
def test_no_other_mode_asks_it(mode: Mode) -> None:
    _, classified, asked = passed(Runs("make all"), YES, mode=mode)
    assert not classified and asked


def test_without_one_the_mode_is_as_default() -> None:
    _, _, asked = passed(Runs("make all"), YES, classifies=False)
    assert asked
    admitted, _, asked = passed(Runs("ls"), YES, classifies=False)
    assert isinstance(admitted, Admitted) and not asked


def test_what_is_allowed_anyway_is_not_put_to_it() -> None:
    for effect in (Runs("ls"), Runs("make all")):
        admitted, classified, _ = passed(effect, NO, allow=("Bash(make:*)",))
        assert isinstance(admitted, Admitted) and not classified


def test_it_never_beats_a_deny_rule() -> None:
    refused, classified, asked = passed(Runs("make all"), YES, deny=("Bash(make:*)",))
    assert isinstance(refused, Refused) and not classified and not asked


@pytest.mark.parametrize(
    ("effect", "lists"),
    [
        (Runs("make all"), {"ask": ("Bash(make:*)",)}),
        (Runs("rm -rf /etc"), {}),
        (Writes("/p/.git/config"), {}),
        (Reads("/p/.env"), {}),
        (Writes("/p/.env"), {}),
        (Runs("cat .env"), {}),
        (Runs("make all", outside=True), {}),
    ],
)
def test_what_is_for_a_person_stays_with_the_person(
    effect: Effect, lists: dict[str, tuple[str, ...]]
) -> None:
    _, classified, asked = passed(effect, YES, **lists)
    assert asked and not classified
