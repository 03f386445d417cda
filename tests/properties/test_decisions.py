"""Laws of the decision: restrictions restrict, permissions permit, and disguise gains nothing."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from detent.gate.judging import decide
from detent.gate.rules import parse_rule
from detent.gate.terms import Mode, Policy, Rule, RuleSet, Workspace
from detent.ports import Proposal
from detent.types.content import Call
from detent.types.effects import Asks, Connects, Effect, Reads, Runs, Spawns, Writes
from detent.types.verdicts import Allow, Ask, Deny

CWD, HOME = "/w/app", "/home/dev"
STRICTNESS = {Allow: 0, Ask: 1, Deny: 2}
MODES: tuple[Mode, ...] = get_args(Mode)
PIECES = st.sampled_from(
    ["npm test", "npm run build", "docker push x", "git commit -m 'a b'", "git status", "ls",
     "ls *.py",
     "cat docs/a", "cat .env", "cat private/k", "grep -r x .", "cd docs", "cd /tmp", "rm x",
     "rm -rf /etc", "mkdir d", "cp a b", "mv a b", "ln -s / l", "cat l/etc", "touch .envrc",
     "echo x > docs/a", "echo x > .git/config", "echo x > /tmp/y", "npm $X", 'npm "$X"', "$X push",
     "sh -c 'docker push x'", "env A=1 npm test", "xargs docker push", "npm test < docs/a",
     "cat /proc/1/environ", "A=1 npm test", "CI=1 npm test", "./npm test", "python3 x.py", "`x`"]
)  # fmt: skip
COMMANDS = st.builds(
    lambda pieces, joint: joint.join(pieces),
    st.lists(PIECES, min_size=1, max_size=3),
    st.sampled_from([" && ", "; ", " | ", "\n", " || "]),
)
EFFECTS: st.SearchStrategy[tuple[str, Effect]] = st.one_of(
    COMMANDS.map(lambda text: ("Bash", Runs(text))),
    st.sampled_from(
        [
            ("Bash", Runs("ls", outside=True)),
            ("Read", Reads(f"{CWD}/docs/a")),
            ("Read", Reads(f"{CWD}/.env")),
            ("Read", Reads("/etc/hosts")),
            ("Read", Reads("/dev/sda")),
            ("Grep", Reads(CWD)),
            ("Grep", Reads(f"{CWD}/private")),
            ("Edit", Writes(f"{CWD}/docs/a")),
            ("Write", Writes(f"{CWD}/.git/config")),
            ("Write", Writes(f"{CWD}/.env")),
            ("Edit", Writes("/etc/hosts")),
            ("mcp__s__t", Connects("*")),
            ("WebFetch", Connects("x.test")),
            ("WebFetch", Connects("127.0.0.1")),
            ("WebFetch", Connects("169.254.169.254")),
            ("Task", Spawns("x")),
            ("Ask", Asks()),
            ("ExitPlanMode", Asks(leaves="plan")),
        ]
    ),
)
RULES = st.sampled_from(
    [
        parse_rule(text, str)
        for text in (
            "Bash", "Bash(npm:*)", "Bash(npm test)", "Bash(docker push:*)", "Bash(docker:*)",
            "Bash(* x)", "Bash(git * -m:*)", "Bash(cat:*)", "Bash(rm:*)", "Bash(ln:*)",
            "Bash(cd:*)", "Bash(env:*)", "Bash(sh:*)", "Bash(./npm:*)", "Bash(echo:*)",
            "Bash(python3:*)", "Read", "Read(docs/**)", "Read(.env)", "Read(//etc/**)",
            "Read(private/**)",
            "Edit", "Edit(docs/**)", "Edit(**)", "Write(docs/**)", "Write", "Edit(.env)",
            "mcp__s", "mcp__s__*", "mcp__*", "*", "WebFetch", "WebFetch(domain:x.test)",
            "WebFetch(domain:*)", "WebFetch(domain:169.254.169.254)", "Task", "Agent(x)", "Ask",
        )
    ]
)  # fmt: skip
LISTS = st.lists(RULES, max_size=4).map(tuple)
POLICIES = st.builds(
    lambda mode, allow, ask, deny, saved, sandbox: Policy(
        RuleSet(allow, ask, deny), mode, Workspace(CWD, (CWD,), HOME), saved, sandbox
    ),
    st.sampled_from(MODES), LISTS, LISTS, LISTS, st.booleans(), st.booleans(),
)  # fmt: skip


def proposal(call: tuple[str, Effect]) -> Proposal:
    tool, effect = call
    return Proposal(Call("c", tool, "{}"), tool, {}, (effect,))


def strictness(policy: Policy, call: tuple[str, Effect]) -> int:
    return STRICTNESS[type(decide(policy, proposal(call)).verdict)]


def changed(policy: Policy, **lists: Any) -> Policy:
    rules = RuleSet(**{n: lists.get(n, getattr(policy.rules, n)) for n in ("allow", "ask", "deny")})
    return Policy(
        rules, lists.get("mode", policy.mode), policy.workspace, policy.is_saved,
        policy.trusts_sandbox,
    )  # fmt: skip


@given(POLICIES, EFFECTS, RULES)
def test_a_further_restriction_never_loosens(
    policy: Policy, call: tuple[str, Effect], rule: Rule
) -> None:
    before = strictness(policy, call)
    assert strictness(changed(policy, deny=(*policy.rules.deny, rule)), call) >= before
    assert strictness(changed(policy, ask=(*policy.rules.ask, rule)), call) >= before


@given(POLICIES, EFFECTS, RULES)
def test_a_deny_is_at_least_as_strict_as_an_ask(
    policy: Policy, call: tuple[str, Effect], rule: Rule
) -> None:
    asking = changed(policy, ask=(*policy.rules.ask, rule))
    denying = changed(policy, deny=(*policy.rules.deny, rule))
    assert strictness(denying, call) >= strictness(asking, call)


@given(POLICIES, EFFECTS, RULES)
def test_an_allow_rule_never_tightens(policy: Policy, call: tuple[str, Effect], rule: Rule) -> None:
    more = changed(policy, allow=(*policy.rules.allow, rule))
    assert strictness(more, call) <= strictness(policy, call)


@given(POLICIES, EFFECTS)
def test_the_order_of_rules_cannot_matter(policy: Policy, call: tuple[str, Effect]) -> None:
    rules = policy.rules
    turned = changed(policy, allow=rules.allow[::-1], ask=rules.ask[::-1], deny=rules.deny[::-1])
    assert strictness(turned, call) == strictness(policy, call)


@given(POLICIES, EFFECTS)
def test_nobody_is_asked_where_nobody_may_be(policy: Policy, call: tuple[str, Effect]) -> None:
    quiet = changed(policy, mode="dontAsk")
    verdict = decide(quiet, proposal(call)).verdict
    assert not isinstance(verdict, Ask)
    if isinstance(verdict, Deny):
        assert verdict.reason


@given(POLICIES, EFFECTS)
def test_bypassing_denies_only_by_rule(policy: Policy, call: tuple[str, Effect]) -> None:
    free = changed(policy, mode="bypassPermissions", deny=())
    verdict = decide(free, proposal(call)).verdict
    if isinstance(verdict, Deny):
        assert call in (("WebFetch", Connects("169.254.169.254")), ("ExitPlanMode", Asks("plan")))


@given(POLICIES, EFFECTS)
def test_every_offered_rule_permits(policy: Policy, call: tuple[str, Effect]) -> None:
    verdict = decide(policy, proposal(call)).verdict
    for text in verdict.rules if isinstance(verdict, Ask) else ():
        more = changed(policy, allow=(*policy.rules.allow, parse_rule(text, str)))
        assert isinstance(decide(more, proposal(call)).verdict, Allow)


@given(POLICIES, EFFECTS)
def test_an_explanation_is_of_the_same_decision(policy: Policy, call: tuple[str, Effect]) -> None:
    plain, explained = decide(policy, proposal(call)), decide(policy, proposal(call), explain=True)
    assert explained.verdict == plain.verdict and explained.rule == plain.rule
    rules = policy.rules
    assert len(explained.considered) == len((*rules.allow, *rules.ask, *rules.deny))
    matched = [each.list for each in explained.considered if each.matched]
    if "deny" in matched:
        assert isinstance(explained.verdict, Deny)
    elif "ask" in matched:
        assert not isinstance(explained.verdict, Allow)


WRAPPINGS = (
    "sudo {}", "env {}", "env A=1 {}", "timeout 5 {}", "time {}", "nice {}", "nohup {}",
    "command {}",
    "exec {}", "xargs {}", "setsid {}", "stdbuf -oL {}", "A=1 {}", "CI=1 {}", "({})", "{{ {}; }}",
    "! {}", "true && {}", "false || {}", "ls; {}", "{} | cat", "{} && true", "{} &",
    "if {}; then ls; fi",
    "while {}; do ls; done", "f() {{ {}; }}; f", 'echo "$({})"', "cat <<E\n$({})\nE", "{} > docs/a",
    "{} 2>&1", "cd docs && {}", "sh -c '{}'", "bash -lc '{}'", "eval '{}'",
)  # fmt: skip
SINGLE = ("npm test", "docker push x", "rm x", "rm -rf /etc", "cat private/k", "cat docs/a",
          "git status", "ls", "mkdir d", "./npm test", "python3 x.py", "cat /etc/hosts",
          "cat .env")  # fmt: skip


@pytest.mark.parametrize("wrapping", WRAPPINGS)
@settings(max_examples=30)
@given(policy=POLICIES, text=st.sampled_from(SINGLE))
def test_a_command_in_disguise_gains_nothing(wrapping: str, policy: Policy, text: str) -> None:
    plain, disguised = ("Bash", Runs(text)), ("Bash", Runs(wrapping.format(text)))
    assert strictness(policy, disguised) >= strictness(policy, plain)


@given(POLICIES, st.lists(PIECES, min_size=2, max_size=4))
def test_a_chain_is_at_least_as_strict_as_its_parts(policy: Policy, pieces: list[str]) -> None:
    whole = strictness(policy, ("Bash", Runs(" && ".join(pieces))))
    assert whole >= max(strictness(policy, ("Bash", Runs(piece))) for piece in pieces)


@given(POLICIES, PIECES)
def test_outside_the_sandbox_is_never_silent(policy: Policy, text: str) -> None:
    assert strictness(policy, ("Bash", Runs(text, outside=True))) > 0


@given(POLICIES, EFFECTS)
def test_a_sandbox_only_saves_questions_about_commands(
    policy: Policy, call: tuple[str, Effect]
) -> None:
    with_it, without = (
        Policy(policy.rules, policy.mode, policy.workspace, policy.is_saved, trusts)
        for trusts in (True, False)
    )
    more, less = decide(with_it, proposal(call)).verdict, strictness(without, call)
    if STRICTNESS[type(more)] != less:
        assert isinstance(more, Allow) and more.source == "sandbox" and isinstance(call[1], Runs)
        assert policy.mode in ("default", "acceptEdits", "auto")
