"""A raw server on loopback: it says exactly which bytes come back, and when."""

from __future__ import annotations

import asyncio
import gc
import ssl
from collections.abc import Awaitable, Callable
from functools import cache
from pathlib import Path

from detent.http.transport import Exchange, Transport

OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"
CERTIFICATES = Path(__file__).parent / "certs"
"""Of an authority of our own, valid until 2046: a server's, and a client's (plain and locked)."""
AUTHORITY = str(CERTIFICATES / "ca.pem")
Handler = Callable[["Peer"], Awaitable[None]]


class Peer:
    """The server's side of one connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def request(self) -> tuple[str, dict[str, str], bytes]:
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode()
        first, *lines = head.strip().split("\r\n")
        headers = dict(line.split(": ", 1) for line in lines)
        body = await self.reader.readexactly(int(headers.get("content-length", "0")))
        return first, headers, body

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()


class Server:
    """One handler per connection, in order; the last serves all that follow."""

    def __init__(
        self, *handlers: Handler, tls: ssl.SSLContext | None = None, socket: str = ""
    ) -> None:
        self._socket = socket
        self._handlers = handlers
        self._tls = tls
        self.connections = 0
        self.gone = asyncio.Event()
        """Set when a client has left before its handler was done."""
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Server:
        if self._socket:
            self._server = await asyncio.start_unix_server(self._serve, self._socket)
            return self
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self._tls)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *exc: object) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1/x"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        handler = self._handlers[min(self.connections, len(self._handlers) - 1)]
        self.connections += 1
        try:
            await handler(Peer(reader, writer))
        except (ConnectionError, asyncio.IncompleteReadError):
            self.gone.set()
        except asyncio.CancelledError:
            pass
        finally:
            writer.transport.abort() if self.gone.is_set() else writer.close()
            self._tasks.discard(task)


async def serving(peer: Peer) -> None:
    while True:
        await peer.request()
        await peer.send(OK)


def sends(*parts: bytes) -> Handler:
    """Answers one request with these bytes, then closes."""

    async def handler(peer: Peer) -> None:
        await peer.request()
        for part in parts:
            await peer.send(part)

    return handler


async def whole(exchange: Exchange) -> bytes:
    parts = []
    while part := await exchange.read():
        parts.append(part)
    return b"".join(parts)


async def fetch(transport: Transport, url: str, body: bytes = b"{}") -> bytes:
    exchange = await transport.post(url, {}, body)
    data = await whole(exchange)
    transport.give_back(url, exchange)
    return data


def run(main: Callable[[], Awaitable[None]]) -> None:
    async def checked() -> None:
        await main()
        assert asyncio.all_tasks() - {asyncio.current_task()} == set()

    _set_aside()
    asyncio.run(checked())
    gc.collect()  # a socket that was left open says so now, and warnings are errors


@cache
def _set_aside() -> None:
    """What thousands of tests before have left is looked through once, not after each test here."""
    gc.collect()
    gc.freeze()


def server_side(*, wants_client: bool = False) -> ssl.SSLContext:
    """For api.model.test, localhost and 127.0.0.1."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATES / "server.pem", CERTIFICATES / "server.key")
    if wants_client:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(AUTHORITY)
    return context
