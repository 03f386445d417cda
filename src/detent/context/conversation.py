"""The conversation of a session, kept up to date entry by entry."""

from collections.abc import Sequence

from detent.context.project import Projection, effective
from detent.types.codec import encode
from detent.types.events import Compacted, Entry, Replied, Rewound
from detent.types.messages import Message


class Conversation:
    def __init__(self, entries: Sequence[Entry] = ()) -> None:
        self._entries: list[Entry] = []
        self._projection = Projection()
        self._measured = 0
        self._since = 0
        for entry in entries:
            self.add(entry)

    def add(self, entry: Entry) -> None:
        self._entries.append(entry)
        if isinstance(entry, Compacted | Rewound):
            self._rebuild()
            return
        self._projection.add(entry)
        if isinstance(entry, Replied):
            self._measured, self._since = entry.usage.context, len(self._entries)

    def messages(self) -> list[Message]:
        return self._projection.messages()

    @property
    def last_seq(self) -> int:
        return self._entries[-1].seq if self._entries else 0

    def knows_call(self, call_id: str) -> bool:
        return self._projection.knows_call(call_id)

    def tokens(self) -> int:
        """Context size: what the last answer reported, and an estimate of what came since."""
        tail = self._entries[self._since :]
        return self._measured + sum(map(estimate, tail))

    def _rebuild(self) -> None:
        self._projection = Projection()
        self._measured, self._since = 0, 0
        for entry in effective(self._entries):
            self._projection.add(entry)


def estimate(entry: Entry) -> int:
    """About four bytes to a token; good enough between two reports."""
    return len(encode(entry)) // 4
