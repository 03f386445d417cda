"""The calls of a turn as they were: found by their id, or by what the model wrote."""

from collections.abc import Sequence

from detent.app.replay.tape import Tape
from detent.ports import Proposal
from detent.types.content import Call
from detent.types.events import CallEnded, CallStarted, Entry, Replied
from detent.types.files import Change, FileState
from detent.types.outcomes import INTERRUPTED, Cut, Done, Failed


class Past:
    """One call of the turn, and where the tape tells of it."""

    def __init__(self, call_id: str) -> None:
        self.id = call_id
        self.call: Call | None = None
        self.started: CallStarted | None = None
        self.started_at: int | None = None
        self.ended: CallEnded | None = None
        self.ended_at: int | None = None
        self.is_overtaken = False
        """It had ended, but for what it did to files, when the turn was interrupted."""
        self.is_parsed = False
        self.is_admitted = False

    @property
    def first(self) -> int | None:
        return self.ended_at if self.started_at is None else self.started_at

    @property
    def is_interrupted(self) -> bool:
        outcome = self.ended.outcome if self.ended else None
        return isinstance(outcome, Cut) and outcome.reason == INTERRUPTED

    @property
    def was_looked_at(self) -> bool:
        """Not one whose outcome was known without: the same call twice, or run before."""
        if self.started is not None or self.ended is None:
            return True
        return not isinstance(self.ended.outcome, Done) and not _known(self.ended.outcome)

    @property
    def fault(self) -> str:
        """Why it could not even be judged."""
        if self.started is None and self.ended and isinstance(self.ended.outcome, Failed):
            return self.ended.outcome.text
        return ""


class Calls:
    """Of one turn."""

    def __init__(self, tape: Tape, entries: Sequence[Entry], begin: int) -> None:
        self._tape = tape
        self._by_id: dict[str, Past] = {}
        for entry in entries:  # in the order of the answers, whoever started first
            for block in entry.content if isinstance(entry, Replied) else ():
                if isinstance(block, Call):
                    self.of(block.id).call = block
        for place, entry in enumerate(entries, begin):
            match entry:
                case CallStarted(call_id=call_id):
                    past = self.of(call_id)
                    past.started, past.started_at = entry, place
                case CallEnded(call_id=call_id):
                    past = self.of(call_id)
                    past.ended, past.ended_at = entry, place
                    past.is_overtaken = past.started_at is not None and _has_interrupt(
                        entries[past.started_at - begin : place]
                    )
                case _:
                    pass

    def of(self, call_id: str) -> Past:
        return self._by_id.setdefault(call_id, Past(call_id))

    def asked(self, name: str, arguments: str) -> Past | None:
        """The next call that the model wrote so, or that somebody has made this of."""
        for past in self._by_id.values():
            call, started = past.call, past.started
            is_his = call is not None and (call.name, call.arguments) == (name, arguments)
            if is_his and not past.is_parsed and past.was_looked_at:
                past.is_parsed = True
                return past
            is_changed = past.is_admitted and call is not None and call.name == name
            if is_changed and started is not None and started.arguments == arguments:
                return past
        return None

    def faults_of(self, name: str) -> list[str]:
        pasts = self._by_id.values()
        return [past.fault for past in pasts if past.ended and past.ended.name == name]

    async def before(self, proposal: Proposal) -> dict[str, FileState]:
        """Also where the order of calls that run together is kept."""
        past = self.of(proposal.call.id)
        await self._tape.reach(past.started_at)
        return past.started.kept if past.started else {}

    async def after(self, call_id: str) -> tuple[Change, ...]:
        past = self.of(call_id)
        if past.is_overtaken:
            await self._tape.reach(past.ended_at)
        return past.ended.changed if past.ended else ()


def _has_interrupt(entries: Sequence[Entry]) -> bool:
    return any(isinstance(entry, Replied) and entry.stop == "cancelled" for entry in entries)


def _known(outcome: object) -> bool:
    from detent.loop.calls import TWICE
    from detent.loop.repeats import NOT_AGAIN

    return isinstance(outcome, Failed) and (
        outcome.text == TWICE or outcome.text.endswith(NOT_AGAIN)
    )
