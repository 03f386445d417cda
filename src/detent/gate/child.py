"""The gate of a subagent: under the one of its parent, and never wider.

Every gate on the way up to the session has a say, as it stands now, and the strictest counts. What
a person agrees to goes up to the session and counts for all.
"""

import os
from collections.abc import Callable, Coroutine
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from detent.gate.gate import Gatekeeper
from detent.gate.hooks import Hook, HookAnswer
from detent.gate.paths import links_remembered
from detent.gate.rules import READING
from detent.gate.terms import KindLimits, Mode, Rule, RuleSet, Workspace
from detent.ports import Answer, Approver, Proposal
from detent.types.content import UserBlock
from detent.types.errors import BadInput
from detent.types.verdicts import Allow, Ask, Verdict, strictest

LOOSEST_FIRST: tuple[Mode, ...] = (
    "bypassPermissions", "acceptEdits", "auto", "default", "dontAsk", "plan",
)  # fmt: skip

INTERRUPTED = "the question was answered with an interrupt"


def stricter(*modes: Mode) -> Mode:
    """For those who want to know one: modes differ in more than one way."""
    return max(modes, key=LOOSEST_FIRST.index)


class Child(Struct, frozen=True, kw_only=True):
    """Whose gate it is, and what its kind and its task hold it to."""

    agent: str
    kind: str
    name: str
    """What people call it."""
    log: str = ""
    cwd: Callable[[], str] = str
    modes: tuple[Mode, ...] = ()
    """What its kind says and what its task says: each holds it back. Empty: its parent's."""
    deny: tuple[Rule, ...] = ()
    limits: KindLimits = KindLimits()
    copy_of: str = ""
    """The folder that its own one is a copy of: rules for that are for this as well."""


