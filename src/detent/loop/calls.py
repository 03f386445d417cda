"""The call runner: calls start as their blocks arrive, run in order or together, and always end.

Calls that change nothing run together; any other waits for all before it, and all behind it wait
for that one: they are looked at (arguments, hooks, permission) only when it is done, for it may
have changed what a name means. Every call that started gets exactly one `CallEnded`, also when it
crashes or is cancelled.
"""

import asyncio
import os
from collections.abc import Callable
from contextlib import nullcontext, suppress
from typing import TYPE_CHECKING

from msgspec.structs import replace

from detent.context.bounds import bounded
from detent.context.media import sound_outcome
from detent.loop.kit import Kit
from detent.ports import Outputs, Proposal
from detent.types.budget import Spent
from detent.types.codec import encode
from detent.types.content import AssistantBlock, Call
from detent.types.effects import only_looks, only_spawns
from detent.types.events import CallEnded, CallStarted
from detent.types.files import Change, FileState
from detent.types.outcomes import INTERRUPTED, Cut, Ending, Failed, Outcome, Refused, text_of

if TYPE_CHECKING:
    from detent.loop.passage import Passage, Prepared


PATIENCE = 1.5
"""Seconds that a cancelled call has to end; ours need about one at most."""

UNSAVED = (
    "Not run: the session cannot be saved, and there would be no record of this call: {why}. "
    "Tell the user; with --allow-unsaved such calls run all the same."
)
PEOPLE = ("person", "user")
"""Who may agree to a call without a record."""
TWICE = "The same call came twice in one answer; it was run once."


class Slot:
    """One call of the answer being streamed."""

    def __init__(self, kit: Kit, call: Call, sent: str) -> None:
        self.call = call
        self.sent = sent
        """The id as the model wrote it; ours may differ."""
        self.passage = passage_of(kit, call)
        self.together = False
        self.moves = False
        """Calls behind it may stand elsewhere."""
        self.prepared = asyncio.Event()
        self.done = asyncio.Event()
        self.started = False
        self.ended = False
        self.begun: float | None = None
        """When it came to its turn: waiting for others is no part of its time."""
        self.cwd = ""
        """Where it began."""
        self.knew = False
        """Whether people knew that the session is not saved, when they let it run."""
        self.outcome: Outcome | None = None


