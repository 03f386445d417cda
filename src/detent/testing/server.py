"""A scripted model behind real HTTP/1.1 on loopback: four wires, streaming, faults on demand."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, NamedTuple

from detent.testing import anthropic_wire, chat_wire, gemini_wire, responses_wire
from detent.testing.choosing import Choosing
from detent.testing.framing import head_bytes, reset
from detent.testing.request import Request
from detent.testing.script import Fault, Maker, Reply, Script, Spoken, script
from detent.testing.streaming import Mark, Streaming, What, Wire, until_set

MAX_BODY = 64 * 1024 * 1024


class ScriptedServer:
    """`async with ScriptedServer(script) as server:` listens on `server.url`.

    `requests` holds the model requests only; token counts, model lists and the like go to
    `others`. `problems` holds what the script could not answer. With `record=False` only
    `request_count`, `connections` and `problems` are kept. One request at a time per
    connection: a client that pipelines is served, but in turn.
    """

    def __init__(
        self,
        plan: Script | Spoken | Maker,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        record: bool = True,
        on_request: Callable[[Request], None] | None = None,
    ) -> None:
        self.script = plan if isinstance(plan, Script) else script(plan)
        self.requests: list[Request] = []
        self.others: list[Request] = []
        self.timeline: list[Mark] = []
        self.problems: list[str] = []
        self.request_count = 0
        self.connections = 0
        self._address = (host, port)
        self._record = record
        self._on_request = on_request
        self._listener: asyncio.Server | None = None
        self._closed = False
        self._clients: set[asyncio.Task[None]] = set()
        self._waiting: list[tuple[Callable[[], bool], asyncio.Future[None]]] = []
        self._choosing = Choosing(self.script)

    @property
    def url(self) -> str:
        """Base address, without a trailing slash or `/v1`."""
        return f"http://{self._address[0]}:{self._address[1]}"

    @property
    def port(self) -> int:
        return self._address[1]

    async def __aenter__(self) -> ScriptedServer:
        loop = asyncio.get_running_loop()

        def protocol() -> asyncio.StreamReaderProtocol:
            return asyncio.StreamReaderProtocol(_Reader(limit=1 << 20), self._accept)

        self._listener = await loop.create_server(protocol, *self._address, backlog=1024)
        self._address = self._listener.sockets[0].getsockname()[:2]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        assert self._listener is not None
        self._closed = True
        self._listener.close()
        for task in self._clients:
            task.cancel()
        await asyncio.gather(*self._clients, return_exceptions=True)
        await self._listener.wait_closed()

    async def wait_for(self, requests: int, timeout: float = 10.0) -> None:
        """Until that many model requests have come in; TimeoutError otherwise."""
        await self.wait_until(lambda: self.request_count >= requests, timeout)

    async def wait_for_mark(self, request: int, what: What, timeout: float = 10.0) -> None:
        """Until `timeline` says so, for instance that the client of request 1 is gone."""

        def seen() -> bool:
            return any(mark[:2] == (request, what) for mark in self.timeline)

        await self.wait_until(seen, timeout)

    async def wait_until(self, reached: Callable[[], bool], timeout: float = 10.0) -> None:
        """Until the condition holds; it is looked at whenever the server records something."""
        if reached():
            return
        entry = (reached, asyncio.get_running_loop().create_future())
        self._waiting.append(entry)
        try:
            await asyncio.wait_for(entry[1], timeout)
        finally:
            self._waiting.remove(entry)

    def when(self, request: int, what: What) -> float:
        """Monotonic time of the first such mark; LookupError when there is none."""
        for mark in self.timeline:
            if mark[:2] == (request, what):
                return mark.at
        raise LookupError(f"request {request} has no {what!r} mark")

    def note(self, request: int, what: What) -> None:
        if self._record:
            self.timeline.append(Mark(request, what, time.monotonic()))
            self._wake()

    def _wake(self) -> None:
        for reached, future in self._waiting:
            if not future.done() and reached():
                future.set_result(None)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # asyncio sets TCP_NODELAY on its sockets, so small events leave at once.
        if self._closed:
            writer.transport.abort()
            return
        assert isinstance(reader, _Reader)
        self.connections += 1
        client = self._client(_Connection(self, reader, writer, self.connections))
        task = asyncio.get_running_loop().create_task(client)
        self._clients.add(task)
        task.add_done_callback(self._clients.discard)

    async def _client(self, connection: _Connection) -> None:
        try:
            await connection.serve()
        except (asyncio.CancelledError, ConnectionError, asyncio.IncompleteReadError):
            # The client left, or the server is closing: nobody is there to tell.
            connection.writer.transport.abort()
        finally:
            connection.writer.close()

    def admit(self, request: Request) -> None:
        """Count and record a request."""
        if request.number:
            self.request_count = request.number
        if self._record:
            (self.requests if request.number else self.others).append(request)
        if request.number:
            self.note(request.number, "received")
        if self._on_request is not None:
            self._on_request(request)
        self._wake()

    def choose(self, request: Request) -> Reply:
        """The reply the script has for this request. Raises NoReply."""
        return self._choosing.choose(request, request)


class _Reader(asyncio.StreamReader):
    """A reader that cancels the running answer once the client has gone."""

    answering: asyncio.Task[Any] | None = None
    left = False

    def feed_eof(self) -> None:
        super().feed_eof()
        self._leave()

    def set_exception(self, exc: Exception) -> None:
        super().set_exception(exc)
        self._leave()

    def _leave(self) -> None:
        self.left = True
        if self.answering is not None:
            self.answering.cancel()


class _Refused(Exception):
    """The request cannot be read; answer with this status and close."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class _Head(NamedTuple):
    method: str
    path: str
    version: str
    headers: dict[str, str]


