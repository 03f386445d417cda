"""The gate: rules, modes, hooks and the person, joined so that the strictest wins."""

from collections.abc import Callable
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from detent.gate.hooks import (
    AfterCall,
    BeforeCall,
    HookAnswer,
    HookSet,
    Stopping,
    Submitted,
    ask_hooks,
)
from detent.gate.modes import (
    PLANNING,
    Mode,
    Workspace,
    default_verdict,
    is_harmless,
    removes_too_much,
)
from detent.gate.precious import precious, redirects
from detent.gate.rules import Place, Rule, allowing, might_restrict, parse_rule, restricting
from detent.ports import Admitted, Answer, Approver, Proposal, Question, Revised, Stopped
from detent.types.content import UserBlock, plain_text
from detent.types.effects import Effect, Writes
from detent.types.errors import BadInput, PromptBlocked
from detent.types.outcomes import Failed, Outcome, Refused, text_of, with_context
from detent.types.verdicts import Allow, Ask, Deny, Verdict, strictest


class RuleSet(Struct, frozen=True):
    allow: tuple[Rule, ...] = ()
    ask: tuple[Rule, ...] = ()
    deny: tuple[Rule, ...] = ()


class Gatekeeper:
    def __init__(
        self,
        workspace: Workspace,
        *,
        mode: Mode = "default",
        rules: RuleSet | None = None,
        hooks: HookSet | None = None,
        saved: Callable[[], bool] = lambda: True,
        report: Callable[[str], None] = lambda text: None,
        canonical: Callable[[str], str] = lambda name: name,
    ) -> None:
        self.mode: Mode = mode
        self._workspace = workspace
        self._rules = rules or RuleSet()
        self._hooks = hooks or HookSet()
        self._saved = saved
        self._report = report
        self._canonical = canonical

    def harmless(self, effects: tuple[Effect, ...]) -> bool:
        return is_harmless(effects, self._workspace)

    def judge(self, proposal: Proposal) -> Verdict:
        """Deny, then ask, then allow, then the mode: pure, and the same for every caller."""
        place = Place(self._workspace.cwd, self._workspace.home)
        if rule := restricting(self._rules.deny, proposal, place):
            return Deny(f"rule {rule.text}", f"The rule {rule.text} denies it.")
        if rule := restricting(self._rules.ask, proposal, place):
            return self._asking(Ask(f"rule {rule.text}", f"The rule {rule.text} asks first."))
        if removes_too_much(proposal.effects, self._workspace):
            return self._asking(Ask("critical removal", "It would delete too much."))
        verdict = self._permitted(proposal, place)
        restrictive = (*self._rules.deny, *self._rules.ask)
        if isinstance(verdict, Allow) and (doubt := might_restrict(restrictive, proposal, place)):
            return self._asking(Ask(f"rule {doubt.text}", f"The rule {doubt.text} might apply."))
        return verdict

    def _permitted(self, proposal: Proposal, place: Place) -> Verdict:
        """An allow rule can only widen what the mode gives."""
        rule = allowing(self._rules.allow, proposal, place, self._workspace.finds_harmless)
        by_rule = self._by_rule(rule, proposal) if rule is not None else None
        if isinstance(by_rule, Allow):
            return by_rule
        by_mode = self._by_mode(proposal)
        return by_mode if by_rule is None or isinstance(by_mode, Allow) else by_rule

    def _by_rule(self, rule: Rule, proposal: Proposal) -> Verdict:
        writes = [effect.path for effect in proposal.effects if isinstance(effect, Writes)]
        if self.mode == "plan" and (writes or redirects(proposal.effects)):
            return Deny("mode plan", PLANNING)
        if self.mode != "bypassPermissions" and (
            reason := precious(proposal.effects, self._workspace)
        ):
            return self._asking(Ask("protected path", reason))
        return Allow(f"rule {rule.text}")

    def _by_mode(self, proposal: Proposal) -> Verdict:
        verdicts = [default_verdict(e, self.mode, self._workspace) for e in proposal.effects]
        verdict = strictest(Allow(f"mode {self.mode}"), *verdicts)
        unsaved = not self._saved() and not self.harmless(proposal.effects)
        if isinstance(verdict, Allow) and unsaved and self.mode != "bypassPermissions":
            return self._asking(Ask("session not saved", "The session cannot be saved."))
        return verdict

    def _asking(self, verdict: Ask) -> Verdict:
        return Deny(verdict.source, verdict.reason) if self.mode == "dontAsk" else verdict

    async def admit(
        self, proposal: Proposal, propose: Callable[[dict[str, Any]], Proposal], ask: Approver
    ) -> Admitted | Refused | Stopped:
        """Deny rules first, then hooks, then the whole check on what the hooks left of the call."""
        verdict = self.judge(proposal)
        if isinstance(verdict, Deny):
            return _refusal(verdict)
        answer = await self._before(proposal)
        if answer.stop:
            return Stopped(Refused(answer.reason or answer.stop, "hook"), answer.stop)
        if answer.decision == "deny":
            return Refused(answer.reason or "A hook denied it.", "hook")
        if answer.arguments is not None:
            proposal = propose(answer.arguments)
            verdict = self.judge(proposal)
        if answer.decision == "ask":
            verdict = strictest(verdict, Ask("hook", answer.reason or "A hook asks first."))
        elif answer.decision == "allow" and isinstance(verdict, Ask) and _may_hook_allow(verdict):
            verdict = Allow("hook")
        match verdict:
            case Deny():
                return _refusal(verdict)
            case Allow():
                return Admitted(verdict, answer.arguments, answer.context)
            case Ask():
                said = await ask.ask(Question(proposal, verdict.reason, verdict.rules))
                if said.allowed and said.arguments is not None:
                    changed = self.judge(propose(said.arguments))
                    if isinstance(changed, Deny):
                        return _refusal(changed)
                return self._answered(said, verdict, answer)

    async def _before(self, proposal: Proposal) -> HookAnswer:
        """Several hooks: the strictest decision, the last change, all contexts."""
        if not self._hooks.before_call:
            return HookAnswer()
        event = BeforeCall(proposal.tool, proposal.arguments, proposal.call.id)
        answers = await ask_hooks(self._hooks.before_call, event, self._report)
        order = ("none", "allow", "ask", "deny")
        joined = HookAnswer()
        for answer in answers:
            stricter = order.index(answer.decision) > order.index(joined.decision)
            joined = HookAnswer(
                decision=answer.decision if stricter else joined.decision,
                reason=answer.reason if stricter else joined.reason,
                arguments=joined.arguments if answer.arguments is None else answer.arguments,
                context="\n".join(filter(None, (joined.context, answer.context))),
                stop=joined.stop or answer.stop,
            )
        return joined

    def _answered(self, said: Answer, verdict: Ask, hook: HookAnswer) -> Admitted | Refused:
        if not said.allowed:
            reason = said.reason or "The user said no."
            return Refused(_with_hint(reason, verdict), said.by)
        for text in said.rules:
            self._honour(text)
        changed = said.arguments if said.arguments is not None else hook.arguments
        return Admitted(Allow(said.by), changed, hook.context)

    def _honour(self, text: str) -> None:
        """A rule that cannot be read permits nothing; the answer itself still counts."""
        try:
            added = parse_rule(text, self._canonical)
        except BadInput as error:
            self._report(f"a rule was not added: {error}")
        else:
            self._rules = replace(self._rules, allow=(*self._rules.allow, added))

    async def review(self, proposal: Proposal, outcome: Outcome) -> Revised:
        """After the call: a hook cannot undo it, but it can say that it was wrong."""
        if not self._hooks.after_call:
            return Revised(outcome)
        event = AfterCall(proposal.tool, proposal.arguments, proposal.call.id, outcome)
        stop = ""
        for answer in await ask_hooks(self._hooks.after_call, event, self._report):
            stop = stop or answer.stop
            if answer.decision == "deny":
                note = f"[A hook objects, though the action has taken place: {answer.reason}]"
                outcome = Failed(f"{text_of(outcome)}\n\n{note}".strip())
            if answer.context:
                outcome = with_context(outcome, answer.context)
        return Revised(outcome, stop)

    async def prompted(self, content: tuple[UserBlock, ...]) -> str:
        """Text that hooks add to a prompt. A hook that denies raises PromptBlocked."""
        if not self._hooks.submitted:
            return ""
        answers = await ask_hooks(
            self._hooks.submitted, Submitted(plain_text(content)), self._report
        )
        for answer in answers:
            if answer.decision == "deny" or answer.stop:
                raise PromptBlocked(answer.reason or answer.stop or "A hook blocked the prompt.")
        return "\n".join(answer.context for answer in answers if answer.context)

    async def stopping(self, text: str, again: bool) -> str:
        """Feedback that makes the turn go on; empty lets it end."""
        if not self._hooks.stopping:
            return ""
        answers = await ask_hooks(self._hooks.stopping, Stopping(text, again), self._report)
        if any(answer.stop for answer in answers):
            return ""
        return "\n".join(a.reason for a in answers if a.decision == "deny" and a.reason)


def _may_hook_allow(verdict: Ask) -> bool:
    """A hook's allow answers the mode's question, never an ask rule of the user."""
    return not verdict.source.startswith(("rule ", "critical", "protected"))


def _refusal(verdict: Deny) -> Refused:
    return Refused(verdict.reason or f"Denied by {verdict.source}.", verdict.source)


def _with_hint(reason: str, verdict: Ask) -> str:
    if not verdict.rules:
        return f"{verdict.reason} {reason}".strip()
    return f"{verdict.reason} {reason} The rule {verdict.rules[0]} would permit it.".strip()
