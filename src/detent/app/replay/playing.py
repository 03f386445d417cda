"""Playing a tape: run by run and turn by turn, until the end or the first difference."""

import asyncio
from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from detent.app.replay.calls import Calls
from detent.app.replay.given import as_recorded
from detent.app.replay.quiet_loop import QuietLoop
from detent.app.replay.report import Difference, differing, missing
from detent.app.replay.run import Run
from detent.app.replay.tape import Tape
from detent.loop.turn import run_turn
from detent.session.agent_records import sent_aside
from detent.session.cutting import NOT_THERE
from detent.types.agents import AgentEnded, AgentStarted
from detent.types.budget import Spent
from detent.types.content import Call
from detent.types.events import (
    Budgeted,
    CallEnded,
    CallStarted,
    Entry,
    Estimated,
    Event,
    Prompted,
    Reminded,
    Replied,
    TurnEnded,
)
from detent.types.outcomes import INTERRUPTED, Cut
from detent.types.running import Equipped

UNCLEAR_SHARES = (True, "strict")
"""Of an account that others spend from, too; `True` is what earlier versions have written."""


class Player:
    def __init__(self, entries: Sequence[Entry], early: frozenset[int]) -> None:
        """`early` are places of turns in which what came from outside came at once."""
        self.shown: list[Event] = []
        self.tape = Tape(entries, self._take, self.shown.append)
        self.early = early
        self.unclear: list[int] = []
        """Places of turns in which something came from outside."""
        self.run: Run | None = None
        self.made: list[Entry] = []
        self.turns = 0
        self.unchecked = 0
        self.difference: Difference | None = None
        self._loop = QuietLoop()
        self._main: asyncio.Task[Any] | None = None
        self._is_cancelled = False
        self._equipped: Equipped | None = None

    def play(self) -> None:
        entries, tape = self.tape.entries, self.tape
        try:
            while tape.place < len(entries) and self.difference is None:
                entry = entries[tape.place]
                if isinstance(entry, Equipped):
                    self._equip(entry)
                end = end_of_turn(entries, tape.place)
                if end and self.run is not None and not self._hangs_on_others(end):
                    self._turn(self.run, end)
                else:
                    self.unchecked += bool(end) and end - tape.place
                    for _ in range(max(1, end - tape.place)):
                        tape.adopt()
                    if end and self.run is not None:
                        self.run.recount(entries[: tape.place])
        finally:
            self._loop.close()

    def _equip(self, told: Equipped) -> None:
        equipped = self._equipped = told if self._equipped is None else told.filled(self._equipped)
        if equipped.terms.get("shared") in UNCLEAR_SHARES:
            self.run = None  # how much could be asked for at a time hung on others
        elif self.run is None or equipped.begins:
            self.run = Run(self.tape, equipped, self.tape.entries[: self.tape.place])
        else:
            self.run.equip(equipped)

    def _hangs_on_others(self, end: int) -> bool:
        """A limit was met, and others spend from the same account: nobody knows when."""
        entries, last = self.tape.entries, self.tape.entries[end - 1]
        if not isinstance(last, TurnEnded) or last.reason != "budget_exceeded":
            return False
        is_shared = self._equipped is not None and "shared" in self._equipped.terms
        return is_shared or last.delegated != Spent() or _beside(entries[:end], self.tape.place)

    def _take(self, entry: Entry, made: Entry | None) -> None:
        self._loop.rounds = 0
        if made is not None:
            self.made.append(entry)
        if self.run is not None:
            self.run.take(entry, made)

    def _turn(self, run: Run, end: int) -> None:
        entries, tape = self.tape.entries, self.tape
        begin = tape.place
        self.turns += 1
        if any(map(_is_unclear, entries[begin:end])):
            self.unclear.append(begin)
        prompt = next(e for e in entries[begin:end] if isinstance(e, Prompted))
        last = entries[end - 1]
        took = last.ms / 1000 if isinstance(last, TurnEnded) else last.at - prompt.at
        calls = Calls(tape, entries[begin:end], begin)
        run.begin(calls, min(last.at - took, prompt.at))
        kit = replace(run.kit, checkpoints=calls)
        self._is_cancelled, tape.early = False, begin in self.early
        tape.on_move = self._cancel_early
        if tape.early and isinstance(last, TurnEnded):
            run.delegate(last)
        self._loop.idle = lambda has_timer: self._idle(run, has_timer)
        tape.play(end)
        self._main = self._loop.create_task(run_turn(kit, prompt.content, prompt.turn, prompt.uuid))
        try:
            self._loop.run_until_complete(self._main)
        except asyncio.CancelledError:
            pass
        except Exception as error:
            self._note(missing(tape.next) if tape.next else None, f"{error!r}")
            self._abandon()
        if self.difference is None and tape.place < end:
            self.difference = missing(tape.entries[tape.place])

    def _abandon(self) -> None:
        """A fault of ours: nothing may be left that waits."""
        self._loop.rounds = 0
        self._kill()
        left = asyncio.all_tasks(self._loop)
        for task in left:
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))

    def _note(self, found: Difference | None, got: str) -> None:
        self.difference = replace(found, got=got) if found else Difference(0, "", "", "", got)

    def _idle(self, run: Run, has_timer: bool) -> bool:
        """Everybody waits. So something came from outside, or this is where it differs."""
        tape = self.tape
        if tape.is_cut:
            return False
        if tape.take_given() or self._hurry(run):
            return True
        entry = tape.next
        last = tape.entries[tape.end - 1]
        ended = last if isinstance(last, TurnEnded) else None
        if has_timer and ended is not None and ended.limit == "seconds" and _may_be_cut(entry):
            return False  # the time that is up is a timer
        if self._is_interrupted(entry, ended) and not self._is_cancelled:
            self._cancel()
        elif run.model.is_silent and not run.model.tries_again and _is_short(entry):
            run.model.tries_again = True
            tape.wake()
        elif ended is None and entry is None:
            self._kill()
        else:
            self.difference = self._difference(entry)
            self._kill()
        return True

    def _hurry(self, run: Run) -> bool:
        """A call that waits for its entry may have to go on for others to come to theirs."""
        for held in (run.gate.held, [p for p in run.tools.held if p.ended and p.ended.stop]):
            if held:
                past = held[0]
                (run.gate.held if past in run.gate.held else run.tools.held).remove(past)
                self.tape.wake()
                return True
        return False

    def _is_interrupted(self, entry: Entry | None, ended: TurnEnded | None) -> bool:
        if ended is not None:
            return ended.reason == "user_cancelled"
        return entry is not None and _shows_interrupt(entry)

    def _cancel(self) -> None:
        self._is_cancelled = True
        if self._main is not None:
            self._main.cancel()

    def _cancel_early(self) -> None:
        """Right behind an entry, before anything else could go on."""
        entry, last = self.tape.next, self.tape.entries[self.tape.place - 1]
        answers = self.run.model.answers if self.run and isinstance(last, Estimated) else 0
        match entry:
            case TurnEnded(reason="user_cancelled", steps=steps):
                is_due = self.tape.early or len(steps) < answers
            case Replied(stop="cancelled", step=step):
                is_due = step == answers  # it was whole, and nobody could write that any more
            case _:
                is_due = False
        if is_due and not self._is_cancelled:
            self._cancel()

    def _kill(self) -> None:
        """Nothing is written from here on."""
        self.tape.is_cut = True
        self.tape.wake()
        if self._main is not None:
            self._main.cancel()

    def _difference(self, entry: Entry | None) -> Difference:
        """Of all that waits to be written: what is most like the entry that should come."""
        offered = self.tape.offered
        if not offered:
            return missing(entry) if entry else Difference(0, "", "", "nothing", "nothing")
        alike = [one for one in offered if type(one) is type(entry) and _of_one(one, entry)]
        made = alike[0] if alike else offered[0]
        if entry is not None and type(made) is type(entry):
            made = as_recorded(made, entry)
        return differing(entry, made)