class OfTheParent:
    """What holds for the parent holds for the child: nobody sets it here."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, gate: "ChildGate", owner: type) -> Any:
        return getattr(gate.above, self._name)

    def __set__(self, gate: "ChildGate", value: Any) -> None:
        pass


class ChildGate(Gatekeeper):
    classifier: Any = OfTheParent()
    trusts_sandbox: Any = OfTheParent()
    takes_allow_rules: Any = OfTheParent()
    asks_person: Any = OfTheParent()
    below: Any = OfTheParent()
    _waiting: Any = OfTheParent()

    def __init__(
        self,
        above: Gatekeeper,
        workspace: Workspace,
        child: Child,
        saved: Callable[[], bool] = lambda: True,
    ) -> None:
        self.above = above
        self._child = child
        super().__init__(
            workspace,
            hooks_first=above._hooks_first,
            saved=saved,
            report=above._report,
            canonical=above._canonical,
        )
        self.limits = child.limits
        self.source = "subagent"
        self.agent, self.agent_id = child.name, child.agent
        self._is_elsewhere = workspace.roots != above.workspace.roots
        self.below[child.agent] = self

    @property
    def kind(self) -> str:
        return self._child.kind

    @property
    def reads_less(self) -> bool:
        """Whether it may not read some files that its parent may."""
        return any(rule.what and rule.tool in READING for rule in self._child.deny)

    @property
    def mode(self) -> Mode:
        return stricter(*self._child.modes, self.above.mode)

    @mode.setter
    def mode(self, mode: Mode) -> None:
        """It goes by its parent's and by what it began with."""

    @property
    def rules(self) -> RuleSet:
        rules = self.above.rules
        return replace(rules, deny=(*rules.deny, *self._child.deny)) if self._child.deny else rules

    def judge(self, proposal: Proposal) -> Verdict:
        with links_remembered():  # the disk is not looked at anew by each who has a say
            return self._joined(proposal)

    def _joined(self, proposal: Proposal) -> Verdict:
        verdicts = self.verdicts(proposal)
        verdict = joint(verdicts)
        if len(verdicts) == 1 or not isinstance(verdict, Ask):
            return verdict
        offered = (rule for each in verdicts if isinstance(each, Ask) for rule in each.rules)
        fitting = (self._fitting(rule, proposal) for rule in dict.fromkeys(offered))
        return replace(verdict, rules=tuple(dict.fromkeys(filter(None, fitting))))

    def verdicts(self, proposal: Proposal, *consents: Rule) -> tuple[Verdict, ...]:
        higher = self.above.verdicts(proposal, *consents, *self._moved(consents))
        if denial := self._objection(proposal):
            return (*higher, denial)
        child = self._child
        if not (child.modes or child.deny or self._is_elsewhere) and self._saved():
            return higher  # nothing but what holds for the parent
        rules, modes = self.rules, child.modes or (self.above.mode,)
        rules = self.as_here(replace(rules, allow=(*rules.allow, *consents)))
        return (*higher, *(self._judged(rules, mode, proposal) for mode in modes))

    def as_here(self, rules: RuleSet) -> RuleSet:
        """In a copy, and in a copy of a copy."""
        rules, original = self.above.as_here(rules), self._child.copy_of
        if not original:
            return rules
        from detent.gate.copying import with_copies

        return with_copies(rules, original, self._workspace)

    def _moved(self, consents: tuple[Rule, ...]) -> tuple[Rule, ...]:
        """What is allowed of a file is allowed of its copy; those above would not know that."""
        if not self._child.copy_of:
            return ()
        known = (*self.rules.allow, *consents)
        return self.as_here(RuleSet(allow=known)).allow[len(known) :]

    def _fitting(self, text: str, proposal: Proposal) -> str:
        """The rule as it would be kept: of a file in a copy, for what that is a copy of. Empty
        where it would not help."""
        if original := self._child.copy_of:
            place = os.path.relpath(self._workspace.roots[0], original)
            meant = text.replace(f"(/{place}/", "(/", 1)
            if meant != text and self._permits(meant, proposal):
                return meant
        return text if self._permits(text, proposal) else ""

    def _permits(self, text: str, proposal: Proposal) -> bool:
        """As it would be kept, and for all who have a say."""
        try:
            consent = self.agreed(text)
        except BadInput:
            return False
        return all(isinstance(said, Allow) for said in self.verdicts(proposal, consent))

    def agreed(self, text: str) -> Rule:
        return self.above.agreed(text)

    async def _keep(self, kind: str, texts: tuple[str, ...], scope: str) -> None:
        await self.above._keep(kind, texts, scope)

    async def _said(
        self, proposal: Proposal, verdict: Ask, hook: HookAnswer, ask: Approver
    ) -> Answer | Verdict:
        """Who ends the turn by an answer means the session's."""
        said = await super()._said(proposal, verdict, hook, ask)
        if isinstance(said, Answer) and said.interrupt:
            self.above.interrupt(said.reason or INTERRUPTED)
        return said

    def interrupt(self, reason: str) -> None:
        super().interrupt(reason)
        self.above.interrupt(reason)

    async def prompted(self, content: tuple[UserBlock, ...]) -> str:
        """They are not the user's words."""
        return ""

    async def stopping(self, text: str, again: bool) -> str:
        own = self._hooks.stopping
        if not own and not self.hears("agent_stopping"):
            return ""
        from detent.gate.hooks.events import AgentStopping
        from detent.gate.hooks.moments import feedback

        child = self._child
        event = self._signed(AgentStopping(child.agent, child.kind, text, again, child.log))
        answer = await self._ask_hooks((*self.listeners("agent_stopping"), *own), event)
        return "" if answer.stop else feedback(answer)

    def opened(self) -> str:
        source, self.source = self.source, ""
        return source if self.hears("agent_started") else ""

    async def happened(self, moment: str, **facts: Any) -> HookAnswer:
        if moment != "session_started":
            return await super().happened(moment, **facts)
        from detent.gate.hooks.events import AgentStarted

        return await self.tell(AgentStarted(self._child.agent, self._child.kind))

    def listeners(self, moment: str) -> tuple[Hook, ...]:
        """A guard of the parent is not got round by giving the work to somebody else."""
        return (*self.above.listeners(moment), *super().listeners(moment))

    async def tell(self, event: Any) -> HookAnswer:
        return await super().tell(self._signed(event))

    def _signed(self, event: Any) -> Any:
        child = self._child
        return replace(
            event,
            agent_id=child.agent,
            agent_type=child.kind,
            cwd=child.cwd(),
            permission_mode=self.mode,
        )

    def beside(self, work: Coroutine[Any, Any, Any]) -> None:
        self.above.beside(work)

    async def aclose(self) -> None:
        self.below.pop(self._child.agent, None)

    def falls_under(self, rule: str, proposal: Proposal) -> bool:
        return self.above.falls_under(rule, proposal) or super().falls_under(rule, proposal)


def joint(verdicts: tuple[Verdict, ...]) -> Verdict:
    """The strictest. Of several questions the one that the fewest may answer: not a mode's, and of
    modes not the one in which a model answers."""
    verdict = strictest(*verdicts)
    if not isinstance(verdict, Ask):
        return verdict
    questions = [each for each in verdicts if isinstance(each, Ask)]
    return min(questions, key=_how_open)


def _how_open(question: Ask) -> int:
    if question.source == "mode auto":
        return 2
    return int(question.source.startswith("mode "))
