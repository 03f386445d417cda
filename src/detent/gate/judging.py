"""The verdict on a call: pure, and the same for every caller."""

from msgspec.structs import replace

from detent.gate.modes import (
    PLANNING,
    default_verdict,
    finds_harmless,
    host_rules,
    is_harmless,
    removes_too_much,
)
from detent.gate.precious import precious, redirects
from detent.gate.rules import Place, allowing, might_restrict, restricting
from detent.gate.shell.prover import Command
from detent.gate.terms import Mode, Rule, RuleSet, Workspace
from detent.ports import Proposal
from detent.types.effects import Asks, Writes
from detent.types.verdicts import Allow, Ask, Deny, Verdict, strictest


class Judge:
    """Deny, then ask, then allow, then the mode."""

    def __init__(self, rules: RuleSet, mode: Mode, workspace: Workspace, *, saved: bool) -> None:
        self._rules = rules
        self._mode = mode
        self._workspace = workspace
        self._saved = saved
        self._place = Place(workspace.cwd, workspace.home, workspace.project)

    def verdict(self, proposal: Proposal) -> Verdict:
        if rule := restricting(self._rules.deny, proposal, self._place):
            return Deny(f"rule {rule.text}", f"The rule {rule.text} denies it.")
        if rule := restricting(self._rules.ask, proposal, self._place):
            return self._asking(Ask(f"rule {rule.text}", f"The rule {rule.text} asks first."))
        if removes_too_much(proposal.effects, self._workspace):
            return self._asking(Ask("critical removal", "It would delete too much."))
        verdict = self._permitted(proposal)
        restrictive = (*self._rules.deny, *self._rules.ask)
        if isinstance(verdict, Allow) and (
            doubt := might_restrict(restrictive, proposal, self._place)
        ):
            return self._asking(Ask(f"rule {doubt.text}", f"The rule {doubt.text} might apply."))
        return verdict

    def _permitted(self, proposal: Proposal) -> Verdict:
        """An allow rule can only widen what the mode gives."""
        rule = allowing(self._rules.allow, proposal, self._place, self._is_free)
        by_rule = self._by_rule(rule, proposal) if rule is not None else None
        if isinstance(by_rule, Allow):
            return by_rule
        by_mode = self._by_mode(proposal)
        return by_mode if by_rule is None or isinstance(by_mode, Allow) else by_rule

    def _is_free(self, command: Command) -> bool:
        return finds_harmless(self._workspace, command)

    def _by_rule(self, rule: Rule, proposal: Proposal) -> Verdict:
        if any(isinstance(effect, Asks) for effect in proposal.effects):
            return self._by_mode(proposal)  # a rule permits, but it has no answer to give
        writes = [effect.path for effect in proposal.effects if isinstance(effect, Writes)]
        if self._mode == "plan" and (writes or redirects(proposal.effects)):
            return Deny("mode plan", PLANNING)
        if self._mode != "bypassPermissions" and (
            reason := precious(proposal.effects, self._workspace)
        ):
            return self._asking(Ask("protected path", reason))
        return Allow(f"rule {rule.text}")

    def _by_mode(self, proposal: Proposal) -> Verdict:
        verdicts = [default_verdict(e, self._mode, self._workspace) for e in proposal.effects]
        verdict = strictest(Allow(f"mode {self._mode}"), *verdicts)
        if isinstance(verdict, Ask) and proposal.tool == "WebFetch":
            return replace(verdict, rules=host_rules(proposal.effects))
        unsaved = not self._saved and not is_harmless(proposal.effects, self._workspace)
        if isinstance(verdict, Allow) and unsaved and self._mode != "bypassPermissions":
            return self._asking(Ask("session not saved", "The session cannot be saved."))
        return verdict

    def _asking(self, verdict: Ask) -> Verdict:
        return Deny(verdict.source, verdict.reason) if self._mode == "dontAsk" else verdict
