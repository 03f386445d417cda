"""The tape: recorded entries in their order. Whatever the loop emits must be the next of them.

Calls that run at the same time may emit in any order; each waits here until its entry is due.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence

from msgspec.structs import replace

from detent.app.replay.given import as_recorded, is_given
from detent.types.codec import encode
from detent.types.durable import Durable
from detent.types.events import Entry, Event

Take = Callable[[Entry, Entry | None], None]
"""An entry, and what the loop has made; nothing where it is given."""
Show = Callable[[Event], None]


class Tape:
    def __init__(self, entries: Sequence[Entry], take: Take, show: Show) -> None:
        """`take` gets every entry that counts from now on, `show` whatever happens."""
        self.entries = entries
        self.place = 0
        """Of the next entry."""
        self.end = 0
        """Where the turn at hand ends."""
        self.made = 0
        self.given = 0
        self.early = False
        """What came from outside came at once, not when everybody waited."""
        self.on_move: Callable[[], None] = lambda: None
        self.answered = -1
        """Where an answer has come and was not written yet."""
        self.is_cut = False
        """The program was killed here: nothing is written any more."""
        self.offered: list[Entry] = []
        """What waits for its turn, the oldest first."""
        self._take = take
        self._show = show
        self._waiting: list[asyncio.Future[None]] = []

    @property
    def next(self) -> Entry | None:
        """What must be emitted next, None at the end of the turn."""
        return next((entry for _, entry in self.ahead()), None)

    def ahead(self) -> Iterator[tuple[int, Entry]]:
        """The entries of this turn that are still to come, without those that are given."""
        for place in range(self.place, self.end):
            if not is_given(self.entries[place]):
                yield place, self.entries[place]

    @property
    def front(self) -> int:
        """Of the next entry that somebody has to emit; those that are given come with it."""
        return next((place for place, _ in self.ahead()), self.end)

    def play(self, until: int) -> None:
        """Of a turn that ends there."""
        self.end, self.is_cut, self.answered = until, False, -1

    def adopt(self) -> None:
        """The next entry, as it is."""
        entry = self.entries[self.place]
        self.given += 1
        self._move(entry)

    def take_given(self) -> bool:
        """Those that nobody emits; whether there were any."""
        begun, front = self.place, self.front
        while self.place < front:
            self.adopt()
        return self.place > begun

    async def emit(self, event: Event) -> None:
        if self.is_cut:
            return
        if not isinstance(event, Durable):
            self._show(event)
            return
        found = await self._turn_of(event)
        if found is None:
            return
        self.made += 1
        self._move(found, event)
        if self.early:
            self.take_given()
        self.on_move()
        await asyncio.sleep(0)

    async def _turn_of(self, event: Entry) -> Entry | None:
        """Waits for it; None when it never comes."""
        self.offered.append(event)
        try:
            while not self.is_cut:
                if (found := self._due(event)) is not None:
                    return found
                await self.moved()
            return None
        finally:
            self.offered.remove(event)

    def hint(self, event: Event) -> None:
        if not self.is_cut:
            self._show(event)

    async def reach(self, place: int | None) -> None:
        """Until that entry is the next; without one, for ever."""
        while place is None or self.front < place:
            await self.moved()

    async def moved(self) -> None:
        waiting = asyncio.get_running_loop().create_future()
        self._waiting.append(waiting)
        await waiting

    def wake(self) -> None:
        waiting, self._waiting = self._waiting, []
        for future in waiting:
            if not future.done():
                future.set_result(None)

    def _due(self, event: Entry) -> Entry | None:
        """The event with its number and time, if it is the one that was recorded next."""
        place = self.front
        if place >= self.end:
            return None
        recorded = self.entries[place]
        if type(event) is not type(recorded):
            return None
        stamped = as_recorded(event, recorded)
        if encode(stamped) != encode(recorded):
            return None
        self.take_given()
        return stamped

    def _move(self, entry: Entry, made: Entry | None = None) -> None:
        self.place += 1
        self._take(entry, made)
        self._show(entry)
        self.wake()


def bare(entry: Entry) -> Entry:
    """As it is before the log stamps it."""
    return replace(entry, seq=0, at=0.0)
