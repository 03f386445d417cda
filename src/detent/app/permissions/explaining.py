"""Why a call would be allowed, asked about or denied."""

from collections.abc import Iterator
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from detent.app.permissions.calls import NotTaken, Proposer
from detent.app.permissions.candidates import candidates
from detent.app.permissions.cases import Answer, word_of
from detent.app.permissions.policies import decided
from detent.app.permissions.suggesting import covering
from detent.gate.linting import lint_rule
from detent.gate.terms import Decision, Mode, Policy, Rule
from detent.ports import Proposal
from detent.types.content import Call
from detent.types.effects import Runs
from detent.types.verdicts import Allow, Ask, Deny

RuleList = Literal["deny", "ask", "allow", ""]


class RuleSeen(Struct, frozen=True):
    """A rule, where it stands, and whether it fits the call."""

    text: str
    list: RuleList
    scope: str
    path: str = ""
    line: int = 0
    matched: bool = True


class Explanation(Struct, frozen=True):
    tool: str
    input: dict[str, Any]
    cwd: str
    mode: Mode
    decision: Answer
    layer: str
    """What decided: a rule of one of the lists, the mode, a protected path …"""
    reason: str
    rule: RuleSeen | None
    commands: tuple[tuple[str, ...], ...]
    """Of Bash: every simple command that was found."""
    proven: bool | None
    """Of Bash: whether all of the text is understood."""
    permits: tuple[str, ...]
    """Rules that would allow it, each by itself, the narrowest first."""
    permits_together: tuple[str, ...]
    """Where no single one would: rules that do so all together."""
    notices: tuple[str, ...]
    """What of the settings was not heeded, and why."""
    considered: tuple[RuleSeen, ...]


def explain(
    policy: Policy,
    tool: str,
    given: dict[str, Any],
    *,
    notices: tuple[str, ...] = (),
    by_sandbox: bool = False,
) -> Explanation:
    """`by_sandbox`: a sandbox that works stands in for the question about a command."""
    cwd, proposer = policy.workspace.cwd, Proposer()
    if not proposer.knows(tool) and not tool.startswith("mcp__"):
        notices = (*notices, f"no built-in tool is called {tool}: it is judged as a foreign one")
    try:
        proposal = proposer.propose(tool, given, cwd)
    except NotTaken as error:
        unheard = Proposal(Call("", tool, ""), tool, given, (), cwd)
        found = _told(policy, unheard, Decision(Deny("arguments", str(error))))
        return replace(found, notices=notices)
    notices = (*notices, *_remarks(policy, tool))
    decision = decided(policy, proposal, explain=True)
    if by_sandbox and _differs(decision, decided(replace(policy, trusts_sandbox=True), proposal)):
        notices = (*notices, "where the sandbox works it runs without a question")
    found = replace(_told(policy, proposal, decision), notices=notices)
    if isinstance(decision.verdict, Allow):
        return found
    alone = permitting(policy, proposal)
    together = () if alone else covering(proposal, policy, proposer)
    return replace(found, permits=alone, permits_together=together)


def _remarks(policy: Policy, tool: str) -> Iterator[str]:
    """On rules for this tool that mean less, or more, than they seem to."""
    rules = policy.rules
    yield from filter(None, (lint_rule(r, "allow") for r in rules.allow if r.tool == tool))
    yield from filter(None, (lint_rule(r, "ask") for r in rules.ask if r.tool == tool))
    yield from filter(None, (lint_rule(r, "deny") for r in rules.deny if r.tool == tool))


def _differs(one: Decision, other: Decision) -> bool:
    return word_of(one.verdict) != word_of(other.verdict)


def permitting(policy: Policy, proposal: Proposal) -> tuple[str, ...]:
    """Single rules that would do, tried out one by one: none is named that would not."""
    asked = decided(replace(policy, mode="default"), proposal).verdict
    offered = asked.rules if isinstance(asked, Ask) else ()
    found: list[str] = []
    for text, rule in candidates(proposal, policy.workspace, offered):
        rules = replace(policy.rules, allow=(*policy.rules.allow, rule))
        if isinstance(decided(replace(policy, rules=rules), proposal).verdict, Allow):
            found.append(text)
    return tuple(found)


def _told(policy: Policy, proposal: Proposal, decision: Decision) -> Explanation:
    verdict = decision.verdict
    commands, proven = _commands(proposal)
    return Explanation(
        tool=proposal.tool,
        input=proposal.arguments,
        cwd=proposal.cwd,
        mode=policy.mode,
        decision=word_of(verdict),
        layer=_layer(policy, decision),
        reason=verdict.reason,
        rule=_seen(decision.rule, _list_of(policy, decision.rule)) if decision.rule else None,
        commands=commands,
        proven=proven,
        permits=(),
        permits_together=(),
        notices=(),
        considered=tuple(
            _seen(each.rule, each.list, matched=each.matched) for each in decision.considered
        ),
    )


def _layer(policy: Policy, decision: Decision) -> str:
    if decision.rule is None:
        return decision.verdict.source
    return f"{_list_of(policy, decision.rule)} rule".strip()


def _list_of(policy: Policy, rule: Rule) -> RuleList:
    rules = policy.rules
    if any(rule is each for each in rules.deny):
        return "deny"
    if any(rule is each for each in rules.ask):
        return "ask"
    return "allow" if any(rule is each for each in rules.allow) else ""


def _seen(rule: Rule, kind: RuleList, *, matched: bool = True) -> RuleSeen:
    origin = rule.origin
    return RuleSeen(rule.text, kind, origin.scope, origin.path, origin.line, matched)


def _commands(proposal: Proposal) -> tuple[tuple[tuple[str, ...], ...], bool | None]:
    texts = [effect.command for effect in proposal.effects if isinstance(effect, Runs)]
    if not texts:
        return (), None
    from detent.gate.commands import look

    seen = look(texts[0])
    if seen.script is None:
        return seen.findings.direct or seen.findings.commands, False
    simple = seen.script.commands
    return tuple(tuple(word.text for word in (*s.assignments, *s.words)) for s in simple), True
