"""The scripted model: a loopback HTTP server in its own process.

It costs as little as possible while it is timed: answers are encoded before the run, bodies are
received into one buffer and never parsed, and time stamps stay in memory until asked for.

    POST /_script   choose scenario, wire and tool; forget the last run
    GET  /_times    what happened since then
    POST …          on a model path: the next answer of the script
"""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import time
from dataclasses import dataclass, field

from scenarios import MARKER, SCENARIOS, Answer, Tool
from wire import ENCODERS, wire_of

HEAD = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
    b"cache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n"
)
LAST_CHUNK = b"0\r\n\r\n"


@dataclass
class Encoded:
    """First write of an answer, then the writes that are held back, each after ``pause``."""

    first: bytes
    held: list[bytes]
    pause: float


def chunks(events: list[bytes]) -> bytes:
    """One HTTP chunk per event."""
    return b"".join(b"%x\r\n%b\r\n" % (len(event), event) for event in events)


def encode(answer: Answer, wire: str) -> Encoded:
    events = ENCODERS[wire](answer.blocks)
    split = max(2, len(events) - answer.held) if answer.held else len(events)
    held = [chunks([event]) for event in events[split:]]
    first = HEAD + chunks(events[:split])
    if held:
        held[-1] += LAST_CHUNK
    else:
        first += LAST_CHUNK
    return Encoded(first, held, answer.seconds / max(1, len(held)))


@dataclass
class Script:
    """One run: its answers and what was seen."""

    answers: list[Encoded] = field(default_factory=list)
    has_tools: bool = True
    received: list[int] = field(default_factory=list)
    ended: list[int] = field(default_factory=list)
    ended_real: list[int] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    connections: set[int] = field(default_factory=set)
    aside: int = 0
    last_body: bytes = b""

    def report(self) -> dict[str, object]:
        return {
            "received": self.received,
            "ended": self.ended,
            "ended_real": self.ended_real,
            "sizes": self.sizes,
            "connections": len(self.connections),
            "aside": self.aside,
            "markers": self.last_body.count(MARKER),
        }


class Server:
    """State shared by all connections."""

    def __init__(self) -> None:
        self.script = Script()
        self.cache: dict[str, list[Encoded]] = {}
        self.connections = 0

    def load(self, body: bytes) -> None:
        key = body.decode()
        wish = json.loads(key)
        tool = Tool(**wish["tool"])
        if key not in self.cache:
            answers = SCENARIOS[wish["scenario"]](tool)
            self.cache[key] = [encode(answer, wish["wire"]) for answer in answers]
        self.script = Script(self.cache[key], bool(tool.name))
        gc.collect()  # here, because it is switched off while a run is timed


class Connection(asyncio.BufferedProtocol):
    """One keep-alive connection; requests are taken one after the other."""

    def __init__(self, server: Server) -> None:
        self.server = server
        server.connections += 1
        self.number = server.connections
        self.buffer = bytearray(1 << 20)
        self.filled = 0
        self.need = 0  # bytes of the whole request, 0 until its head is here
        self.head = 0
        self.dribble: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        if self.dribble:
            self.dribble.cancel()

    def get_buffer(self, sizehint: int) -> memoryview:
        if self.filled == len(self.buffer) or self.need > len(self.buffer):
            grown = bytearray(2 * max(self.need, len(self.buffer)))
            grown[: self.filled] = self.buffer[: self.filled]
            self.buffer = grown
        return memoryview(self.buffer)[self.filled :]

    def buffer_updated(self, nbytes: int) -> None:
        now = time.monotonic_ns()
        self.filled += nbytes
        if not self.need:
            self.head = self.buffer.find(b"\r\n\r\n", 0, self.filled) + 4
            if self.head < 4:
                return
            self.need = self.head + content_length(bytes(self.buffer[: self.head]))
        if self.filled >= self.need:
            self.request(now)

    def request(self, now: int) -> None:
        method, path, _ = bytes(self.buffer[: self.head]).split(b" ", 2)
        start, end = self.head, self.need
        self.filled = self.need = 0
        wire = wire_of(path.decode())
        if wire:
            self.model(now, start, end, wire)
            return
        found = b"200 OK"
        payload = b""
        if path == b"/_script":
            self.server.load(bytes(self.buffer[start:end]))
        elif path == b"/_times":
            payload = json.dumps(self.server.script.report()).encode()
        elif method == b"POST":
            found = b"404 Not Found"
        size = b"%d" % len(payload)
        self.transport.write(
            b"HTTP/1.1 " + found + b"\r\ncontent-length: " + size + b"\r\n\r\n" + payload
        )

    def model(self, now: int, start: int, end: int, wire: str) -> None:
        script = self.server.script
        if script.has_tools and self.buffer.find(b'"tools"', start, end) < 0:
            # A side request of some product (title, quota probe): answered, not part of the script.
            script.aside += 1
            self.transport.write(encode(Answer(["ok"]), wire).first)
            return
        script.received.append(now)
        script.sizes.append(end - start)
        script.connections.add(self.number)
        index = len(script.received)
        if index >= len(script.answers):
            script.last_body = bytes(self.buffer[start:end])
        answer = script.answers[min(index, len(script.answers)) - 1]
        if answer.held:
            self.dribble = asyncio.get_running_loop().create_task(self.trickle(script, answer))
            return
        self.finish(script, answer.first)

    async def trickle(self, script: Script, answer: Encoded) -> None:
        self.transport.write(answer.first)
        for event in answer.held[:-1]:
            await asyncio.sleep(answer.pause)
            self.transport.write(event)
        await asyncio.sleep(answer.pause)
        self.finish(script, answer.held[-1])

    def finish(self, script: Script, payload: bytes) -> None:
        # Stamped before the write: the client may run on before the call has returned.
        script.ended.append(time.monotonic_ns())
        script.ended_real.append(time.time_ns())
        self.transport.write(payload)


def content_length(head: bytes) -> int:
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return int(line[15:])
    return 0


async def serve() -> None:
    loop = asyncio.get_running_loop()
    state = Server()
    server = await loop.create_server(lambda: Connection(state), "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    gone = asyncio.Event()
    loop.add_reader(sys.stdin, gone.set)  # the harness holds the other end: end of file = it ended
    await gone.wait()


if __name__ == "__main__":
    gc.disable()
    asyncio.run(serve())
