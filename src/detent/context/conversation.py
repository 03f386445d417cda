"""The conversation of a session, kept up to date entry by entry."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from detent.context.project import Projection, effective
from detent.context.tokens import Column, Family, Gauge, Sizes
from detent.types.content import Call
from detent.types.events import (
    CallEnded,
    CallStarted,
    Compacted,
    Entry,
    Learned,
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
MOST_REPORTED = 100_000_000
"""No window is larger: whoever reports more has counted something else."""
BOUNDING = "result_budget"
"""The stage that shortens what no request has held yet: nothing older changes."""


class Conversation:
    def __init__(self, entries: Sequence[Entry] = (), family: Family = "claude") -> None:
        self.family: Family = family
        """Whose tokens are estimated."""
        self.sizes = Sizes(family)
        self._entries: list[Entry] = []
        self._projection = Projection()
        self._calls: set[str] = set()
        """Ids of every call that there ever was."""
        self.base = 0
        """Tokens of the prompt and the tools, estimated: they come with every request."""
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
        self._column = Column(self.sizes)
        """Everything that can be read."""
        self._gauge = Gauge(0, 0, 0, lambda: 0)
        self._is_measured = False
        """No older message has changed since the gauge was read."""
        settled = _settled(entries)
        if settled:
            self._load(entries[:settled])
        for entry in entries[settled:]:
            self.add(entry)

    def add(self, entry: Entry) -> None:
        self._entries.append(entry)
        self._follow(entry)
        if changes_what_was_read(entry):
            self._rebuild()
            return
        if isinstance(entry, Trimmed):
            if not self._amended(entry):
                self._rebuild()
            return
        self._take(entry)
        self._column.append(entry)
        if reported := _reported(entry):
            self._measure(reported, self._ran_early(len(self._entries) - 1))

    @property
    def entries(self) -> Sequence[Entry]:
        return self._entries

    @property
    def last_seq(self) -> int:
        return self._entries[-1].seq if self._entries else 0

    def messages(self) -> list[Message]:
        return self._projection.messages()

    def knows_call(self, call_id: str) -> bool:
        """Also one that no longer counts: in a log, an id is one call's."""
        return call_id in self._calls or self._projection.knows_call(call_id)

    def fresh_results(self) -> list[CallEnded]:
        """Results that no request has held yet, as they read now."""
        return self._projection.fresh()

    def tokens(self) -> int:
        """What the next request takes of the window, as far as it is known."""
        everything = self._column.until(len(self._column))
        if not self._is_measured:
            return round((self.base + everything) * self.scale)
        gauge = self._gauge
        since = everything - self._column.until(gauge.place) + gauge.early
        return gauge.reported + round(since * self.scale)

    @property
    def scale(self) -> float:
        """Tokens as the provider counts them for each that we estimate. Bounded: a server may
        report anything."""
        gauge = self._gauge
        if not gauge.reported or not self.base + gauge.estimated:
            return 1.0
        return min(max(gauge.reported / (self.base + gauge.estimated), LEAST_SCALE), MOST_SCALE)

    def was_counted(self, tokens: int) -> None:
        """What the provider says of the prompt, when it refuses one."""
        if tokens:
            self._measure(tokens)

    def _measure(self, reported: int, early: int = 0) -> None:
        column, place = self._column, len(self._column)
        self._gauge = Gauge(reported, place, early, lambda: column.until(place))
        self._is_measured = True

    def _load(self, entries: Sequence[Entry]) -> None:
        """All at once: only how it reads after the last change counts, and what was reported."""
        self._entries = list(entries)
        reported, last = 0, 0
        for place, entry in enumerate(entries):
            self._follow(entry)
            if found := _reported(entry):
                reported, last = found, place
        if reported:
            self._gauge = self._past(reported, last)
        self._rebuild()

    def _past(self, reported: int, place: int) -> Gauge:
        def estimated() -> int:
            return self.sizes.together(effective(self._entries[: place + 1]))

        return Gauge(reported, 0, self._ran_early(place), estimated)

    def _follow(self, entry: Entry) -> None:
        """What every entry tells, whatever becomes of it later."""
        match entry:
            case Replied(usage=usage, head=head, content=content):
                self._count(usage)
                self.head = head or self.head
                self._calls.update(block.id for block in content if isinstance(block, Call))
            case CallStarted(call_id=call_id) | CallEnded(call_id=call_id):
                self._calls.add(call_id)
            case Compacted():
                self.read_since = self.new_since = self._read_last = 0
            case Learned(window=window):
                self.window = window
            case Switched(model=model) if model:
                self.window = 0
            case _:
                pass

    def _count(self, usage: Usage) -> None:
        """Without a word of caches, what was read before is read again each time: what is new is
        what the request has grown by."""
        read = max(0, usage.input + usage.cache_read + usage.cache_write)
        if usage.cache_read or usage.cache_write:
            self.new_since += max(0, usage.input + usage.cache_write)
        else:
            self.new_since += max(0, read - self._read_last)
        self.read_since += read
        self._read_last = read

    def _ran_early(self, place: int) -> int:
        """Results of calls that ended before this answer was whole: not in its count."""
        reply = self._entries[place]
        assert isinstance(reply, Replied)
        ids = {block.id for block in reply.content if isinstance(block, Call)}
        total = 0
        for before in range(place - 1, -1, -1):
            entry = self._entries[before]
            if not isinstance(entry, CallStarted | CallEnded):
                break
            if isinstance(entry, CallEnded) and entry.call_id in ids:
                total += self.sizes.of(entry)
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
            saved = self.sizes.of(before) - self.sizes.of(after)
            if self._column.amend(before, after) < self._gauge.place:
                self._gauge.early -= saved
        return True

    def _rebuild(self) -> None:
        """Nothing is measured any more: everything that still counts is estimated."""
        still = effective(self._entries)
        self._projection = Projection()
        self.told.clear()
        for entry in still:
            self._take(entry)
        self._column = Column(self.sizes, still)
        self._is_measured = False


def _reported(entry: Entry) -> int:
    """What the provider counted; 0 where it did not, or cannot have."""
    counted = entry.usage.context if isinstance(entry, Replied) else 0
    return counted if 0 < counted <= MOST_REPORTED else 0


def changes_what_was_read(entry: Entry) -> bool:
    if isinstance(entry, Trimmed):
        return entry.stage != BOUNDING
    return isinstance(entry, Compacted | Restored | Rewound | Withheld)


def _settled(entries: Sequence[Entry]) -> int:
    """How many entries there are up to the last that changed what lies before it."""
    for place in range(len(entries), 0, -1):
        if changes_what_was_read(entries[place - 1]):
            return place
    return 0
