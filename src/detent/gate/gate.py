"""The gate: rules, modes, hooks and the person, joined so that the strictest wins."""

from collections.abc import Callable
from typing import Any

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
from detent.gate.terms import QUESTION, Mode, RuleSet, Workspace
from detent.ports import Admitted, Answer, Approver, Proposal, Question, Revised, Stopped
from detent.types.content import UserBlock, plain_text
from detent.types.effects import Connects, Effect
from detent.types.errors import BadInput, PromptBlocked
from detent.types.outcomes import Failed, Outcome, Refused, text_of, with_context
from detent.types.verdicts import Allow, Ask, Deny, Verdict, strictest

SPOKESMEN = ("person", "user", "host")
"""Whoever answers so gives the words of the user."""


class Gatekeeper:
    def __init__(
        self,
        workspace: Workspace,
        *,
        mode: Mode = "default",
        rules: RuleSet | None = None,
        hooks: HookSet | None = None,
        hooks_first: bool = True,
        saved: Callable[[], bool] = lambda: True,
        report: Callable[[str], None] = lambda text: None,
        canonical: Callable[[str], str] = lambda name: name,
    ) -> None:
        self.usual_mode: Mode = "default"
        """The last one that was not plan mode, to return to from there."""
        self.mode = mode
        self._workspace = workspace
        self._rules = rules or RuleSet()
        self._hooks = hooks or HookSet()
        self._hooks_first = hooks_first
        self._saved = saved
        self._report = report
        self._canonical = canonical

    @property
    def mode(self) -> Mode:
        return self._mode

    @mode.setter
    def mode(self, mode: Mode) -> None:
        self._mode: Mode = mode
        if mode != "plan":
            self.usual_mode = mode

    def harmless(self, proposal: Proposal) -> bool:
        """Whether it changes nothing here, so that others may run beside it."""
        from detent.gate.modes import is_harmless

        here = tuple(effect for effect in proposal.effects if not _only_asks(effect))
        return is_harmless(here, self._workspace.at(proposal.cwd))

    def judge(self, proposal: Proposal) -> Verdict:
        """Loaded with the first call: the first request need not wait for it."""
        from detent.gate.judging import Judge

        workspace = self._workspace.at(proposal.cwd)
        return Judge(self._rules, self.mode, workspace, saved=self._saved()).verdict(proposal)

    async def admit(
        self, proposal: Proposal, propose: Callable[[dict[str, Any]], Proposal], ask: Approver
    ) -> Admitted | Refused | Stopped:
        """Deny rules first, then hooks, then the whole check on what the hooks left of the call.

        Where the permission is to come first, the hooks see only what it has let through, and
        what they change is checked again.
        """
        verdict = self.judge(proposal)
        if isinstance(verdict, Deny):
            return _refusal(verdict)
        if self._hooks_first:
            return await self._hooked(proposal, verdict, propose, ask)
        first = await self._decided(proposal, verdict, HookAnswer(), propose, ask)
        if not isinstance(first, Admitted):
            return first
        if first.arguments is not None:
            proposal = propose(first.arguments)
        second = await self._hooked(proposal, first.verdict, propose, ask)
        if isinstance(second, Admitted) and second.arguments is None:
            return replace(second, arguments=first.arguments)
        return second

    async def _hooked(
        self,
        proposal: Proposal,
        verdict: Verdict,
        propose: Callable[[dict[str, Any]], Proposal],
        ask: Approver,
    ) -> Admitted | Refused | Stopped:
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
        elif answer.decision == "allow" and isinstance(verdict, Ask):
            verdict = Allow("hook") if _may_hook_allow(verdict, answer) else verdict
        return await self._decided(proposal, verdict, answer, propose, ask)

    async def _decided(
        self,
        proposal: Proposal,
        verdict: Verdict,
        answer: HookAnswer,
        propose: Callable[[dict[str, Any]], Proposal],
        ask: Approver,
    ) -> Admitted | Refused:
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
            return Refused(_why_not(said, verdict), said.by)
        for text in said.rules:
            self._honour(text)
        changed = said.arguments if said.arguments is not None else hook.arguments
        return Admitted(Allow(said.by), changed, hook.context)

    def _honour(self, text: str) -> None:
        """A rule that cannot be read permits nothing; the answer itself still counts."""
        from detent.gate.rules import parse_rule

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


def _only_asks(effect: Effect) -> bool:
    return isinstance(effect, Connects) and effect.only_asks


def _may_hook_allow(verdict: Ask, answer: HookAnswer) -> bool:
    """A hook's allow answers the mode's question, never an ask rule of the user; what is asked of
    a person only together with an answer, which it puts into the arguments."""
    if verdict.source == QUESTION:
        return answer.arguments is not None
    return not verdict.source.startswith(("rule ", "critical", "protected"))


def _refusal(verdict: Deny) -> Refused:
    return Refused(verdict.reason or f"Denied by {verdict.source}.", verdict.source)


def _why_not(said: Answer, verdict: Ask) -> str:
    """The model must be able to tell whose words are whose: those of a person come first."""
    hint = f"The rule {verdict.rules[0]} would permit it." if verdict.rules else ""
    answer = said.reason.strip() or "The user denied it."
    if said.by not in SPOKESMEN or not said.reason.strip():
        return " ".join(filter(None, (verdict.reason, answer, hint)))
    stop = "" if answer[-1] in ".!?…" else "."
    return " ".join(filter(None, (f"The user said: {answer}{stop}", verdict.reason, hint)))
