"""The call runner: calls start as their blocks arrive, run in order or together, and always end.

Preparation (arguments, hooks, permission) happens in call order. Calls that change nothing run
together; any other waits for all before it, and all behind it wait for that one. Every call that
started gets exactly one `CallEnded`, also when it crashes or is cancelled.
"""

import asyncio
from collections.abc import Mapping
from typing import Any

from detent.context.bounds import bounded
from detent.loop.kit import Kit
from detent.ports import Admitted, Answer, BadArguments, Proposal, Question, Tool
from detent.types.codec import decode_any, encode
from detent.types.content import AssistantBlock, Call
from detent.types.events import Answered, Asked, CallEnded, CallStarted, Progress, Reminded
from detent.types.outcomes import Cut, Failed, Outcome, Refused, text_of, with_context


class Slot:
    """One call of the answer being streamed."""

    def __init__(self, call: Call, sent: str) -> None:
        self.call = call
        self.sent = sent
        """The id as the model wrote it; ours may differ."""
        self.together = False
        self.prepared = asyncio.Event()
        self.done = asyncio.Event()
        self.started = False
        self.ended = False
        self.outcome: Outcome | None = None
        self.seen: Mapping[str, str] = {}
        self.task: asyncio.Task[None] | None = None


class CallRunner:
    def __init__(self, kit: Kit) -> None:
        self._kit = kit
        self._slots: dict[int, Slot] = {}
        """By the position of the call's block in the answer."""
        self._orphans: list[Slot] = []
        """Calls of an answer that was lost and asked for again."""
        self._room = asyncio.Semaphore(max(1, kit.limits.concurrency))
        self.stop = ""
        """Set when a hook or the person ends the turn."""

    async def __aenter__(self) -> "CallRunner":
        return self

    async def __aexit__(self, *exc: object) -> None:
        """Nothing outlives the step: what still runs is cancelled and waited for."""
        tasks = [slot.task for slot in self._all() if slot.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._tell_orphans()

    def begin(self, index: int, call: Call) -> None:
        """A whole call has arrived. One that already ran for a lost answer is not run again."""
        if index in self._slots:
            return
        adopted = self._adoptable(call)
        if adopted is not None:
            self._slots[index], adopted.sent = adopted, call.id
            return
        earlier = self._all()  # calls of a lost answer may still run: they come first, too
        slot = Slot(Call(self._fresh_id(call.id), call.name, call.arguments), call.id)
        twin = any(_same(call, s.call) and call.id == s.sent for s in self._slots.values())
        self._slots[index] = slot
        if twin and call.id:
            slot.outcome = Failed("The same call came twice in one answer; it was run once.")
        slot.task = asyncio.create_task(self._run(slot, earlier))

    def discard(self) -> None:
        """The answer so far is void; its calls wait to be claimed by the next one."""
        self._orphans += self._slots.values()
        self._slots = {}

    def adopt(self, content: tuple[AssistantBlock, ...]) -> tuple[AssistantBlock, ...]:
        """The answer is whole: start what has not started, and put our call ids in place."""
        for index, block in enumerate(content):
            if isinstance(block, Call):
                self.begin(index, block)
        return tuple(
            self._slots[index].call if isinstance(block, Call) else block
            for index, block in enumerate(content)
        )

    def ready(self) -> dict[int, Call]:
        """The calls begun so far, for an answer that was cut."""
        return {index: slot.call for index, slot in self._slots.items()}

    async def finish(self) -> int:
        """Wait for every call. How many there were."""
        for slot in self._all():
            await slot.done.wait()
        return len(self._slots)

    async def _tell_orphans(self) -> None:
        """The model must learn of a call that ran for an answer it does not know it gave."""
        for slot in self._orphans:
            if slot.started and slot not in self._slots.values():
                await self._kit.emit(Reminded(text=_orphan_note(slot), source="orphaned call"))

    def _all(self) -> list[Slot]:
        return [*self._orphans, *(s for s in self._slots.values() if s not in self._orphans)]

    def _adoptable(self, call: Call) -> Slot | None:
        taken = self._slots.values()
        return next((s for s in self._orphans if s not in taken and _same(call, s.call)), None)

    def _fresh_id(self, wanted: str) -> str:
        """Ids are unique in a session; some servers count from zero in every answer."""
        used = wanted in {slot.call.id for slot in self._all()}
        if wanted and not used and not self._kit.conversation.knows_call(wanted):
            return wanted
        return self._kit.clock.new_id("call")

    async def _run(self, slot: Slot, earlier: list[Slot]) -> None:
        try:
            outcome = slot.outcome or await self._whatever_comes(slot, earlier)
            if not slot.ended:
                await self._end(slot, outcome, 0)
        except asyncio.CancelledError:
            if slot.started and not slot.ended:
                await self._end(slot, Cut("interrupted by the user"), 0)
            raise
        finally:
            slot.prepared.set()
            slot.done.set()

    async def _whatever_comes(self, slot: Slot, earlier: list[Slot]) -> Outcome:
        """A fault of ours in preparing a call is a failed call, not a failed turn."""
        try:
            return await self._outcome(slot, earlier)
        except Exception as error:
            return Failed(f"{slot.call.name} could not be run: {type(error).__name__}: {error}")

    async def _outcome(self, slot: Slot, earlier: list[Slot]) -> Outcome:
        for other in earlier:
            await other.prepared.wait()
        prepared = await self._prepare(slot)
        slot.prepared.set()
        if not isinstance(prepared, Prepared):
            return prepared
        for other in earlier:
            if not (slot.together and other.together):
                await other.done.wait()
        async with self._room:
            return await self._execute(slot, prepared)

    async def _prepare(self, slot: Slot) -> "Prepared | Outcome":
        call, kit = slot.call, self._kit
        tool = kit.toolbox.find(call.name)
        if tool is None:
            known = ", ".join(spec.name for spec in kit.toolbox.specs())
            return Failed(f"There is no tool named {call.name!r}. Known tools: {known}.")
        try:
            proposal, args = self._propose(call, tool)
        except BadArguments as error:
            return Failed(str(error))

        def propose(changed: dict[str, Any]) -> Proposal:
            return self._propose(_with_arguments(call, changed), tool)[0]

        kit.trace("Permit", call.name)
        asking = Asking(kit)
        try:
            admitted = await kit.gate.admit(proposal, propose, asking)
            if isinstance(admitted, Admitted) and admitted.arguments is not None:
                proposal, args = self._propose(_with_arguments(call, admitted.arguments), tool)
        except BadArguments as error:
            return Failed(f"A hook changed the arguments so that they no longer fit. {error}")
        self.stop = self.stop or asking.stop
        if isinstance(admitted, Refused):
            return admitted
        slot.together = kit.gate.harmless(proposal.effects)
        return Prepared(tool, proposal, args, admitted)

    def _propose(self, call: Call, tool: Tool) -> tuple[Proposal, Any]:
        """The parsed arguments are judged and then run: nothing is parsed again between."""
        args = tool.parse(call.arguments)
        effects = tool.effects(args, self._kit.desk.cwd)
        return Proposal(call, tool.spec.name, _as_object(call.arguments), effects), args

    async def _execute(self, slot: Slot, prepared: "Prepared") -> Outcome:
        kit, proposal = self._kit, prepared.proposal
        slot.started = True
        await kit.emit(
            CallStarted(
                call_id=slot.call.id,
                name=proposal.tool,
                arguments=proposal.call.arguments,
                effects=proposal.effects,
                verdict=prepared.admitted.verdict,
            )
        )
        kit.trace("Execute", proposal.tool)
        begun = kit.clock.elapsed()
        outcome = await self._call(slot, prepared)
        if prepared.admitted.context:
            outcome = with_context(outcome, prepared.admitted.context)
        kit.trace("Hooks", proposal.tool)
        revised = await kit.gate.review(proposal, outcome)
        self.stop = self.stop or revised.stop
        await self._end(slot, revised.outcome, round((kit.clock.elapsed() - begun) * 1000))
        return slot.outcome or revised.outcome

    async def _call(self, slot: Slot, prepared: "Prepared") -> Outcome:
        """A tool that raises has failed; it never takes the turn down."""
        tool, name = prepared.tool, prepared.proposal.tool

        def progress(text: str) -> None:
            self._kit.hint(Progress(slot.call.id, name, text))

        desk = self._kit.desk(slot.call.id, progress)
        slot.seen = desk.files.noted
        try:
            async with asyncio.timeout(tool.timeout) as limit:
                return await tool.run(prepared.args, desk)
        except Exception as error:
            if isinstance(error, TimeoutError) and limit.expired():
                return Cut(f"timed out after {tool.timeout:g} s")
            return Failed(f"{name} failed: {type(error).__name__}: {error}")

    async def _end(self, slot: Slot, outcome: Outcome, ms: int) -> None:
        slot.outcome, slot.ended = bounded(outcome), True
        self._kit.trace("Result", slot.call.name)
        await self._kit.emit(
            CallEnded(
                call_id=slot.call.id,
                name=slot.call.name,
                outcome=slot.outcome,
                ms=ms,
                seen=dict(slot.seen),
            )
        )


class Prepared:
    """A call that may run."""

    __slots__ = ("admitted", "args", "proposal", "tool")

    def __init__(self, tool: Tool, proposal: Proposal, args: Any, admitted: Admitted) -> None:
        self.tool = tool
        self.proposal = proposal
        self.args = args
        self.admitted = admitted


class Asking:
    """The approver as the gate sees it: every question and answer passes the reader."""

    def __init__(self, kit: Kit) -> None:
        self._kit = kit
        self.stop = ""

    async def ask(self, question: Question) -> Answer:
        call = question.proposal.call
        tool = question.proposal.tool
        await self._kit.emit(Asked(call.id, tool, call.arguments, question.reason, question.rules))
        answer = await self._kit.approver.ask(question)
        if answer.interrupt:
            self.stop = answer.reason or "the question was answered with an interrupt"
        await self._kit.emit(Answered(call.id, answer.allowed, answer.reason))
        return answer


def _as_object(arguments: str) -> dict[str, Any]:
    """What rules and hooks look at; a tool of its own making may take any text."""
    try:
        given = decode_any(arguments) if arguments.strip() else {}
    except ValueError:
        given = None
    return given if isinstance(given, dict) else {"input": arguments}


def _with_arguments(call: Call, arguments: dict[str, Any]) -> Call:
    return Call(call.id, call.name, encode(arguments).decode())


def _same(one: Call, other: Call) -> bool:
    return one.name == other.name and one.arguments == other.arguments


def _orphan_note(slot: Slot) -> str:
    gave = text_of(slot.outcome)[:2000] if slot.outcome is not None else "nothing"
    return (
        f"An answer of yours was lost on the way after its call {slot.call.name} "
        f"{slot.call.arguments} had run. It gave:\n{gave}"
    )
