"""`emit`: append, then tell observers, then hand to the reader. In this order, always."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from detent.context.conversation import Conversation
from detent.ports import Log
from detent.types.durable import Durable
from detent.types.events import Entry, Event, Notice, Signal, TurnEnded

if TYPE_CHECKING:
    from detent.app.durability import Power

Observer = Callable[[Event], None]
"""Looks on; cannot change or delay anything. An exception in one is dropped."""

Deliver = Callable[[Event], Awaitable[None]]

SYNC_AFTER = 0.15
"""Seconds from a write to the beginning of its sync: it is over within 0.2."""


async def to_nobody(event: Event) -> None:
    pass


Safe = Callable[[], Awaitable[None]]
"""Returns when others may rest on what was recorded: see `Recorder.safe`."""


async def at_once() -> None:
    pass


class Recorder:
    def __init__(
        self,
        log: Log,
        conversation: Conversation,
        observers: Sequence[Observer] = (),
        power: "Power | None" = None,
    ) -> None:
        """`power` says what must survive a power cut before anything else happens."""
        self._log = log
        self._conversation = conversation
        self._observers = tuple(observers)
        self._power = power
        self._deliver: Deliver = to_nobody
        self._offer: Callable[[Event], None] = lambda event: None
        self._due: asyncio.TimerHandle | None = None
        self._told = (False, False)
        """Whether people know that it is not saved, and that a power cut would take it."""
        self._unsafe = ""
        """Why what was written may not survive a power cut."""

    def attach(self, deliver: Deliver, offer: Callable[[Event], None]) -> None:
        """The reader of the turn that begins now."""
        self._deliver = deliver
        self._offer = offer

    @property
    def unsaved(self) -> str:
        """Why what happens now would be in no log, or in none that the user could rely on."""
        return self._log.trouble or (self._unsafe if self._power is not None else "")

    async def emit(self, event: Event) -> None:
        if isinstance(event, Durable):
            event = self._append(event)
            if self._power is not None:
                self._unsafe = await self._power.settled(event) or self._unsafe
            elif isinstance(event, TurnEnded):
                self._sync()
        if (trouble := self._news()) is not None:
            self._observe(trouble)
            await self._deliver(trouble)
        self._observe(event)
        await self._deliver(event)

    def record(self, entry: Entry) -> None:
        """Like emit for an entry that does not wait for the reader, and may not even have one: of
        trouble, the next that is emitted tells."""
        entry = self._append(entry)
        self._observe(entry)
        self._offer(entry)

    async def safe(self) -> None:
        """Before anybody rests on what was recorded, in a log that may be synced before this one:
        it is as safe as what is emitted."""
        if self._power is not None:
            self._unsafe = await self._power.safe() or self._unsafe

    def note(self, entry: Entry) -> None:
        """What only the log has to know."""
        self._append(entry)

    def hint(self, signal: Signal) -> None:
        self._observe(signal)
        self._offer(signal)

    def warn(self, text: str) -> None:
        self.hint(Notice(text, "warning"))

    async def settle(self) -> Notice | None:
        """At the end of the session: what was written survives a power cut, or there is something
        that people must still be told."""
        self._forget_due()
        if self._log.unsynced:
            from detent.app.durability import begin_sync

            await begin_sync(self._log)  # behind the one that may be at it, also of a loop before
        self._unsafe = self._log.sync()  # nothing is left to do: only what came of them all
        return self._news()

    def _append(self, entry: Entry) -> Entry:
        entry = self._log.append(entry)
        self._conversation.add(entry)
        if self._log.unsynced:
            with suppress(RuntimeError):  # without an event loop, it is synced when it is closed
                self._come_to_sync(asyncio.get_running_loop())
        return entry

    def _come_to_sync(self, loop: asyncio.AbstractEventLoop) -> None:
        """Soon. One that is overdue was to come in a loop that has ended before."""
        if self._due is None or self._due.when() < loop.time():
            self._due = loop.call_later(SYNC_AFTER, self._sync)

    def _forget_due(self) -> None:
        if self._due is not None:
            self._due.cancel()
            self._due = None

    def _sync(self) -> None:
        """In another thread. What is written meanwhile is synced after it."""
        self._forget_due()
        if self._log.unsynced:
            from detent.app.durability import begin_sync

            begin_sync(self._log).add_done_callback(self._is_synced)

    def _is_synced(self, sync: asyncio.Future[str]) -> None:
        if not sync.cancelled():
            self._unsafe = sync.result() or self._unsafe

    def _news(self) -> Notice | None:
        """What people must know of the log, once: not with every entry."""
        unsaved, unsafe = bool(self._log.trouble), bool(self._unsafe)
        told, self._told = self._told, (unsaved, unsafe)
        if unsaved > told[0]:
            return Notice(f"This session is not being saved: {self._log.trouble}", "error")
        if unsafe > told[1]:
            text = f"This session would not survive a power cut: {self._unsafe}"
            return Notice(text, "error")
        if unsaved < told[0]:
            return Notice("This session is being saved again; nothing is missing.", "warning")
        return None

    def _observe(self, event: Event) -> None:
        for observer in self._observers:
            try:
                observer(event)
            except Exception as error:
                self._offer(Notice(f"an observer failed: {error!r}", "warning"))
