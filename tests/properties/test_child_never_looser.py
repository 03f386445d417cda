"""Nothing that a subagent is, or whoever answers for it, makes it decide looser than its parent.

Over all permission examples, in every mode of the parent and of the two below it, with hooks that
allow everything, in folders of their own, and with rules that hypothesis makes up.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from detent.app.permissions.calls import NotTaken, Proposer
from detent.gate.child import Child, ChildGate
from detent.gate.gate import Gatekeeper
from detent.gate.hooks import HookAnswer, HookSet
from detent.gate.rules import parse_rule
from detent.gate.terms import KindLimits, Mode, Origin, RuleSet, Workspace
from detent.ports import Admitted, Answer, Proposal, Question
from detent.tools.registry import canonical_name
from detent.types.content import Call
from detent.types.effects import Asks, Connects, Effect, Reads, Runs, Spawns, Writes
from detent.types.verdicts import Allow, Ask, Verdict

FILES = sorted((Path(__file__).parents[1] / "corpora").glob("*.jsonl"))
MODES: tuple[Mode, ...] = get_args(Mode)
OWN: tuple[Mode | None, ...] = (None, *MODES)
COMBINATIONS = [*product(MODES, OWN, OWN)]
"""Of the session, its child and the child of that."""
HOME = "/home/dev"
EACH = 2
"""Combinations that each example is tried in: together they are all, many times over."""
STRIDE = 101
"""Has no divisor in common with the number of combinations."""


class Example:
    def __init__(self, line: str, proposer: Proposer) -> None:
        case = json.loads(line)
        self.id, self.cwd = case["id"], case["cwd"]
        self.rules = RuleSet(
            **{
                kind: tuple(rule(text, self.cwd) for text in case["rules"][kind])
                for kind in ("allow", "ask", "deny")
            }
        )
        arguments = {"command": case["command"]} if case["tool"] == "Bash" else case["input"]
        self.proposal: Proposal | None = None
        with suppress(NotTaken):  # then it never comes before a gate
            self.proposal = proposer.propose(case["tool"], arguments, self.cwd)


def rule(text: str, folder: str) -> Any:
    return parse_rule(text, canonical_name, Origin("project", folder=folder))


@cache
def examples() -> tuple[Example, ...]:
    proposer = Proposer()
    lines = [line for path in FILES for line in path.read_text().splitlines()]
    found = (Example(line, proposer) for line in lines)
    return tuple(each for each in found if each.proposal is not None)


def strictness(verdict: Verdict) -> int:
    return 0 if isinstance(verdict, Allow) else 1 if isinstance(verdict, Ask) else 2


def below(above: Gatekeeper, workspace: Workspace, mode: Mode | None, **more: Any) -> ChildGate:
    number = len(above.below)
    child = Child(
        agent=f"a{number}", kind="k", name=f"k {number}", modes=(mode,) if mode else (), **more
    )
    return ChildGate(above, workspace, child)


def chain(
    rules: RuleSet, cwd: str, modes: Sequence[Mode | None], *, apart: bool = False, **parts: Any
) -> list[Gatekeeper]:
    """A session, its child and the child of that; `apart`: the child has a copy of the folder."""
    here = Workspace(cwd, (cwd,), HOME)
    session = Gatekeeper(here, mode=modes[0] or "default", rules=rules, **parts)
    copy = f"{cwd}/.detent-worktrees/a"
    there = Workspace(copy, (copy,), HOME) if apart else here
    child = below(session, there, modes[1], copy_of=cwd if apart else "")
    return [session, child, below(child, there, modes[2])]


def never_looser(gates: list[Gatekeeper], proposal: Proposal) -> bool:
    found = [strictness(gate.judge(proposal)) for gate in gates]
    return found == sorted(found)


class Nobody:
    def __init__(self) -> None:
        self.asked = 0

    async def ask(self, question: Question) -> Answer:
        self.asked += 1
        return Answer(True, by="test")


async def come_to(gate: Gatekeeper, proposal: Proposal) -> int:
    """How hard it is to get a call through: by itself, with a question, or not at all."""
    nobody = Nobody()
    admitted = await gate.admit(proposal, lambda changed: proposal, nobody)
    if not isinstance(admitted, Admitted):
        return 2
    return 1 if nobody.asked else 0


def spread() -> Iterator[tuple[Example, tuple[Mode | None, ...], bool]]:
    place = 0
    for number, example in enumerate(examples()):
        for _ in range(EACH):
            place = (place + STRIDE) % len(COMBINATIONS)
            yield example, COMBINATIONS[place], number % 3 == 0


def test_every_combination_is_tried_on_the_examples() -> None:
    tried = [modes for _, modes, _ in spread()]
    assert set(tried) == set(COMBINATIONS)
    assert len(examples()) > 3_000


def test_no_example_is_judged_looser_below() -> None:
    wrong = []
    for example, modes, apart in spread():
        assert example.proposal is not None
        gates = chain(example.rules, example.cwd, modes, apart=apart)
        if not never_looser(gates, example.proposal):
            wrong.append((example.id, modes, apart))
    assert wrong == []


def allowing(event: Any) -> HookAnswer:
    return HookAnswer("allow")


@pytest.mark.parametrize("moment", ["before_call", "permission_asked"])
def test_nor_where_a_hook_allows_everything(moment: str) -> None:
    async def tried() -> list[Any]:
        wrong = []
        hooks = HookSet(**{moment: (allowing,)})
        for example, modes, apart in [*spread()][:: 2 * EACH]:
            proposal = example.proposal
            assert proposal is not None
            gates = chain(example.rules, example.cwd, modes, apart=apart, hooks=hooks)
            found = [await come_to(gate, proposal) for gate in gates]
            if found != sorted(found):
                wrong.append((example.id, modes, found))
        return wrong

    assert asyncio.run(tried()) == []


RULES = st.lists(
    st.sampled_from(
        ["Bash", "Bash(npm:*)", "Bash(git status)", "Bash(rm:*)", "Read", "Read(docs/**)",
         "Read(/private/**)", "Read(//w/app/private/**)", "Edit", "Edit(docs/**)", "Edit(/docs/a)",
         "Write", "Agent", "Agent(Explore)", "Task(explore)", "WebFetch(domain:x.test)",
         "mcp__s", "mcp__s__t"]
    ),
    max_size=3,
)  # fmt: skip
CWD = "/w/app"
CALLS: st.SearchStrategy[tuple[str, Effect]] = st.sampled_from(
    [
        *(("Bash", Runs(command)) for command in (
            "npm test", "git status", "rm x", "rm -rf /etc", "cat docs/a", "cat private/k",
            "echo x > docs/a", "cat .env", "ls", "cd .detent-worktrees/a && cat private/k",
            "python3 x.py", "$X push",
        )),
        ("Bash", Runs("ls", outside=True)),
        ("Read", Reads(f"{CWD}/docs/a")),
        ("Read", Reads(f"{CWD}/.detent-worktrees/a/private/k")),
        ("Read", Reads("/etc/hosts")),
        ("Edit", Writes(f"{CWD}/docs/a")),
        ("Edit", Writes(f"{CWD}/.detent-worktrees/a/docs/a")),
        ("Write", Writes(f"{CWD}/.git/config")),
        ("mcp__s__t", Connects("*")),
        ("WebFetch", Connects("x.test")),
        ("Agent", Spawns("Explore")),
        ("delegate_agent", Spawns("explore")),
        ("Ask", Asks()),
        ("ExitPlanMode", Asks(leaves="plan")),
    ]
)  # fmt: skip
SETS = st.fixed_dictionaries({"allow": RULES, "ask": RULES, "deny": RULES})


@given(
    call=CALLS, rules=SETS, agreed=SETS, modes=st.sampled_from(COMBINATIONS),
    then=st.sampled_from(MODES), apart=st.booleans(), own=RULES, looks=st.booleans(),
)  # fmt: skip
@settings(max_examples=250, deadline=None)
def test_nor_by_any_rules_nor_by_what_changes_meanwhile(
    call: tuple[str, Effect],
    rules: dict[str, list[str]],
    agreed: dict[str, list[str]],
    modes: tuple[Mode | None, ...],
    then: Mode,
    apart: bool,
    own: list[str],
    looks: bool,
) -> None:
    given_rules = {kind: tuple(rule(t, CWD) for t in texts) for kind, texts in rules.items()}
    gates = chain(RuleSet(**given_rules), CWD, modes, apart=apart)
    session, lowest = gates[0], gates[-1]
    deny = tuple(rule(text, CWD) for text in own)
    gates.append(below(lowest, lowest.workspace, None, deny=deny, limits=KindLimits(looks)))
    proposal = Proposal(Call("c", call[0], "{}"), call[0], {}, (call[1],), CWD)
    assert never_looser(gates, proposal)
    for kind, texts in agreed.items():
        asyncio.run(gates[-1]._keep(kind, tuple(texts), "session"))
    assert never_looser(gates, proposal)
    session.mode = then
    assert never_looser(gates, proposal)


@given(call=CALLS, rules=SETS, modes=st.sampled_from(COMBINATIONS), apart=st.booleans())
@settings(max_examples=150, deadline=None)
def test_a_rule_that_is_offered_would_permit_the_call_once_agreed(
    call: tuple[str, Effect],
    rules: dict[str, list[str]],
    modes: tuple[Mode | None, ...],
    apart: bool,
) -> None:
    given_rules = {kind: tuple(rule(t, CWD) for t in texts) for kind, texts in rules.items()}
    proposal = Proposal(Call("c", call[0], "{}"), call[0], {}, (call[1],), CWD)
    verdict = chain(RuleSet(**given_rules), CWD, modes, apart=apart)[-1].judge(proposal)
    for offered in verdict.rules if isinstance(verdict, Ask) else ():
        gate = chain(RuleSet(**given_rules), CWD, modes, apart=apart)[-1]
        asyncio.run(gate._keep("allow", (offered,), "session"))
        assert isinstance(gate.judge(proposal), Allow), (offered, gate.judge(proposal))
