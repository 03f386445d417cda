"""One streamed answer: paced, broken and held as the script says."""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping
from itertools import cycle
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

from detent.testing.edits import edited, encoding_of
from detent.testing.framing import Body, WasReset
from detent.testing.script import Fault, Reply
from detent.testing.sse import Event

BATCH = 64 * 1024
TAIL_STEP = 0.02
HOLD_STEP = 0.001

What: TypeAlias = Literal["received", "first_byte", "block_end", "stop", "gone"]


class Mark(NamedTuple):
    """When something happened to a request; stamped just before the bytes are written."""

    request: int
    what: What
    at: float


class Wire(Protocol):
    """What the server needs of a wire module."""

    def stream(self, reply: Reply, body: Mapping[str, Any], number: int) -> Iterator[Event]: ...
    def whole(self, reply: Reply, body: Mapping[str, Any], number: int) -> dict[str, Any]: ...
    def error_body(
        self, status: int, message: str | None, number: int, kind: str | None = None
    ) -> dict[str, Any]: ...
    def error_event(self, kind: str, message: str) -> bytes: ...
    def garbage(self) -> bytes: ...
    def keep_alive(self) -> bytes: ...


class Line(Protocol):
    """What a streamed answer needs of its connection."""

    writer: asyncio.StreamWriter
    unfinished: bool

    def note(self, request: int, what: What) -> None: ...


class _Ended(Exception):
    """A fault has ended the stream."""

    def __init__(self, keep_alive: bool) -> None:
        super().__init__()
        self.keep_alive = keep_alive


class Streaming:
    """One streamed answer: paces the events, breaks them where the script says so."""

    def __init__(self, connection: Line, wire: Wire, reply: Reply, number: int) -> None:
        self.connection = connection
        self.wire = wire
        self.reply = reply
        self.fault = reply.fault or Fault()
        self.number = number
        self.steps = _steps(reply)
        self.body = Body(connection.writer, self._headers(), self.fault)
        self.marks: list[What] = ["first_byte"]

    async def run(self, asked: Mapping[str, Any]) -> bool:
        """False when the connection must not be used again."""
        try:
            events = edited(self.wire.stream(self.reply, asked, self.number), self.fault.edits)
            closing = await self._body(events)
            await self._tail()
            if not self.fault.no_stop:
                self.marks.append("stop")
                for event in closing:
                    self.body.put(event.data)
            await self._finish()
        except _Ended as ended:
            return ended.keep_alive
        except WasReset:
            self.connection.unfinished = False
            return False
        return self.body.reusable and self.reply.headers.get("connection") != "close"

    def _headers(self) -> dict[str, str]:
        encoding = encoding_of(self.fault.edits)
        return {
            "content-type": "text/event-stream; charset=utf-8",
            "cache-control": "no-cache",
            "request-id": f"req_{self.number}",
            **({"content-encoding": encoding} if encoding else {}),
            **self.reply.headers,
        }

    async def _body(self, events: Iterator[Event]) -> list[Event]:
        """Send everything up to the closing events, and hand those back."""
        deltas = 0
        gap = self.reply.gap
        for event in events:
            if event.closing:
                await self._perform(math.inf)
                return [event, *events]
            if gap and event.delta and deltas:
                await self._flush()
                await asyncio.sleep(gap)
            self.body.put(event.data)
            deltas += event.delta
            if event.ends_block:
                self.marks.append("block_end")
            if self.body.size >= BATCH:
                await self._flush()
                await asyncio.sleep(0)  # Let other clients have a turn.
            if self.steps and self.steps[0][0] <= deltas:
                await self._perform(deltas)
        return []

    async def _perform(self, deltas: float) -> None:
        """Whatever the script wants to happen once this many deltas are out."""
        while self.steps and self.steps[0][0] <= deltas:
            _, step = self.steps.pop(0)
            await step(self)

    async def hold(self) -> None:
        assert self.reply.hold is not None
        await self._flush()
        await until_set(self.reply.hold)

    async def garbage(self) -> None:
        self.body.put(self.wire.garbage())

    async def error(self) -> None:
        self.body.put(self.wire.error_event(self.fault.error_type, self.fault.error_message))
        await self._finish()
        raise _Ended(keep_alive=True)

    async def stall(self) -> None:
        await self._flush()
        # Only the client leaving, or the server closing, ends this: both cancel the task.
        await asyncio.get_running_loop().create_future()

    async def drip(self) -> None:
        """Signs of life that are none, until the client leaves."""
        await self._flush()
        for byte in cycle(self.wire.keep_alive()):
            self.body.put(bytes([byte]))
            await self._flush()
            await asyncio.sleep(HOLD_STEP)

    async def cut(self) -> None:
        await self._flush()
        self.connection.unfinished = False  # Close, not abort: what was sent must arrive.
        raise _Ended(keep_alive=False)

    async def _tail(self) -> None:
        if not self.reply.tail:
            return
        await self._flush()
        until = time.monotonic() + self.reply.tail
        while (left := until - time.monotonic()) > 0:
            await asyncio.sleep(min(left, TAIL_STEP))
            self.body.put(self.wire.keep_alive())
            await self._flush()

    async def _finish(self) -> None:
        self._note()
        self.connection.unfinished = False
        await self.body.finish()

    async def _flush(self) -> None:
        self._note()
        await self.body.flush()

    def _note(self) -> None:
        for what in self.marks:
            self.connection.note(self.number, what)
        self.marks = []


_Step: TypeAlias = Callable[[Streaming], Coroutine[Any, Any, None]]


def _steps(reply: Reply) -> list[tuple[float, _Step]]:
    """Interruptions of the stream by the number of deltas before them."""
    fault = reply.fault or Fault()
    hold_after = math.inf if reply.hold_after is None else reply.hold_after
    steps: list[tuple[float | None, _Step]] = [
        (hold_after if reply.hold else None, Streaming.hold),
        (fault.garbage_after, Streaming.garbage),
        (fault.error_after, Streaming.error),
        (fault.stall_after, Streaming.stall),
        (fault.drip_after, Streaming.drip),
        (fault.cut_after, Streaming.cut),
    ]
    planned = [(count, step) for count, step in steps if count is not None]
    return sorted(planned, key=lambda item: item[0])


async def until_set(event: threading.Event) -> None:
    # Polled, because a thread blocked on the event could not be taken down with the server.
    while not event.is_set():
        await asyncio.sleep(HOLD_STEP)
