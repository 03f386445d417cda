"""One streamed answer: paced, broken and held as the script says."""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping
from http import HTTPStatus
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

from detent.testing.script import Event, Fault, Reply

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
        self.number = number
        self.steps = _steps(reply)
        self.batch: list[bytes] = []
        self.size = 0
        self.marks: list[What] = ["first_byte"]

    async def run(self, asked: Mapping[str, Any]) -> bool:
        headers = {
            "content-type": "text/event-stream; charset=utf-8",
            "cache-control": "no-cache",
            "request-id": f"req_{self.number}",
            "transfer-encoding": "chunked",
            **self.reply.headers,
        }
        self._put(head_bytes(200, headers))
        try:
            closing = await self._body(self.wire.stream(self.reply, asked, self.number))
            await self._tail()
        except _Ended as ended:
            return ended.keep_alive
        if not (self.reply.fault and self.reply.fault.no_stop):
            self.marks.append("stop")
            for event in closing:
                self._put(chunk_bytes(event.data))
        await self._finish()
        return headers.get("connection") != "close"

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
            self._put(chunk_bytes(event.data))
            deltas += event.delta
            if event.ends_block:
                self.marks.append("block_end")
            if self.size >= BATCH:
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
        self._put(chunk_bytes(self.wire.garbage()))

    async def error(self) -> None:
        fault = self.reply.fault or Fault()
        self._put(chunk_bytes(self.wire.error_event(fault.error_type, fault.error_message)))
        await self._finish()
        raise _Ended(keep_alive=True)

    async def stall(self) -> None:
        await self._flush()
        # Only the client leaving, or the server closing, ends this: both cancel the task.
        await asyncio.get_running_loop().create_future()

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
            self._put(chunk_bytes(self.wire.keep_alive()))
            await self._flush()

    async def _finish(self) -> None:
        self._put(b"0\r\n\r\n")
        await self._flush(last=True)

    def _put(self, data: bytes) -> None:
        self.batch.append(data)
        self.size += len(data)

    async def _flush(self, last: bool = False) -> None:
        writer, connection = self.connection.writer, self.connection
        for what in self.marks:
            connection.note(self.number, what)
        writer.write(b"".join(self.batch))
        self.batch, self.marks, self.size = [], [], 0
        self.connection.unfinished = self.connection.unfinished and not last
        await writer.drain()


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
        (fault.cut_after, Streaming.cut),
    ]
    planned = [(count, step) for count, step in steps if count is not None]
    return sorted(planned, key=lambda item: item[0])


def head_bytes(status: int, headers: Mapping[str, str]) -> bytes:
    try:
        phrase = HTTPStatus(status).phrase
    except ValueError:
        phrase = "Overloaded" if status == 529 else "Scripted"
    lines = (f"{name}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {status} {phrase}\r\n{''.join(lines)}\r\n".encode("latin-1")


def chunk_bytes(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


async def until_set(event: threading.Event) -> None:
    # Polled, because a thread blocked on the event could not be taken down with the server.
    while not event.is_set():
        await asyncio.sleep(HOLD_STEP)
