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
    Replied,
    Rewound,
    Withheld,
)
from detent.types.messages import Message


class Conversation:
    def __init__(self, entries: Sequence[Entry] = ()) -> None:
        self._entries: list[Entry] = []
        self._projection = Projection()
        self._measured = 0
        """Context size as the provider last reported it."""
        self._estimated = 0
        """What came since, estimated."""
        for entry in entries:
            self.add(entry)

    def add(self, entry: Entry) -> None:
        self._entries.append(entry)
        if isinstance(entry, Compacted | Rewound | Withheld):
            self._rebuild()
            return
        self._projection.add(entry)
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
        return self._measured + self._estimated

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

    def _rebuild(self) -> None:
        """Nothing is measured any more: everything that still counts is estimated."""
        still = effective(self._entries)
        self._projection = Projection()
        for entry in still:
            self._projection.add(entry)
        self._measured, self._estimated = 0, sum(map(estimate, still))