class _Connection:
    """One client: reads requests, writes answers, until either side has had enough."""

    def __init__(
        self, server: ScriptedServer, reader: _Reader, writer: asyncio.StreamWriter, number: int
    ) -> None:
        self.server = server
        self.reader = reader
        self.writer = writer
        self.number = number
        self.unfinished = False

    async def serve(self) -> None:
        keep_alive = True
        while keep_alive:
            try:
                head = await self._head()
                if head is None:
                    return
                body = await self._body(head)
            except _Refused as refused:
                answer = anthropic_wire.error_body(refused.status, str(refused), 0)
                await self._send(refused.status, answer, {"connection": "close"})
                return
            wished = head.headers.get("connection", "").lower()
            keep_alive = wished != "close" and head.version == "HTTP/1.1"
            keep_alive = await self._answer(head, body) and keep_alive

    async def _head(self) -> _Head | None:
        try:
            raw = await self.reader.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError:
            return None
        except asyncio.LimitOverrunError:
            raise _Refused(431, "headers too large") from None
        first, *lines = raw.decode("latin-1").strip("\r\n").split("\r\n")
        try:
            method, target, version = first.split(" ")
        except ValueError:
            raise _Refused(400, "not an HTTP request") from None
        pairs = (line.partition(":") for line in lines)
        return _Head(method, target, version, {k.strip().lower(): v.strip() for k, _, v in pairs})

    async def _body(self, head: _Head) -> bytes:
        if head.headers.get("expect", "").lower() == "100-continue":
            self.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        if head.headers.get("transfer-encoding", "").lower() == "chunked":
            return await self._chunked_body()
        length = _size(head.headers.get("content-length", "0"), 10)
        return await self.reader.readexactly(length)

    async def _chunked_body(self) -> bytes:
        body = bytearray()
        while True:
            line = (await self.reader.readline()).decode("latin-1")
            size = _size(line.partition(";")[0].strip(), 16, len(body))
            if size == 0:
                break
            body += await self.reader.readexactly(size)
            await self.reader.readline()
        while (await self.reader.readline()).strip():
            pass  # Trailers say nothing we want to know.
        return bytes(body)

    async def _answer(self, head: _Head, body: bytes) -> bool:
        """Answer one request; False when the connection must not be used again."""
        wire = _model_wire(head)
        number = self.server.request_count + 1 if wire else 0
        at = time.monotonic()
        request = Request(number, head.path, head.headers, body, self.number, at, head.method)
        self.server.admit(request)
        if wire is None:
            return await self._aside(request)
        self.reader.answering = asyncio.current_task()
        self.unfinished = True
        try:
            return not self.reader.left and await self._model_answer(wire, request)
        finally:
            self.reader.answering = None
            if self.unfinished and self.reader.left:
                self.server.note(number, "gone")

    async def _aside(self, request: Request) -> bool:
        path = request.path.partition("?")[0]
        if request.method == "POST" and path.endswith(("/count_tokens", "/input_tokens")):
            return await self._send(200, {"input_tokens": max(1, len(request.body) // 4)})
        if request.method == "POST" and path.endswith(":countTokens"):
            return await self._send(200, {"totalTokens": max(1, len(request.body) // 4)})
        if request.method == "GET" and path.endswith("/models"):
            return await self._send(200, _models())
        if request.method == "HEAD":
            return await self._send(200, "")
        problem = f"no route {request.method} {path}"
        return await self._send(404, anthropic_wire.error_body(404, problem, 0))

    async def _model_answer(self, wire: Wire, request: Request) -> bool:
        number = request.number
        try:
            asked = request.json
            reply = self.server.choose(request)
        except Exception as error:
            # 400, because a client would retry a 500 and hide that the script is at fault.
            problem = f"{type(error).__name__}: {error}"
            self.server.problems.append(f"request {number}: {problem}")
            return await self._send(400, wire.error_body(400, problem, number), {}, number)
        if reply.delay:
            await asyncio.sleep(reply.delay)
        fault = reply.fault or Fault()
        if fault.reset:
            return self._reset()
        if fault.raw is not None:
            return await self._raw(fault.raw, number)
        self.writer.write(fault.preface)
        if fault.status is not None:
            standard = wire.error_body(fault.status, None, number)
            body = standard if fault.body is None else fault.body
            return await self._send(fault.status, body, fault.headers, number)
        asked = {**asked, "model": request.model}
        if request.streams:
            return await Streaming(self, wire, reply, number).run(asked)
        if reply.hold is not None:
            await until_set(reply.hold)
        return await self._send(200, wire.whole(reply, asked, number), reply.headers, number)

    async def _raw(self, data: bytes, number: int) -> bool:
        """Literal bytes, and then nothing more."""
        if data:
            self.server.note(number, "first_byte")
        self.writer.write(data)
        self.unfinished = False
        await self.writer.drain()
        return False

    async def _send(
        self,
        status: int,
        body: str | dict[str, Any],
        headers: Mapping[str, str] | None = None,
        number: int = 0,
    ) -> bool:
        """A whole, unstreamed answer; False when its headers end the connection."""
        data = (body if isinstance(body, str) else json.dumps(body)).encode()
        kind = "text/plain; charset=utf-8" if isinstance(body, str) else "application/json"
        fields = {"content-type": kind, "content-length": str(len(data)), **(headers or {})}
        if number:
            self.server.note(number, "first_byte")
            self.server.note(number, "stop")
        self.writer.write(head_bytes(status, fields) + data)
        self.unfinished = False
        await self.writer.drain()
        return fields.get("connection") != "close"

    def note(self, request: int, what: What) -> None:
        self.server.note(request, what)

    def _reset(self) -> bool:
        reset(self.writer)
        self.unfinished = False
        return False


def _size(text: str, base: int, already: int = 0) -> int:
    """A body length from the wire, refused when it is none or too much."""
    try:
        size = int(text, base)
    except ValueError:
        raise _Refused(400, "bad body length") from None
    if size < 0:
        raise _Refused(400, "bad body length")
    if already + size > MAX_BODY:
        raise _Refused(413, f"request body over {MAX_BODY} bytes")
    return size


def _model_wire(head: _Head) -> Wire | None:
    path = head.path.partition("?")[0]
    if head.method != "POST":
        return None
    return next((wire for ending, wire in _WIRES.items() if path.endswith(ending)), None)


_WIRES: dict[str, Wire] = {
    "/messages": anthropic_wire,
    "/chat/completions": chat_wire,
    "/responses": responses_wire,
    ":generateContent": gemini_wire,
    ":streamGenerateContent": gemini_wire,
}


def _models() -> dict[str, Any]:
    """One model, in a shape that clients of all wires accept."""
    model = {
        "id": "scripted",
        "type": "model",
        "object": "model",
        "display_name": "Scripted",
        "created_at": "2026-01-01T00:00:00Z",
        "created": 0,
        "owned_by": "detent",
        "name": "models/scripted",
        "displayName": "Scripted",
        "supportedGenerationMethods": ["generateContent"],
    }
    ends = {"first_id": "scripted", "last_id": "scripted", "has_more": False}
    return {"object": "list", "data": [model], "models": [model], **ends}
