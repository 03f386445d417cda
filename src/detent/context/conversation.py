"""The conversation of a session, kept up to date entry by entry."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from detent.context.project import Projection, effective
from detent.context.tokens import Family, estimate
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
    Switched,
    Trimmed,
    Withheld,
)
from detent.types.messages import Message
from detent.types.usage import Usage

if TYPE_CHECKING:
    from detent.context.cache_watch import LastRequest

LEAST_SCALE, MOST_SCALE = 0.5, 2.0


class Conversation:
    def __init__(self, entries: Sequence[Entry] = (), family: Family = "claude") -> None:
        self.family: Family = family
        """Whose tokens are estimated."""
        self._sizes: dict[int, tuple[Entry, int]] = {}
        """Of entries as they read now, estimated."""
        self._entries: list[Entry] = []
        self._projection = Projection()
        self.base = 0
        """Tokens of the prompt and the tools, estimated: they come with every request."""
        self.rebuilt = 0
        """How often older messages have changed. While it stays, a request begins as the last."""
        self.told: dict[tuple[str, str], str] = {}
        """What the model can read of reminders from files, by source and path."""
        self.asked: LastRequest | None = None
        """The last request of a provider that reports its cache, for naming what changed since."""
        self.head = ""
        """Digests of the tools and the prompt, as the log tells them last."""
        self.window = 0
        """What the provider has said that the window is, when it was asked for too much; or 0."""
        self.is_compacting = False
        """A summary is being made: nobody begins another meanwhile."""
        self.read_since = 0
        """Input tokens of all requests since the last compaction."""
        self.new_since = 0
        """Those of them that were read for the first time."""
        self._read_last = 0
        self._measured = 0
        """Context size as the provider last reported it; 0 when older messages changed since."""
        self._estimated = 0
        """What came since, estimated."""
        self._total = 0
        """Everything that can be read, estimated."""
        self._gauge = (0, 0)
        """A size as it was reported last, and how it had been estimated without the base."""
        for entry in entries:
            self.add(entry)

    def add(self, entry: Entry) -> None:
        self._entries.append(entry)
        self._follow(entry)
        if isinstance(entry, Trimmed) and self._amended(entry):
            return
        if isinstance(entry, Compacted | Restored | Rewound | Trimmed | Withheld):
            self._rebuild()
            return
        self._take(entry)
        size = self._size(entry)
        self._total += size
        if isinstance(entry, Replied) and entry.usage.context:
            early = self._ran_early(entry)
            self._measured, self._estimated = entry.usage.context, early
            self._gauge = entry.usage.context, self._total - early
        else:
            self._estimated += size

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

    def fresh_results(self) -> list[CallEnded]:
        """Results that no request has held yet, as they read now."""
        return self._projection.fresh()

    def tokens(self) -> int:
        """What the next request takes of the window, as far as it is known."""
        if self._measured:
            return self._measured + round(self._estimated * self.scale)
        return round((self.base + self._total) * self.scale)

    @property
    def scale(self) -> float:
        """Tokens as the provider counts them for each that we estimate. Bounded: a server may
        report anything."""
        reported, estimated = self._gauge
        if not reported or not self.base + estimated:
            return 1.0
        return min(max(reported / (self.base + estimated), LEAST_SCALE), MOST_SCALE)

    def learn(self, window: int, tokens: int) -> None:
        """What the provider says of the model's window and of the prompt, when it refuses one."""
        self.window = window or self.window
        if tokens:
            self._measured, self._estimated = tokens, 0
            self._gauge = tokens, self._total

    def _follow(self, entry: Entry) -> None:
        """What every entry tells, whatever becomes of it later."""
        match entry:
            case Replied(usage=usage, head=head):
                self._count(usage)
                self.head = head or self.head
            case Compacted(window=window):
                self.read_since = self.new_since = self._read_last = 0
                self.window = window or self.window
            case Switched(model=model) if model:
                self.window = 0
            case _:
                pass

    def _count(self, usage: Usage) -> None:
        """Without a word of caches, what was read before is read again each time: what is new is
        what the request has grown by."""
        read = usage.input + usage.cache_read + usage.cache_write
        if usage.cache_read or usage.cache_write:
            self.new_since += usage.input + usage.cache_write
        else:
            self.new_since += max(0, read - self._read_last)
        self.read_since += read
        self._read_last = read

    def _ran_early(self, reply: Replied) -> int:
        """Results of calls that ended before their answer was whole: not in its count."""
        ids = {block.id for block in reply.content if isinstance(block, Call)}
        total = 0
        for place in range(len(self._entries) - 2, -1, -1):
            entry = self._entries[place]
            if not isinstance(entry, CallStarted | CallEnded):
                break
            if isinstance(entry, CallEnded) and entry.call_id in ids:
                total += self._size(entry)
        return total

    def _take(self, entry: Entry) -> None:
        self._projection.add(entry)
        if isinstance(entry, Reminded) and entry.path:
            self.told[entry.source, entry.path] = entry.text

    def _amended(self, trimming: Trimmed) -> bool:
        """Results that no request has held yet read shorter at once; False where it takes more."""
        from detent.context.trims import shorter

        wanted = {trim.entry: trim for trim in trimming.trims}
        oldest = min(wanted, default=trimming.seq)
        amended: list[tuple[CallEnded, Entry]] = []
        for entry in reversed(self._entries):
            if entry.seq < oldest:
                break
            if (trim := wanted.pop(entry.seq, None)) is None:
                continue
            if not isinstance(entry, CallEnded):
                return False
            if (before := self._projection.unread(entry.seq, entry.call_id)) is None:
                return False
            amended.append((before, shorter(before, trim)))
        if wanted:
            return False
        for before, after in amended:
            assert isinstance(after, CallEnded)
            self._projection.amend(after)
            saved = self._size(before) - self._size(after)
            self._estimated -= saved
            self._total -= saved
        return True

    def _rebuild(self) -> None:
        """Nothing is measured any more: everything that still counts is estimated."""
        still = effective(self._entries)
        self._projection = Projection()
        self.rebuilt += 1
        self.told.clear()
        for entry in still:
            self._take(entry)
        self._measured = self._estimated = 0
        self._total = sum(map(self._size, still))

    def _size(self, entry: Entry) -> int:
        """Looked at once: a rebuild of a long conversation must not take long."""
        known = self._sizes.get(entry.seq)
        if known is None or known[0] is not entry:
            known = self._sizes[entry.seq] = entry, estimate(entry, self.family)
        return known[1]
