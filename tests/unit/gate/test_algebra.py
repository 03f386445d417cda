"""Verdicts as an algebra: the strictest wins, order cannot matter, rules are monotone (I9)."""

from __future__ import annotations

import itertools
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from detent.gate.gate import Gatekeeper
from detent.gate.rules import Rule, parse_rule
from detent.gate.terms import Mode, RuleSet, Workspace
from detent.ports import Proposal
from detent.tools.registry import canonical_name
from detent.types.content import Call
from detent.types.effects import Asks, Connects, Effect, Reads, Runs, Spawns, Writes
from detent.types.verdicts import Allow, Ask, Deny, Verdict, strictest

STRICTNESS = {Allow: 0, Ask: 1, Deny: 2}
VERDICTS = st.sampled_from([Allow("a"), Ask("b"), Deny("c")])
RULES = [
    parse_rule(text, canonical_name)
    for text in (
        "Bash", "Bash(npm:*)", "Bash(npm run:*)", "Bash(npm run build)", "Bash(* x)", "Bash(cat:*)",
        "Bash(echo:*)", "Bash(rm:*)", "Read", "Read(docs/**)", "Read(.env)", "Read(//etc/**)",
        "Edit", "Edit(docs/**)", "Edit(**)", "Write(docs/**)", "mcp__s", "mcp__s__*", "mcp__*",
        "WebFetch", "WebFetch(domain:x.test)",
    )
]  # fmt: skip
CALLS: list[tuple[str, Effect]] = [
    *(
        ("Bash", Runs(text))
        for text in (
            "npm run build", "npm test", "npm $X", "cat docs/a", "cat .env", "echo x",
            "echo /dev/sda", "echo x > docs/a", "echo x > .git/config", "rm -rf /etc", "rm x",
            "env rm x", "ls", "ls *", "cat /proc/self/environ", "cat .git/config", "cp a .git/b",
            "grep -r x .", "mkdir d",
        )
    ),
    *(("Read", Reads(path)) for path in ("/w/app/docs/a", "/w/app/.env", "/etc/hosts", "/dev/sda")),
    *(("Edit", Writes(path)) for path in ("/w/app/docs/a", "/w/app/.git/config", "/etc/hosts")),
    ("Write", Writes("/w/app/docs/a")),
    ("mcp__s__t", Connects("*")),
    ("WebFetch", Connects("x.test")),
    ("Task", Spawns("x")),
    ("AskUser", Asks()),
]  # fmt: skip
MODES: list[Mode] = ["default", "acceptEdits", "plan", "dontAsk", "bypassPermissions"]
RULE_LISTS = st.lists(st.sampled_from(RULES), max_size=3).map(tuple)


def judge(mode: Mode, call: tuple[str, Effect], **rules: Any) -> int:
    gate = Gatekeeper(
        Workspace("/w/app", ("/w/app",), "/home/dev"), mode=mode, rules=RuleSet(**rules)
    )
    name, effect = call
    return STRICTNESS[type(gate.judge(Proposal(Call("c", name, "{}"), name, {}, (effect,))))]


@given(st.lists(VERDICTS, min_size=1, max_size=4))
def test_the_order_of_judges_cannot_matter(verdicts: list[Verdict]) -> None:
    kinds = {type(strictest(*order)) for order in itertools.permutations(verdicts)}
    assert kinds == {max((type(v) for v in verdicts), key=STRICTNESS.__getitem__)}


def test_among_equals_the_first_gives_the_reason() -> None:
    assert strictest(Ask("one"), Ask("two")).source == "one"


@given(st.sampled_from(MODES), st.sampled_from(CALLS), RULE_LISTS, RULE_LISTS, RULE_LISTS,
       st.sampled_from(RULES))  # fmt: skip
def test_adding_a_restriction_never_loosens(
    mode: Mode,
    call: tuple[str, Effect],
    allow: tuple[Rule, ...],
    ask: tuple[Rule, ...],
    deny: tuple[Rule, ...],
    rule: Rule,
) -> None:
    before = judge(mode, call, allow=allow, ask=ask, deny=deny)
    assert judge(mode, call, allow=allow, ask=ask, deny=(*deny, rule)) >= before
    assert judge(mode, call, allow=allow, ask=(*ask, rule), deny=deny) >= before


@given(st.sampled_from(MODES), st.sampled_from(CALLS), RULE_LISTS, RULE_LISTS, RULE_LISTS,
       st.sampled_from(RULES))  # fmt: skip
def test_removing_an_allow_rule_never_loosens(
    mode: Mode,
    call: tuple[str, Effect],
    allow: tuple[Rule, ...],
    ask: tuple[Rule, ...],
    deny: tuple[Rule, ...],
    rule: Rule,
) -> None:
    after = judge(mode, call, allow=allow, ask=ask, deny=deny)
    assert judge(mode, call, allow=(*allow, rule), ask=ask, deny=deny) <= after


@given(st.sampled_from(MODES), st.sampled_from(CALLS), st.permutations(RULES).map(lambda r: r[:4]))
def test_the_order_of_rules_cannot_matter(
    mode: Mode, call: tuple[str, Effect], rules: list[Rule]
) -> None:
    for name in ("allow", "ask", "deny"):
        assert judge(mode, call, **{name: tuple(rules)}) == judge(
            mode, call, **{name: tuple(reversed(rules))}
        )


@given(st.sampled_from(MODES), st.lists(st.sampled_from(CALLS), min_size=2, max_size=3))
def test_a_call_is_as_strict_as_its_strictest_effect(
    mode: Mode, calls: list[tuple[str, Effect]]
) -> None:
    gate = Gatekeeper(Workspace("/w/app", ("/w/app",), "/home/dev"), mode=mode)
    effects = tuple(effect for _, effect in calls)
    whole = gate.judge(Proposal(Call("c", "T", "{}"), "T", {}, effects))
    alone = [judge(mode, ("T", effect)) for effect in effects]
    assert STRICTNESS[type(whole)] == max(alone)


def test_dont_ask_never_asks() -> None:
    for call, rule in itertools.product(CALLS, RULES):
        for name in ("allow", "ask", "deny"):
            assert judge("dontAsk", call, **{name: (rule,)}) != STRICTNESS[Ask]


def test_a_bare_deny_beats_every_allow() -> None:
    everything = tuple(RULES)
    for mode in MODES:
        deny = (parse_rule("Bash", canonical_name),)
        assert judge(mode, ("Bash", Runs("ls")), allow=everything, deny=deny) == STRICTNESS[Deny]
