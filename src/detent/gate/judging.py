"""The decision on a call: pure, and the same for whoever asks, explains or tries it out.

Deny rules, then what nobody may permit, then ask rules, removals of too much, commands outside the
sandbox, allow rules, and the mode. A verdict joins all parts of a call: the strictest wins.
"""

from collections.abc import Iterator

from msgspec.structs import replace

from detent.gate.parts import command_needs
from detent.gate.paths import links_remembered
from detent.gate.permitting import PLANNING, Need, Permits
from detent.gate.reaching import forbidden_host, reaching
from detent.gate.removal import removes_too_much
from detent.gate.restricting import might_touch, touches
from detent.gate.rules import parse_rule
from detent.gate.scene import Scene
from detent.gate.terms import (
    QUESTION,
    Considered,
    Decision,
    Mode,
    Policy,
    Rule,
    RuleSet,
    Workspace,
)
from detent.ports import Proposal
from detent.types.content import Call
from detent.types.effects import Asks, Connects, Effect, Reads, Runs, Spawns, Writes
from detent.types.verdicts import Allow, Ask, Deny, Verdict

_HELD_IN: frozenset[Mode] = frozenset({"default", "acceptEdits", "auto"})
"""Modes in which a sandbox that works stands in for the question."""
_MOST_TRIED = 6
_UNSAVED = "The session cannot be saved; --allow-unsaved lets calls run without a record."


def decide(policy: Policy, proposal: Proposal, *, explain: bool = False) -> Decision:
    """With `explain` every rule is looked at, also those behind the one that decides."""
    with links_remembered():
        return _answered(policy, Scene(proposal, policy.workspace), explain=explain)


def _answered(policy: Policy, scene: Scene, *, explain: bool) -> Decision:
    decision = _decided(policy, scene)
    if isinstance(question := decision.verdict, Ask):
        question = _offering(question, policy, scene)
        asks = policy.mode != "dontAsk"
        refusal = Deny(question.source, _refusal(question))
        decision = replace(decision, verdict=question if asks else refusal)
    return replace(decision, considered=_considered(policy, scene)) if explain else decision


def _decided(policy: Policy, scene: Scene) -> Decision:
    rules = policy.rules
    if rule := next((rule for rule in rules.deny if touches(rule, scene)), None):
        return Decision(Deny(f"rule {rule.text}", f"The rule {rule.text} denies it."), rule)
    if fixed := _forbidden(policy, scene):
        return Decision(fixed)
    if rule := next((rule for rule in rules.ask if touches(rule, scene)), None):
        return Decision(Ask(f"rule {rule.text}", f"The rule {rule.text} asks first."), rule)
    if question := _critical(policy, scene):
        return Decision(question)
    permits = Permits(policy, scene)
    needs = [*_needs(permits)]
    by_sandbox = policy.trusts_sandbox and policy.mode in _HELD_IN and bool(scene.texts)
    asked = [need for need in needs if not (by_sandbox and need.is_held)]
    if asked:
        return Decision(_verdict_on(asked))
    doubted = (rule for rule in (*rules.deny, *rules.ask) if might_touch(rule, scene))
    if rule := next(doubted, None):
        return Decision(Ask(f"rule {rule.text}", f"The rule {rule.text} might apply."), rule)
    if permits.used and not needs:
        return Decision(Allow(f"rule {permits.used[0].text}"), permits.used[0])
    if (
        not policy.is_saved
        and policy.mode != "bypassPermissions"
        and not is_harmless(scene.proposal.effects, policy.workspace)
    ):
        return Decision(Ask("session not saved", _UNSAVED))
    return Decision(Allow("sandbox" if needs else f"mode {policy.mode}"))


def _verdict_on(needs: list[Need]) -> Verdict:
    """By the gravest need: what only the mode asks about, others may answer. With every rule that
    might permit the call; a rule for each of several parts does not."""
    for need in needs:
        if need.is_denied:
            return Deny(need.source, need.reason)
    first = next((need for need in needs if not need.source.startswith("mode ")), needs[0])
    rules = dict.fromkeys(rule for need in needs for rule in need.rules)
    return Ask(first.source, first.reason, tuple(rules))