def end_of_turn(entries: Sequence[Entry], place: int) -> int:
    """Behind the last entry of the turn that begins there; 0 when none does."""
    begun = place
    if isinstance(entry := entries[place], Reminded) and entry.source == "session hook":
        begun += 1
    first = entries[begun] if begun < len(entries) else None
    if not isinstance(first, Prompted) or first.steered:
        return 0
    for end in range(begun + 1, len(entries)):
        match entries[end]:
            case TurnEnded():
                return end + 1
            case Equipped() | Prompted(steered=False) | Reminded(source="fork"):
                return _as_far_as_known(entries, begun, end)
            case CallEnded(outcome=Cut(reason=reason)) if reason == NOT_THERE:
                return _as_far_as_known(entries, begun, end)
            case _:
                pass
    return _as_far_as_known(entries, begun, len(entries))


def _as_far_as_known(entries: Sequence[Entry], begun: int, end: int) -> int:
    """A program that was killed may have left calls of an answer that it did not come to write."""
    asked = {call.id for entry in entries[begun:end] for call in _calls_in(entry)}
    for place in range(begun, end):
        match entries[place]:
            case CallStarted(call_id=call_id) | CallEnded(call_id=call_id) if call_id not in asked:
                return place
            case Estimated() if place + 1 == end:
                return place
            case _:
                pass
    return end


def _calls_in(entry: Entry) -> list[Call]:
    content = entry.content if isinstance(entry, Replied) else ()
    return [block for block in content if isinstance(block, Call)]


def _beside(entries: Sequence[Entry], begin: int) -> bool:
    """Whether subagents worked beside the turn that begins there, and not for one of its calls."""
    at_work: dict[str, bool] = {}
    """Whether they do so in the background."""
    for place, entry in enumerate(entries):
        if isinstance(entry, AgentStarted):
            at_work[entry.agent] = entry.background
        elif isinstance(entry, CallEnded) and (agent := sent_aside(entry)) in at_work:
            at_work[agent] = True
        elif isinstance(entry, AgentEnded) and at_work.pop(entry.agent, False) and place >= begin:
            return True
    return any(at_work.values())


def _is_unclear(entry: Entry) -> bool:
    """It tells of something from outside, and not of the moment."""
    if isinstance(entry, TurnEnded):
        return entry.reason == "user_cancelled" or entry.delegated != Spent()
    return isinstance(entry, Budgeted)


def _shows_interrupt(entry: Entry) -> bool:
    match entry:
        case Replied(stop="cancelled"):
            return True
        case CallEnded(outcome=Cut(reason=reason)):
            return reason == INTERRUPTED
        case _:
            return False


def _may_be_cut(entry: Entry | None) -> bool:
    return isinstance(entry, TurnEnded) or (entry is not None and _shows_interrupt(entry))


def _is_short(entry: Entry | None) -> bool:
    match entry:
        case TurnEnded(reason="budget_exceeded"):
            return True
        case Reminded(source="budget"):
            return True
        case _:
            return False


def _of_one(made: Entry, recorded: Entry | None) -> bool:
    """Calls go by their ids."""
    return getattr(made, "call_id", "") == getattr(recorded, "call_id", "")
