"""The gate of a replay: it decides as it did, and hooks say what they said."""

from collections.abc import Callable
from typing import Any

from detent.app.replay.calls import Calls, Past
from detent.app.replay.tape import Tape
from detent.ports import Admitted, Approver, Proposal, Revised, Stopped
from detent.types.codec import arguments_object
from detent.types.content import UserBlock
from detent.types.effects import Connects, Reads, Runs, Spawns
from detent.types.errors import PromptBlocked
from detent.types.events import (
    Entry,
    HooksRan,
    Prompted,
    Reminded,
    Replied,
    Rewound,
    TurnEnded,
)
from detent.types.outcomes import Outcome, Refused
from detent.types.running import Unanswered
from detent.types.verdicts import Allow, HookAnswer, Verdict

RECEIPTS = {"before_compact": "PreCompact", "after_compact": "PostCompact"}


class RecordedGate:
    def __init__(self, tape: Tape) -> None:
        self._tape = tape
        self.calls = Calls(tape, (), 0)
        """Of the turn at hand."""
        self.held: list[Past] = []
        """Calls that wait to be let in, in their order."""

    def harmless(self, proposal: Proposal) -> bool:
        """As far as the log tells. Of reading, of commands and of subagents it does not: those
        may run together, for the tape keeps their order."""
        past = self.calls.of(proposal.call.id)
        is_kept = bool(past.started and past.started.kept)
        if is_kept or (past.ended and past.ended.changed):
            return False
        return all(
            isinstance(effect, Reads | Runs | Spawns)
            or (isinstance(effect, Connects) and effect.only_asks)
            for effect in proposal.effects
        )

    def judge(self, proposal: Proposal) -> Verdict:
        return Allow("replay")

    async def admit(
        self, proposal: Proposal, propose: Callable[[dict[str, Any]], Proposal], ask: Approver
    ) -> Admitted | Refused | Stopped:
        past = self.calls.of(proposal.call.id)
        await self._hold(past)
        past.is_admitted = True
        outcome = past.ended.outcome if past.ended else None
        if past.started is not None:
            given, ran = proposal.call.arguments, past.started.arguments
            changed = None if given == ran else arguments_object(ran)
            return Admitted(past.started.verdict, changed)
        if isinstance(outcome, Refused) and past.ended is not None:
            stop = past.ended.stop
            return Stopped(outcome, stop) if stop else outcome
        return Admitted(Allow("replay"))

    async def _hold(self, past: Past) -> None:
        """Until the tape tells of it. One that it does not tell of never came so far."""
        if past.first is None:
            await self._tape.reach(None)
        self.held.append(past)
        while past in self.held and self._tape.front < (past.first or 0):
            await self._tape.moved()
        if past in self.held:
            self.held.remove(past)

    async def review(self, proposal: Proposal, outcome: Outcome, ms: int = 0) -> Revised:
        ended = self.calls.of(proposal.call.id).ended
        return Revised(outcome, ended.stop if ended else "")

    async def prompted(self, content: tuple[UserBlock, ...]) -> str:
        """Asked before a steered prompt is written, and after the first one of a turn."""
        entries = [entry for _, entry in self._tape.ahead()][:2]
        if entries and isinstance(entries[0], Rewound):
            raise PromptBlocked(self._error())
        if entries and isinstance(entries[0], Prompted):
            entries = entries[1:]
        return self._said("prompt hook", entries)

    async def stopping(self, text: str, again: bool) -> str:
        return self._said("stop hook", [self._tape.next])

    def interruption(self) -> str:
        return self._stop()

    def opened(self) -> str:
        entry = self._tape.next
        is_told = isinstance(entry, Reminded) and entry.source == "session hook"
        return "startup" if is_told else ""

    def hears(self, moment: str) -> bool:
        entry = self._tape.next
        if moment in RECEIPTS:
            return isinstance(entry, HooksRan) and entry.event == RECEIPTS[moment]
        if moment == "after_calls":
            return bool(self._said("batch hook", [entry]) or self._stop())
        is_cancelled = isinstance(entry, TurnEnded) and entry.reason == "user_cancelled"
        return moment == "stop_failed" and is_cancelled

    async def happened(self, moment: str, **facts: Any) -> HookAnswer:
        entry = self._tape.next
        match moment:
            case "session_started":
                return HookAnswer(context=self._said("session hook", [entry]))
            case "after_calls":
                return HookAnswer(context=self._said("batch hook", [entry]), stop=self._stop())
            case "before_compact" | "after_compact" if isinstance(entry, HooksRan):
                decision: Any = "deny" if entry.denied else "none"
                return HookAnswer(decision=decision, reason=entry.said, ran=entry.hooks)
            case "stop_failed":
                await self._tape.reach(None)  # in the middle of this it was interrupted
        return HookAnswer()

    def _said(self, source: str, entries: list[Any]) -> str:
        entry: Entry | None = entries[0] if entries else None
        is_his = isinstance(entry, Reminded) and entry.source == source
        return entry.text if is_his and isinstance(entry, Reminded) else ""

    def _stop(self) -> str:
        """Why the turn stops after the calls at hand; empty when it goes on."""
        for _, entry in self._tape.ahead():
            if isinstance(entry, Replied | Prompted | Unanswered):
                return ""
            if isinstance(entry, TurnEnded):
                return entry.error if entry.reason == "hook_stopped" else ""
        return ""

    def _error(self) -> str:
        ended = (entry for _, entry in self._tape.ahead() if isinstance(entry, TurnEnded))
        return next((entry.error for entry in ended), "")
