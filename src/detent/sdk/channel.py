"""Where the loop meets its reader: events at the reader's pace.

Signals may run a little ahead; after an entry the loop waits until the reader has come back for
more. So no request is sent and no call starts that the reader has not asked for, and a reader
who leaves releases everybody at once.
"""

import asyncio
from collections import deque

from detent.types.durable import Durable
from detent.types.events import Event, Nested, Notice, TurnEnded

AHEAD = 64
"""How many signals may wait for the reader."""


class Channel:
    def __init__(self) -> None:
        self._events: deque[Event] = deque()
        self._put = self._taken = 0
        """How many events; the count is an event's number."""
        self._asking = False
        """The reader is here and waits for an event."""
        self._reader: asyncio.Future[None] | None = None
        self._writers: list[asyncio.Future[None]] = []
        self._ended = False
        self._closed = False

    async def put(self, event: Event) -> None:
        if self._closed:
            return
        number = self._add(event)
        if isinstance(event, TurnEnded):
            return  # nothing follows that the reader could hold back, and many readers leave here
        if isinstance(event, Durable):
            while not self._closed and not self._came_back_after(number):
                await self._wait_for_reader()
        else:
            while not self._closed and number - self._taken > AHEAD:
                await self._wait_for_reader()

    def _came_back_after(self, number: int) -> bool:
        return self._taken > number or (self._taken == number and self._asking)

    def offer(self, event: Event) -> None:
        """For signals that may be lost: dropped when the reader is behind. Notices and entries are
        few, and people must know them."""
        if not self._closed and (len(self._events) < AHEAD or _counts(event)):
            self._add(event)

    async def get(self) -> Event | None:
        """The next event; None when there will be no more."""
        self._asking = True
        self._release_writers()
        try:
            while not self._events:
                if self._ended or self._closed:
                    return None
                self._reader = asyncio.get_running_loop().create_future()
                await self._reader
        finally:
            self._reader, self._asking = None, False
        self._taken += 1
        return self._events.popleft()

    def end(self) -> None:
        """Nothing more will be put; what is there can still be read."""
        self._ended = True
        self._wake_reader()

    def close(self) -> None:
        """The reader has gone: nobody waits for it any longer."""
        self._closed = True
        self._events.clear()
        self._release_writers()
        self._wake_reader()

    def _add(self, event: Event) -> int:
        self._events.append(event)
        self._put += 1
        self._wake_reader()
        return self._put

    async def _wait_for_reader(self) -> None:
        waiting = asyncio.get_running_loop().create_future()
        self._writers.append(waiting)
        await waiting

    def _wake_reader(self) -> None:
        if self._reader is not None and not self._reader.done():
            self._reader.set_result(None)

    def _release_writers(self) -> None:
        writers, self._writers = self._writers, []
        for waiting in writers:
            if not waiting.done():
                waiting.set_result(None)


def _counts(event: Event) -> bool:
    while isinstance(event, Nested):
        event = event.event
    return isinstance(event, Durable | Notice)
