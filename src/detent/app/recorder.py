"""`emit`: append, then tell observers, then hand to the reader. In this order, always."""

from collections.abc import Awaitable, Callable, Sequence

from detent.context.conversation import Conversation
from detent.ports import Log
from detent.types.durable import Durable
from detent.types.events import Entry, Event, Notice, Signal

Observer = Callable[[Event], None]
"""Looks on; cannot change or delay anything. An exception in one is dropped."""

Deliver = Callable[[Event], Awaitable[None]]


async def to_nobody(event: Event) -> None:
    pass


class Recorder:
    def __init__(
        self, log: Log, conversation: Conversation, observers: Sequence[Observer] = ()
    ) -> None:
        self._log = log
        self._conversation = conversation
        self._observers = tuple(observers)
        self._deliver: Deliver = to_nobody
        self._offer: Callable[[Event], None] = lambda event: None
        self._complained = False

    def attach(self, deliver: Deliver, offer: Callable[[Event], None]) -> None:
        """The reader of the turn that begins now."""
        self._deliver = deliver
        self._offer = offer

    async def emit(self, event: Event) -> None:
        if isinstance(event, Durable):
            event = self._log.append(event)
            self._conversation.add(event)
        self._observe(event)
        await self._deliver(event)
        if self._log.trouble and not self._complained:
            self._complained = True
            text = f"This session is not being saved: {self._log.trouble}"
            await self.emit(Notice(text, "error"))

    def record(self, entry: Entry) -> None:
        """Like emit for an entry that does not wait for the reader."""
        entry = self._log.append(entry)
        self._conversation.add(entry)
        self._observe(entry)
        self._offer(entry)

    def hint(self, signal: Signal) -> None:
        self._observe(signal)
        self._offer(signal)

    def _observe(self, event: Event) -> None:
        for observer in self._observers:
            try:
                observer(event)
            except Exception as error:
                self._offer(Notice(f"an observer failed: {error!r}", "warning"))