def _forbidden(policy: Policy, scene: Scene) -> Deny | None:
    """What no ask rule and no mode turns into a question."""
    mode, effects = policy.mode, scene.proposal.effects
    for effect in effects:
        if isinstance(effect, Asks) and effect.leaves and effect.leaves != mode:
            return Deny(
                f"mode {mode}", f"You are not in {effect.leaves} mode: go on with the task."
            )
        if mode == "plan" and isinstance(effect, Writes):
            return Deny("mode plan", PLANNING)
    if mode == "plan" and any(seen.findings.writes for seen in scene.looks):
        return Deny("mode plan", PLANNING)
    return forbidden_host(policy, scene)


def _critical(policy: Policy, scene: Scene) -> Ask | None:
    for text in scene.texts:
        if word := removes_too_much(text, policy.workspace):
            return Ask("critical removal", f"It would delete too much: {word}.")
    if any(isinstance(effect, Runs) and effect.outside for effect in scene.proposal.effects):
        reason = "The command asks to run outside the sandbox, where nothing holds it back."
        return Ask("outside the sandbox", reason)
    return None


def _needs(permits: Permits) -> Iterator[Need]:
    for effect in permits.scene.proposal.effects:
        yield from _needs_of(effect, permits)
    yield from reaching(permits)


def _needs_of(effect: Effect, permits: Permits) -> Iterator[Need]:
    match effect:
        case Asks(leaves=leaves):
            # A rule permits, but it has no answer to give; and no mode answers for the person.
            consent = f"Leaving {leaves} mode needs the user's consent."
            yield Need(QUESTION, consent if leaves else "This needs the user's answer.")
        case Reads(path=path):
            yield from permits.reading(path)
        case Writes(path=path):
            yield from permits.writing(path)
        case Runs(command=text):
            yield from command_needs(text, permits)
        case Connects():
            pass  # by their hosts, all at once
        case Spawns():
            pass  # it may do no more than whoever starts it: what it does is judged in its turn


def is_harmless(effects: tuple[Effect, ...], workspace: Workspace) -> bool:
    """Whether it changes nothing: reads, and commands that are proven to only read. What agents do
    that are started is judged in its turn."""
    if not all(isinstance(effect, (Reads, Runs, Spawns)) for effect in effects):
        return False
    scene = Scene(Proposal(Call("", "", ""), "", {}, effects), workspace)
    permits = Permits(Policy(RuleSet(), "default", workspace), scene)
    return not any(True for _ in _needs(permits))


def _refusal(verdict: Ask) -> str:
    hint = f" The rule {verdict.rules[0]} would permit it." if verdict.rules else ""
    return f"{verdict.reason}{hint}"


def _offering(verdict: Ask, policy: Policy, scene: Scene) -> Ask:
    """Only rules that really permit the call, each of them alone."""
    if not verdict.rules:
        return verdict
    tried = verdict.rules[:_MOST_TRIED]
    return replace(verdict, rules=tuple(t for t in tried if _permits(t, policy, scene)))


def _permits(text: str, policy: Policy, scene: Scene) -> bool:
    allow = (*policy.rules.allow, parse_rule(text, str))
    wider = replace(policy, rules=replace(policy.rules, allow=allow))
    return isinstance(_decided(wider, scene).verdict, Allow)


def _considered(policy: Policy, scene: Scene) -> tuple[Considered, ...]:
    rules = policy.rules
    return (
        *(Considered(rule, "deny", touches(rule, scene)) for rule in rules.deny),
        *(Considered(rule, "ask", touches(rule, scene)) for rule in rules.ask),
        *(Considered(rule, "allow", _has_part(rule, policy, scene)) for rule in rules.allow),
    )


def _has_part(rule: Rule, policy: Policy, scene: Scene) -> bool:
    """Whether an allow rule covers at least a part of a call, when there is no other."""
    alone = replace(policy, rules=replace(policy.rules, allow=(rule,)))
    permits = Permits(alone, scene)
    for _ in _needs(permits):
        pass
    return rule in permits.used
