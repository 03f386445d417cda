"""The conversation of a session, kept up to date entry by entry."""

from collections.abc import Sequence

from detent.context.project import Projection, effective
from detent.context.tokens import estimate
from detent.types.content import Call
from detent.types.events import (
    CallEnded,
    CallStarted,
    Compacted,
    Entry,
    Reminded,
    Replied,
    Restored,
    Rewound,
    Trimmed,
    Withheld,
)
from detent.types.messages import Message


class Conversation:
    def __init__(self, entries: Sequence[Entry] = ()) -> None:
        self._entries: list[Entry] = []
        self._projection = Projection()
        self.base = 0
        """Tokens of the prompt and the tools, estimated: they come with every request."""
        self.rebuilt = 0
        """How often older messages have changed. While it stays, a request begins as the last."""
        self.told: dict[tuple[str, str], str] = {}
        """What the model can read of reminders from files, by source and path."""
        self._measured = 0
        """Context size as the provider last reported it."""
        self._estimated = 0
        """What came since, estimated."""
        for entry in entries:
            self.add(entry)

    def add(self, entry: Entry) -> None:
        self._entries.append(entry)
        if isinstance(entry, Trimmed) and self._amended(entry):
            return
        if isinstance(entry, Compacted | Restored | Rewound | Trimmed | Withheld):
            self._rebuild()
            return
        self._take(entry)
        if isinstance(entry, Replied) and entry.usage.context:
            self._measured, self._estimated = entry.usage.context, self._ran_early(entry)
        else:
            self._estimated += estimate(entry)

    @property
    def entries(self) -> Sequence[Entry]:
        return self._entries

    @property
    def last_seq(self) -> int:
        return self._entries[-1].seq if self._entries else 0

    def messages(self) -> list[Message]:
        return self._projection.messages()

    def knows_call(self, call_id: str) -> bool:
        return self._projection.knows_call(call_id)

    def tokens(self) -> int:
        """What the next request takes of the window, as far as it is known."""
        return (self._measured or self.base) + self._estimated

    def _ran_early(self, reply: Replied) -> int:
        """Results of calls that ended before their answer was whole: not in its count."""
        ids = {block.id for block in reply.content if isinstance(block, Call)}
        total = 0
        for entry in reversed(self._entries[:-1]):
            if not isinstance(entry, CallStarted | CallEnded):
                break
            if isinstance(entry, CallEnded) and entry.call_id in ids:
                total += estimate(entry)
        return total

    def _take(self, entry: Entry) -> None:
        self._projection.add(entry)
        if isinstance(entry, Reminded) and entry.path:
            self.told[entry.source, entry.path] = entry.text

    def _amended(self, trimming: Trimmed) -> bool:
        """Results that no request has held yet read shorter at once; False where it takes more."""
        from detent.context.trims import shorter

        wanted = {trim.entry: trim for trim in trimming.trims}
        oldest = min(wanted, default=0)
        amended: list[tuple[Entry, Entry]] = []
        for entry in reversed(self._entries):
            if entry.seq < oldest:
                break
            if (trim := wanted.pop(entry.seq, None)) is None:
                continue
            if not isinstance(entry, CallEnded) or not self._projection.is_open(entry.call_id):
                return False
            amended.append((entry, shorter(entry, trim)))
        if wanted:
            return False
        for before, after in amended:
            assert isinstance(after, CallEnded)
            self._projection.amend(after.call_id, after.outcome)
            self._estimated += estimate(after) - estimate(before)
        return True

    def _rebuild(self) -> None:
        """Nothing is measured any more: everything that still counts is estimated."""
        still = effective(self._entries)
        self._projection = Projection()
        self.rebuilt += 1
        self.told.clear()
        for entry in still:
            self._take(entry)
        self._measured, self._estimated = 0, sum(map(estimate, still))
