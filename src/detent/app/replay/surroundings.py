"""What a turn meets besides model and tools: time, prompts that come in between, reminders."""

from collections.abc import Sequence
from typing import Literal

from detent.app.replay.calls import Calls
from detent.app.replay.tape import Tape, bare
from detent.ports import Answer, Clock, Question
from detent.types.content import UserBlock
from detent.types.events import Compacted, HooksRan, Prompted, Reminded, Replied, TurnEnded

OF_THE_LOOP = (
    "background", "batch hook", "budget", "empty answer", "form", "prompt hook", "session hook",
    "stop hook", "truncation",
)  # fmt: skip
"""Sources of what the loop itself tells the model, and what hooks make it tell."""
LATE = 0.01
"""Seconds by which what was late is surely late."""


class RecordedInbox:
    def __init__(self, tape: Tape) -> None:
        self._tape = tape

    def news(self) -> tuple[str, ...]:
        found: list[str] = []
        for _, entry in self._tape.ahead():
            if not isinstance(entry, Reminded) or entry.source != "background":
                break
            found.append(entry.text)
        return tuple(found)

    async def arrival(self) -> bool:
        """Nobody is at work: what came stands on the tape, and is there at once."""
        return False

    def take(self) -> tuple[tuple[UserBlock, ...], ...]:
        """What stands behind the news; hooks may have added to each."""
        found: list[tuple[UserBlock, ...]] = []
        for _, entry in self._tape.ahead():
            match entry:
                case Prompted(steered=True, content=content):
                    found.append(content)
                case Reminded(source="background") if not found:
                    continue
                case Reminded(source="prompt hook") if found:
                    continue
                case _:
                    break
        return tuple(found)


class RecordedReminders:
    def __init__(self, tape: Tape) -> None:
        self._tape = tape

    async def due(self, moment: Literal["prompt", "calls", "compacted"]) -> Sequence[Reminded]:
        found: list[Reminded] = []
        for _, entry in self._tape.ahead():
            if not isinstance(entry, Reminded) or entry.source in OF_THE_LOOP:
                break
            reminder = bare(entry)
            assert isinstance(reminder, Reminded)
            found.append(reminder)
        return found


class NobodyAsked:
    """The gate knows every answer."""

    async def ask(self, question: Question) -> Answer:
        raise AssertionError("a replay asks nobody")


class RecordedClock:
    def __init__(self, tape: Tape, ids: list[str]) -> None:
        self._tape = tape
        self._ids = ids
        self.begun = 0.0
        """When the turn at hand began."""
        self.calls = Calls(tape, (), 0)

    def now(self) -> float:
        """When the last entry was written, or the turn began."""
        place = self._tape.place
        written = self._tape.entries[place - 1].at if place else 0.0
        return max(self.begun, written)

    def elapsed(self) -> float:
        """The time is up when the log says that it was."""
        entry = self._tape.next
        ended = self._ended()
        ends_here = isinstance(entry, TurnEnded) or (
            isinstance(entry, Reminded) and entry.source == "budget"
        )
        if entry is not None and self._tape.answered == self._tape.front:
            return max(self.now(), entry.at)
        if ends_here and ended is not None and ended.limit == "seconds":
            return max(self.now(), entry.at if entry else 0.0) + LATE
        return self.now()

    def new_id(self, prefix: str) -> str:
        return self._ids.pop(0) if self._ids else f"{prefix}_none"

    async def sleep(self, seconds: float) -> None:
        pass

    def measured(self, clock: Clock, since: float, what: str) -> int:
        """Milliseconds as they were recorded of that."""
        ended = self._ended()
        if what == "turn":
            return ended.ms if ended else 0
        if what.startswith("step "):
            return self._of_step(int(what.removeprefix("step ")), ended)
        if what == "compaction":
            return next((e.ms for _, e in self._tape.ahead() if isinstance(e, Compacted)), 0)
        if what in ("PreCompact", "PostCompact"):
            return next((e.ms for _, e in self._tape.ahead() if isinstance(e, HooksRan)), 0)
        call = self.calls.of(what).ended
        return call.ms if call else 0

    def _of_step(self, number: int, ended: TurnEnded | None) -> int:
        for _, entry in self._tape.ahead():
            if isinstance(entry, Replied):
                if entry.step == number:
                    return entry.ms
                break
        steps = ended.steps if ended else ()
        return steps[number - 1].ms if number <= len(steps) else 0

    def _ended(self) -> TurnEnded | None:
        last = self._tape.entries[self._tape.end - 1] if self._tape.end else None
        return last if isinstance(last, TurnEnded) else None