class CallRunner:
    def __init__(
        self,
        kit: Kit,
        *,
        closed: str = "",
        ran: Callable[[Call], Outcome | None] = lambda call: None,
    ) -> None:
        """`closed` says why no call may run but one that hands the final answer over; `ran` gives
        the outcome of a call that need not run, for it has run before.
        """
        self._kit = kit
        self._closed = closed
        self._slots: dict[int, Slot] = {}
        """By the position of the call's block in the answer."""
        self._tasks: list[asyncio.Task[None]] = []
        self._spawning: list[asyncio.Task[None]] = []
        """Those that wait for subagents."""
        self._room = asyncio.Semaphore(max(1, kit.limits.concurrency))
        self._ran = ran
        self.stop = ""
        """Set when a hook or the person ends the turn."""

    async def __aenter__(self) -> "CallRunner":
        return self

    async def __aexit__(self, *exc: object) -> None:
        """Nothing outlives the step: what still runs is cancelled and waited for. A tool that will
        not end is left behind; its call has ended."""
        self.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=PATIENCE)
        if self._spawning:  # they have had the same patience with others, and come right behind
            await asyncio.wait(self._spawning, timeout=PATIENCE)
        for slot in self._slots.values():
            if slot.started and not slot.ended:
                await self._end(slot, Cut(INTERRUPTED, slot.passage.so_far()))

    @property
    def acted(self) -> bool:
        """Whether a call has begun to run, or has ended without: there is no way back."""
        return any(slot.started or slot.ended for slot in self._slots.values())

    def cancel(self) -> None:
        """Each once: it may be writing down how its call ended."""
        for task in self._tasks:
            if not task.cancelling():
                task.cancel()

    def begin(self, index: int, call: Call) -> None:
        """A whole call has arrived."""
        if index in self._slots:
            return
        earlier = list(self._slots.values())
        slot = Slot(self._kit, replace(call, id=self._fresh_id(call.id)), call.id)
        twin = any(_same(call, s.call) and call.id == s.sent for s in self._slots.values())
        self._slots[index] = slot
        if self._closed and call.name != self._kit.form:
            slot.outcome = Cut(self._closed)
        elif twin and call.id:
            slot.outcome = Failed(TWICE)
        else:
            slot.outcome = self._ran(call)
        self._tasks.append(asyncio.create_task(self._run(slot, earlier)))

    def discard(self) -> None:
        """The answer so far is void, and none of its calls has acted: none ever will."""
        self.cancel()
        self._slots = {}

    def adopt(self, content: tuple[AssistantBlock, ...]) -> tuple[AssistantBlock, ...]:
        """The answer is whole: start what has not started, and put our call ids in place."""
        for index, block in enumerate(content):
            if isinstance(block, Call):
                self.begin(index, block)
        return tuple(
            replace(block, id=self._slots[index].call.id) if isinstance(block, Call) else block
            for index, block in enumerate(content)
        )

    def ready(self) -> dict[int, Call]:
        """The calls begun so far, for an answer that never became whole."""
        return {index: slot.call for index, slot in self._slots.items()}

    def sent(self) -> dict[str, str]:
        """Ids as the model wrote them, by ours, where they differ."""
        slots = self._slots.values()
        return {slot.call.id: slot.sent for slot in slots if slot.call.id != slot.sent}

    async def finish(self) -> int:
        """Wait for every call. How many there were."""
        for slot in self._slots.values():
            await slot.done.wait()
        return len(self._slots)

    def _fresh_id(self, wanted: str) -> str:
        """Ids are unique in a session; some servers count from zero in every answer."""
        used = wanted in {slot.call.id for slot in self._slots.values()}
        if wanted and not used and not self._kit.conversation.knows_call(wanted):
            return wanted
        return self._kit.clock.new_id("call")

    async def _run(self, slot: Slot, earlier: list[Slot]) -> None:
        try:
            outcome = slot.outcome or await self._whatever_comes(slot, earlier)
            await self._end(slot, outcome)
        except asyncio.CancelledError:
            if slot.started and not slot.ended:
                await self._end(slot, Cut(INTERRUPTED, slot.passage.so_far()))
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
            if not other.together:
                await other.done.wait()
        if self.stop:
            return _too_late()
        slot.knew = bool(self._kit.unsaved())
        prepared = await slot.passage.prepare()
        self.stop = self.stop or slot.passage.stop
        if not isinstance(prepared, Ending):
            slot.moves = prepared.tool.moves(prepared.args)
            slot.together = not slot.moves and self._kit.gate.harmless(prepared.proposal)
        slot.prepared.set()
        if isinstance(prepared, Ending):
            return prepared
        if only_spawns(prepared.proposal.effects):
            self._spawning.append(asyncio.current_task())  # type: ignore[arg-type]
        before = [] if slot.together else [other for other in earlier if not other.done.is_set()]
        waits = bool(before) or self._room.locked()
        for other in before:
            await other.done.wait()
        async with nullcontext() if only_spawns(prepared.proposal.effects) else self._room:
            if self.stop:
                return _too_late()
            refused = slot.passage.no_longer(prepared) if waits else None
            return refused or self._unpaid(slot) or await self._perform(slot, prepared)

    def _unpaid(self, slot: Slot) -> Outcome | None:
        """Counts the call. The one that hands the final answer over is never one too many."""
        account, one = self._kit.account, Spent(calls=1)
        if slot.call.name == self._kit.form:
            account.spend(one)
            return None
        lacking = account.take(one)
        return None if lacking is None else Cut(f"not run: {lacking.message}")

    async def _perform(self, slot: Slot, prepared: "Prepared") -> Outcome:
        """The intent is in the log before the effect is in the world."""
        kit, proposal = self._kit, prepared.proposal
        kept = await self._kept(slot, proposal)
        slot.started, slot.cwd = True, kit.desk.cwd
        await kit.emit(
            CallStarted(
                call_id=slot.call.id,
                name=proposal.tool,
                arguments=proposal.call.arguments,
                effects=proposal.effects,
                verdict=prepared.admitted.verdict,
                kept=kept,
            )
        )
        if refused := self._unrecorded(slot, prepared):
            return refused
        kit.trace("Execute", proposal.tool)
        slot.begun = kit.clock.elapsed()
        outcome = await slot.passage.perform(prepared)
        self.stop = self.stop or slot.passage.stop
        return outcome

    async def _kept(self, slot: Slot, proposal: Proposal) -> dict[str, FileState]:
        """Files as they are before it. Cancelled meanwhile, it has not begun, and costs nothing."""
        if slot.together:
            return {}
        try:
            return await self._kit.checkpoints.before(proposal)
        except asyncio.CancelledError:
            self._kit.account.spend(Spent(calls=-1))
            raise

    def _unrecorded(self, slot: Slot, prepared: "Prepared") -> Refused | None:
        """After a crash nobody would know that it ran. A person who knows that may want it so."""
        why, proposal = self._kit.unsaved(), prepared.proposal
        if not why or (slot.knew and prepared.admitted.verdict.source in PEOPLE):
            return None
        if only_looks(proposal.effects) or self._kit.gate.harmless(proposal):
            return None
        return Refused(UNSAVED.format(why=why), "session")

    async def _end(self, slot: Slot, outcome: Outcome) -> None:
        if slot.ended:  # too late: it was given up
            return
        kit = self._kit

        def keep(text: str) -> str:
            return put_away(kit.desk.shop.outputs, f"{slot.call.name}-{slot.call.id}", text)

        fitting = bounded(sound_outcome(outcome), keep, kit.limits.characters)
        slot.outcome, slot.ended = _recordable(fitting), True
        if slot.together or not slot.started:
            await self._tell_end(slot, ())
            return
        looking = asyncio.ensure_future(kit.checkpoints.after(slot.call.id))
        try:
            await asyncio.shield(looking)
        except asyncio.CancelledError:
            await asyncio.wait([looking], timeout=PATIENCE / 2)
            raise
        finally:  # whatever happens, the log says how the call ended
            await self._tell_end(slot, looking.result() if looking.done() else ())

    async def _tell_end(self, slot: Slot, changed: tuple[Change, ...]) -> None:
        kit, outcome, cwd = self._kit, slot.outcome, self._kit.desk.cwd
        assert outcome is not None
        kit.trace("Result", slot.call.name)
        await kit.emit(
            CallEnded(
                call_id=slot.call.id,
                name=slot.call.name,
                outcome=outcome,
                ms=0 if slot.begun is None else kit.lap(slot.begun, slot.call.id),
                seen=dict(slot.passage.seen),
                cwd=cwd if slot.moves and slot.started and cwd != slot.cwd else "",
                changed=changed,
                stop=slot.passage.stop,
            )
        )


def passage_of(kit: Kit, call: Call) -> "Passage":
    """Loaded with the first call: the first request need not wait for it."""
    from detent.loop.passage import Passage

    return Passage(kit, call)


def put_away(outputs: Outputs, name: str, text: str) -> str:
    """The path of the file that holds it; empty when it could not be written."""
    data, path = memoryview(text.encode("utf-8", "replace")), ""
    try:
        with outputs.create(name) as file:
            path = file.name
            while data:
                data = data[file.write(data) :]
            return path
    except OSError:
        with suppress(OSError):  # half of it would be taken for the whole
            os.unlink(path)
        return ""


def _recordable(outcome: Outcome) -> Outcome:
    """What cannot be written into the log cannot be told to the model either."""
    try:
        encode(outcome)
    except (TypeError, ValueError, OverflowError) as error:
        text = text_of(outcome).encode("utf-8", "replace").decode()
        return Failed(f"The result cannot be recorded ({type(error).__name__}): {text}")
    return outcome


def _too_late() -> Outcome:
    return Cut("not run: the turn was being stopped")


def _same(one: Call, other: Call) -> bool:
    return one.name == other.name and one.arguments == other.arguments
