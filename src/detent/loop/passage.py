"""The passage of one call: arguments, gate, tool, hooks. Always comes to an outcome."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, cast

from msgspec.structs import replace

from detent.loop.kit import Kit
from detent.loop.places import places_of, with_places
from detent.loop.pulse import Pulse
from detent.ports import (
    Admitted,
    Answer,
    BadArguments,
    Desk,
    Proposal,
    Question,
    Stopped,
    Tool,
)
from detent.types.codec import arguments_object, encode, ends_early
from detent.types.content import Call
from detent.types.effects import Asks
from detent.types.events import Answered, Asked, Progress
from detent.types.outcomes import Cut, Ending, Failed, Outcome, Refused, with_context
from detent.types.verdicts import Deny

CUT_SHORT = "Not run: the call was cut off in the middle of its arguments."


class Prepared:
    """A call that may run: what was judged is what will run."""

    __slots__ = ("admitted", "answer", "args", "proposal", "tool")

    def __init__(
        self,
        tool: Tool,
        proposal: Proposal,
        args: Any,
        admitted: Admitted,
        answer: Mapping[str, Any],
    ) -> None:
        self.tool = tool
        self.answer = answer
        self.proposal = proposal
        self.args = args
        self.admitted = admitted


class Passage:
    def __init__(self, kit: Kit, call: Call) -> None:
        self._kit = kit
        self._call = call
        self._proposed: dict[str, tuple[Proposal, Any]] = {}
        """By their arguments: those of the model, and what others made of them."""
        self.stop = ""
        """Set when a hook or the person ends the turn."""
        self.seen: Mapping[str, str] = {}
        self.so_far: Callable[[], str] = lambda: ""
        """What a call that is cut short has come to."""

    async def prepare(self) -> Prepared | Outcome:
        """Ready to run, or how it ended before it could."""
        call, kit = self._call, self._kit
        tool = kit.toolbox.find(call.name)
        if tool is None:
            known = ", ".join(spec.name for spec in kit.toolbox.specs())
            return Failed(f"There is no tool named {call.name!r}. Known tools: {known}.")
        try:
            proposal, args = self._propose(call, tool)
            proposal = _as_a_question(proposal, tool)
        except BadArguments as error:
            return Failed(f"{CUT_SHORT} {error}" if ends_early(call.arguments) else str(error))
        kit.trace("Permit", call.name)
        kit.trace("Hooks", call.name)
        given, asking = proposal.arguments, Asking(kit, self)
        try:
            admitted = await kit.gate.admit(proposal, self._proposer(tool), asking)
            if isinstance(admitted, Admitted) and admitted.arguments is not None:
                proposal, args = self._propose(_with_arguments(call, admitted.arguments), tool)
        except BadArguments as error:
            return Failed(f"A hook changed the arguments so that they no longer fit. {error}")
        if isinstance(admitted, Stopped):
            self.stop = admitted.reason
            return admitted.outcome
        if isinstance(admitted, Refused):
            return admitted
        if asking.mode:
            await kit.desk.shop.switch_mode(asking.mode)
        return Prepared(tool, proposal, args, admitted, _difference(given, admitted.arguments))

    def _proposer(self, tool: Tool) -> Callable[[dict[str, Any]], Proposal]:
        def propose(changed: dict[str, Any]) -> Proposal:
            return self._propose(_with_arguments(self._call, changed), tool)[0]

        return propose

    def _propose(self, call: Call, tool: Tool) -> tuple[Proposal, Any]:
        """The parsed arguments are judged and then run: nothing is parsed again between, and
        what a path leads to is not looked up again."""
        if call.arguments in self._proposed:
            return self._proposed[call.arguments]
        args = tool.parse(call.arguments)
        cwd = self._kit.desk.cwd
        effects = tool.effects(args, cwd)
        places = places_of(effects, self._kit.desk.shop.host)
        proposal = Proposal(
            call,
            tool.spec.name,
            _as_object(call.arguments),
            with_places(effects, places),
            cwd,
            places,
        )
        self._proposed[call.arguments] = proposal, args
        return proposal, args

    def no_longer(self, prepared: Prepared) -> Refused | None:
        """A call may have waited since it was admitted, and the mode be a stricter one now."""
        verdict = self._kit.gate.judge(prepared.proposal)
        return Refused(verdict.reason, verdict.source) if isinstance(verdict, Deny) else None

    async def perform(self, prepared: Prepared) -> Outcome:
        """Run it, and let the hooks behind it look at what came."""
        begun = self._kit.clock.elapsed()
        outcome = await self._run(prepared)
        ms = round((self._kit.clock.elapsed() - begun) * 1000)
        if prepared.admitted.context:
            outcome = with_context(outcome, prepared.admitted.context)
        revised = await self._kit.gate.review(prepared.proposal, outcome, ms)
        self.stop = self.stop or revised.stop
        return revised.outcome

    async def _run(self, prepared: Prepared) -> Outcome:
        """A tool that raises has failed; it never takes the turn down."""
        tool, name = prepared.tool, prepared.proposal.tool
        seconds = self._kit.limits.tool_seconds.get(name, tool.timeout)

        def beat(elapsed: float) -> None:
            self._kit.hint(Progress(self._call.id, name, seconds=round(elapsed, 1)))

        try:
            async with asyncio.timeout(seconds) as limit:
                with Pulse(beat):
                    outcome: Any = await tool.run(prepared.args, self._desk(prepared))
        except (asyncio.CancelledError, KeyboardInterrupt):
            raise
        except BaseException as error:  # `sys.exit` in a tool ends the call, not the agent
            if isinstance(error, TimeoutError) and limit.expired():
                return Cut(f"timed out after {seconds:g} s", self.so_far())
            return Failed(f"{name} failed: {type(error).__name__}: {error!s}")
        if not isinstance(outcome, Ending):
            return Failed(f"{name} failed: it gave {type(outcome).__name__} and no outcome")
        return cast("Outcome", outcome)

    def _desk(self, prepared: Prepared) -> Desk:
        begun = self._kit.clock.elapsed()

        def progress(text: str) -> None:
            elapsed = round(self._kit.clock.elapsed() - begun, 1)
            self._kit.hint(Progress(self._call.id, prepared.proposal.tool, text, elapsed))

        desk = self._kit.desk(self._call.id, progress)
        self.seen = desk.files.noted
        return replace(
            desk,
            answer=prepared.answer,
            cut_short=self._cut_short,
            places=prepared.proposal.places,
        )

    def _cut_short(self, so_far: Callable[[], str]) -> None:
        self.so_far = so_far


class Asking:
    """The approver as the gate sees it: every question and answer passes the reader."""

    def __init__(self, kit: Kit, passage: Passage) -> None:
        self._kit = kit
        self._passage = passage
        self.mode = ""
        """The mode that the answer asks for, once the call is admitted."""

    async def ask(self, question: Question) -> Answer:
        call = question.proposal.call
        tool = question.proposal.tool
        await self._kit.emit(
            Asked(call.id, tool, call.arguments, question.reason, question.rules, question.agent)
        )
        answer = await self._kit.approver.ask(question)
        if answer.interrupt:
            text = answer.reason or "the question was answered with an interrupt"
            self._passage.stop = text
        self.mode = answer.mode
        await self._kit.emit(Answered(call.id, answer.allowed, answer.reason))
        return answer


def _as_object(arguments: str) -> dict[str, Any]:
    """What rules and hooks look at; a tool of its own making may take any text."""
    given = arguments_object(arguments)
    return {"input": arguments} if given is None else given


def _as_a_question(proposal: Proposal, tool: Tool) -> Proposal:
    """Where a person is asked something, what the model wrote beside the schema is not shown: an
    answer stands there, and it is the person's to give."""
    if not any(isinstance(effect, Asks) for effect in proposal.effects):
        return proposal
    shape = arguments_object(bytes(tool.spec.schema).decode()) or {}
    offered = {n: v for n, v in proposal.arguments.items() if n in shape.get("properties", {})}
    return replace(proposal, call=_with_arguments(proposal.call, offered), arguments=offered)


def _difference(given: dict[str, Any], changed: dict[str, Any] | None) -> dict[str, Any]:
    """What somebody else than the model has written into the arguments."""
    changes = changed or {}
    return {
        name: value for name, value in changes.items() if name not in given or given[name] != value
    }


def _with_arguments(call: Call, arguments: dict[str, Any]) -> Call:
    return Call(call.id, call.name, encode(arguments).decode())
