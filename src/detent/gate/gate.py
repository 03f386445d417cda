"""The gate: rules, modes, hooks and the person, joined so that the strictest wins."""

from collections.abc import Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from detent.gate.hooks import Hook, HookAnswer, HookSet
from detent.gate.terms import FREE, QUESTION, Mode, Origin, Policy, Rule, RuleSet, Workspace
from detent.ports import (
    Admitted,
    Answer,
    Approver,
    Classifier,
    Proposal,
    Question,
    Revised,
    Stopped,
)
from detent.types.content import UserBlock, plain_text
from detent.types.effects import Connects, Effect
from detent.types.errors import BadInput
from detent.types.outcomes import Outcome, Refused
from detent.types.verdicts import Allow, Ask, Deny, Verdict, strictest

if TYPE_CHECKING:
    from asyncio import Future

    from detent.gate.hooks.background import Background

Propose = Callable[[dict[str, Any]], Proposal]
"""The call with other arguments."""


class Gatekeeper:
    def __init__(  # noqa: PLR0913  a session is made of that many parts
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
        store: Callable[[str, str, str], Awaitable[None]] | None = None,
    ) -> None:
        self._waiting: list[Future[None]] = []
        """For something to change while a person is asked."""
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
        self._store = store
        """Keeps a rule beyond the session: list, rule, scope."""
        self.classifier: Classifier | None = None
        """Stands before the person in mode `auto`."""
        self.trusts_sandbox = False
        """A sandbox that works holds commands, and the user goes by it."""
        self.takes_allow_rules = True
        """Those that come with an answer."""
        self.asks_person = True
        """Whoever is asked is a person, who may want to be called."""
        self.limits = FREE
        """Of the kind of agent that it runs as."""
        self.source = "startup"
        """How the session began, for hooks; empty when they were told."""
        self.agent = ""
        """What people call the subagent whose gate this is; empty is the session's."""
        self.agent_id = ""
        self.below: dict[str, Gatekeeper] = {}
        """The gates of subagents at work, by the ids of those."""
        self._interrupted = ""
        """Why the turn is to end: a person has said so to somebody who works for it."""
        self._background: Background | None = None

    @property
    def mode(self) -> Mode:
        return self._mode

    @mode.setter
    def mode(self, mode: Mode) -> None:
        self._mode: Mode = mode
        if mode != "plan":
            self.usual_mode = mode
        self._has_changed()

    def _has_changed(self) -> None:
        """Whoever asks a person looks again whether that is still needed."""
        for change in self._waiting:
            if not change.done():
                change.set_result(None)
        self._waiting.clear()

    @property
    def rules(self) -> RuleSet:
        return self._rules

    @property
    def workspace(self) -> Workspace:
        return self._workspace

    def harmless(self, proposal: Proposal) -> bool:
        """Whether it changes nothing here, so that others may run beside it."""
        from detent.gate.judging import is_harmless

        here = tuple(effect for effect in proposal.effects if not _only_asks(effect))
        return is_harmless(here, self._workspace.at(proposal.cwd))

    def judge(self, proposal: Proposal) -> Verdict:
        return self._objection(proposal) or self._judged(self._rules, self.mode, proposal)

    def verdicts(self, proposal: Proposal, *consents: Rule) -> tuple[Verdict, ...]:
        """Of all who have a say, the highest first, if these rules were among those that allow."""
        rules = replace(self._rules, allow=(*self._rules.allow, *consents))
        return (self._objection(proposal) or self._judged(rules, self.mode, proposal),)

    def _objection(self, proposal: Proposal) -> Deny | None:
        if self.limits == FREE:
            return None
        from detent.gate.kind_limits import objection

        why = objection(self.limits, proposal, self._workspace.at(proposal.cwd))
        return Deny("kind of agent", why) if why else None

    def as_here(self, rules: RuleSet) -> RuleSet:
        """Rules of the session as they read where the calls of this gate run."""
        return rules

    def _judged(self, rules: RuleSet, mode: Mode, proposal: Proposal) -> Verdict:
        """Loaded with the first call: the first request need not wait for it."""
        from detent.gate.judging import decide

        workspace = self._workspace.at(proposal.cwd)
        policy = Policy(rules, mode, workspace, self._saved(), self.trusts_sandbox)
        return decide(policy, proposal).verdict

    async def admit(
        self, proposal: Proposal, propose: Propose, ask: Approver
    ) -> Admitted | Refused | Stopped:
        """Deny rules first, then hooks, then the whole check on what the hooks left of the call.

        Where the permission is to come first, the hooks see only what it has let through, and
        what they change is checked again.
        """
        admitted = await self._admitted(proposal, propose, ask)
        if isinstance(admitted, Refused) and self.hears("permission_refused"):
            from detent.gate.hooks.moments import refused

            await refused(self.tell, proposal, admitted.reason)
        return admitted

    async def _admitted(
        self, proposal: Proposal, propose: Propose, ask: Approver
    ) -> Admitted | Refused | Stopped:
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
        if isinstance(second, Admitted):
            context = "\n".join(filter(None, (first.context, second.context)))
            changed = first.arguments if second.arguments is None else second.arguments
            return replace(second, arguments=changed, context=context)
        return second

    async def _hooked(
        self,
        proposal: Proposal,
        verdict: Verdict,
        propose: Propose,
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
            may = self._may_hook_allow(proposal, verdict, answer)
            verdict = Allow("hook") if may else verdict
        return await self._decided(proposal, verdict, answer, propose, ask)

    async def _decided(
        self,
        proposal: Proposal,
        verdict: Verdict,
        answer: HookAnswer,
        propose: Propose,
        ask: Approver,
    ) -> Admitted | Refused | Stopped:
        match verdict:
            case Deny():
                return _refusal(verdict)
            case Allow():
                return Admitted(verdict, answer.arguments, answer.context)
            case Ask() if self._may_classify(verdict):
                verdict = await self._classified(proposal, verdict)
                return await self._decided(proposal, verdict, answer, propose, ask)
            case Ask():
                if settled := await self._settled(proposal, verdict, answer, propose):
                    return settled
                self._call_the_person(proposal)
                said = await self._said(proposal, verdict, answer, ask)
                if not isinstance(said, Answer):
                    return await self._decided(proposal, said, answer, propose, ask)
                if said.allowed and said.arguments is not None:
                    changed = self.judge(propose(said.arguments))
                    if isinstance(changed, Deny):
                        return _refusal(changed)
                return await self._answered(said, verdict, answer)

    async def _said(
        self, proposal: Proposal, verdict: Ask, hook: HookAnswer, ask: Approver
    ) -> Answer | Verdict:
        """What the person says; or the verdict, where that has become another meanwhile by what was
        said to somebody else."""
        from detent.gate.withdrawing import answer_to

        def settled() -> Verdict | None:
            now = self.judge(proposal)
            still = isinstance(now, Ask) or (hook.decision == "ask" and isinstance(now, Allow))
            return None if still else now

        question = Question(proposal, verdict.reason, verdict.rules, self.agent, self.agent_id)
        return await answer_to(ask.ask(question), settled, self._waiting)

    def _may_classify(self, verdict: Ask) -> bool:
        """Only what the mode itself asks about: rules, secrets and the like are for a person."""
        return self.classifier is not None and verdict.source == "mode auto"

    async def _classified(self, proposal: Proposal, verdict: Ask) -> Verdict:
        assert self.classifier is not None
        ruling = await self.classifier.classify(proposal, verdict.reason)
        return replace(ruling, rules=verdict.rules) if isinstance(ruling, Ask) else ruling

    async def _before(self, proposal: Proposal) -> HookAnswer:
        if not self.hears("before_call"):
            return HookAnswer()
        from detent.gate.hooks.moments import before

        return await before(self.tell, proposal)

    async def _settled(
        self, proposal: Proposal, verdict: Ask, earlier: HookAnswer, propose: Propose
    ) -> Admitted | Refused | Stopped | None:
        """A hook may answer in place of the person, but not what only a person may."""
        if not self.hears("permission_asked"):
            return None
        from detent.gate.hooks.moments import asked

        said = await asked(self.tell, proposal, verdict.reason, verdict.rules)
        if said.stop or said.decision == "deny":
            refused = Refused(said.reason or said.stop or "A hook denied it.", "hook")
            return Stopped(refused, said.stop) if said.stop else refused
        if said.decision != "allow":
            return None
        final: Verdict = verdict
        if said.arguments is not None:
            proposal = propose(said.arguments)
            final = self.judge(proposal)
        if isinstance(final, Deny):
            return _refusal(final)
        if isinstance(final, Ask) and not self._may_hook_allow(proposal, final, said):
            return None
        context = "\n".join(filter(None, (earlier.context, said.context)))
        changed = earlier.arguments if said.arguments is None else said.arguments
        return Admitted(Allow("hook"), changed, context)

    def _may_hook_allow(self, proposal: Proposal, verdict: Ask, answer: HookAnswer) -> bool:
        """A hook's word is worth as much as an allow rule for the tool: it answers the mode, never
        a rule of the user, a removal of too much or a protected place. What is asked of a person
        it answers only together with an answer, which it puts into the arguments."""
        if verdict.source == QUESTION:
            return answer.arguments is not None
        consent = Rule(proposal.tool, "", proposal.tool)
        return all(isinstance(said, Allow) for said in self.verdicts(proposal, consent))

    def _call_the_person(self, proposal: Proposal) -> None:
        """Beside the question, which need not wait for it."""
        if not self.asks_person or not self.hears("notified"):
            return
        from detent.gate.hooks.events import Notified

        agent = f" for the subagent {self.agent}" if self.agent else ""
        text = f"Detent asks whether {proposal.tool} may run{agent}"
        self.beside(self.tell(Notified(text, "permission_prompt", "Permission needed")))

    async def _answered(self, said: Answer, verdict: Ask, hook: HookAnswer) -> Admitted | Refused:
        if not said.allowed:
            from detent.gate.refusing import why_not

            return Refused(why_not(said, verdict), said.by)
        await self._keep("allow", said.rules, said.scope)
        await self._keep("ask", said.asks, said.scope)
        await self._keep("deny", said.denies, said.scope)
        changed = said.arguments if said.arguments is not None else hook.arguments
        return Admitted(Allow(said.by), changed, hook.context)

    async def _keep(self, kind: str, texts: tuple[str, ...], scope: str) -> None:
        """Honoured at once, and stored where the person wants it."""
        for text in texts:
            if self._honour(kind, text) and scope != "session" and self._store is not None:
                await self._store(kind, text, scope)

    def _honour(self, kind: str, text: str) -> bool:
        """A rule that cannot be read changes nothing; the answer itself still counts."""
        if kind == "allow" and not self.takes_allow_rules:
            self._report(f"the rule {text} was not added: managed settings alone allow")
            return False
        try:
            added = self.agreed(text)
        except BadInput as error:
            self._report(f"a rule was not added: {error}")
            return False
        self.go_by(replace(self._rules, **{kind: (*getattr(self._rules, kind), added)}))
        return True

    def go_by(self, rules: RuleSet) -> None:
        """Other rules from now on."""
        self._rules = rules
        self._has_changed()

    def agreed(self, text: str) -> Rule:
        """What a rule means that a person agrees to here. Raises BadInput."""
        from detent.gate.rules import parse_rule

        origin = Origin("session", folder=self._workspace.project)
        return parse_rule(text, self._canonical, origin)

    async def review(self, proposal: Proposal, outcome: Outcome, ms: int = 0) -> Revised:
        """After the call, which took so many milliseconds."""
        stop = self.interruption()
        if not self.hears("after_call"):
            return Revised(outcome, stop)
        from detent.gate.hooks.moments import after

        revised = await after(self.tell, proposal, outcome, ms)
        return replace(revised, stop=stop or revised.stop)

    def interrupt(self, reason: str) -> None:
        self._interrupted = reason

    def interruption(self) -> str:
        reason, self._interrupted = self._interrupted, ""
        return reason

    async def prompted(self, content: tuple[UserBlock, ...]) -> str:
        """Text that hooks add to a prompt. A hook that denies raises PromptBlocked."""
        self._interrupted = ""
        if not self.hears("submitted"):
            return ""
        from detent.gate.hooks.moments import submitted

        return await submitted(self.tell, plain_text(content))

    async def stopping(self, text: str, again: bool) -> str:
        """Feedback that makes the turn go on; empty lets it end."""
        if not self.hears("stopping"):
            return ""
        from detent.gate.hooks.moments import stopping

        return await stopping(self.tell, text, again)

    def opened(self) -> str:
        source, self.source = self.source, ""
        return source if self.hears("session_started") else ""

    @property
    def has_opened(self) -> bool:
        """Whether a turn has begun in this run."""
        return not self.source

    def hears(self, moment: str) -> bool:
        return bool(self.listeners(moment))

    def listeners(self, moment: str) -> tuple[Hook, ...]:
        found: tuple[Hook, ...] = getattr(self._hooks, moment)
        return found

    def add_hooks(self, hooks: HookSet) -> None:
        """Behind those that are there."""
        from detent.gate.hooks.kinds import both

        self._hooks = both(self._hooks, hooks)

    async def happened(self, moment: str, **facts: Any) -> HookAnswer:
        if not self.hears(moment):
            return HookAnswer()
        from detent.gate.hooks.events import event_of

        return await self.tell(event_of(moment, **facts))

    async def tell(self, event: Any) -> HookAnswer:
        """All hooks at once; the strictest decision, the last change, all contexts."""
        return await self._ask_hooks(self.listeners(event.listeners), event)

    async def _ask_hooks(self, hooks: tuple[Hook, ...], event: Any) -> HookAnswer:
        from detent.gate.hooks.asking import ask_hooks, joined

        return joined(await ask_hooks(hooks, event, self._report))

    def beside(self, work: Coroutine[Any, Any, Any]) -> None:
        """For hooks that nobody waits for; they end with the session at the latest."""
        if self._background is None:
            from detent.gate.hooks.background import Background

            self._background = Background()
        self._background.start(work)

    async def aclose(self) -> None:
        if self._background is not None:
            await self._background.aclose()

    def falls_under(self, rule: str, proposal: Proposal) -> bool:
        """Whether a call might: a hook that looks at it must not miss one in disguise."""
        from detent.gate.rules import parse_rule

        rules = self.as_here(RuleSet(deny=(parse_rule(rule, self._canonical),)))
        verdict = self._judged(rules, "bypassPermissions", proposal)
        return isinstance(verdict, Deny) or verdict.source.startswith("rule ")


def _only_asks(effect: Effect) -> bool:
    return isinstance(effect, Connects) and effect.only_asks


def _refusal(verdict: Deny) -> Refused:
    return Refused(verdict.reason or f"Denied by {verdict.source}.", verdict.source)
