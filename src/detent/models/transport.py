"""HTTP/1.1 over asyncio with llhttp (httptools) as the parser: the only place that knows sockets.

Kept small on purpose: POST, keep-alive, streamed answers, TLS, HTTP proxies. No redirects (a model
endpoint that redirects is misconfigured) and no compression (it would hold tokens back).
"""

import asyncio
import os
from collections.abc import Mapping
from typing import Any

import httptools
from msgspec import Struct

CONNECT_TIMEOUT = 15.0
HIGH_WATER = 1024 * 1024
"""Bytes kept unread before the socket is paused: a slow reader holds the server back."""


class ConnectionCut(ConnectionError):
    """The connection ended before the answer was complete."""


class Origin(Struct, frozen=True):
    scheme: str
    host: str
    port: int


class Target(Struct, frozen=True):
    origin: Origin
    path: str


def parse_target(url: str) -> Target:
    """Raises ValueError for what is not an address of the web."""
    try:
        parts = httptools.parse_url(url.encode())
    except httptools.HttpParserError:
        raise ValueError(f"{url!r} is not a web address") from None
    scheme = (parts.schema or b"http").decode()
    host = (parts.host or b"").decode()
    path = (parts.path or b"/").decode() + (f"?{parts.query.decode()}" if parts.query else "")
    return Target(Origin(scheme, host, parts.port or (443 if scheme == "https" else 80)), path)


class Exchange(asyncio.Protocol):
    """One connection; carries one request at a time. The callbacks are called by httptools."""

    through_proxy = False
    """The other end is a proxy that forwards plain http: it wants whole addresses."""
    credentials = ""
    """A header line for such a proxy."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._reset()
        self.closed = False

    def _reset(self) -> None:
        self._parser = httptools.HttpResponseParser(self)
        self.status = 0
        self.headers: dict[str, str] = {}
        self.head_done = False
        self.complete = False
        self.heard = False
        self._keep_alive = False
        self._body: list[bytes] = []
        self._size = 0
        self._paused = False

    def send(self, head: bytes, body: bytes) -> None:
        self._reset()
        assert self._transport is not None
        self._transport.write(head + body if len(body) < 65536 else head)
        if len(body) >= 65536:
            self._transport.write(body)

    async def head(self) -> None:
        while not self.head_done:
            await self._wait()

    async def read(self) -> bytes:
        """What has arrived, at least one byte; empty at the end of the answer."""
        while not self._body:
            if self.complete:
                return b""
            await self._wait()
        data = self._body[0] if len(self._body) == 1 else b"".join(self._body)
        self._body, self._size = [], 0
        if self._paused and self._transport is not None:
            self._transport.resume_reading()
            self._paused = False
        return data

    @property
    def reusable(self) -> bool:
        """An unread rest may have paused the socket: such a connection is not used again."""
        return not self.closed and self.complete and not self._body and self._keep_alive

    def abort(self) -> None:
        self.closed = True
        if self._transport is not None:
            self._transport.abort()

    async def _wait(self) -> None:
        if self.closed:
            raise ConnectionCut("the server closed the connection")
        self._waiter = asyncio.get_running_loop().create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    # asyncio.Protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self.heard = True
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError:
            self.abort()
        if self._size > HIGH_WATER and not self._paused and self._transport is not None:
            self._transport.pause_reading()
            self._paused = True
        self._wake()

    def eof_received(self) -> bool:
        # Without a length an answer ends with the connection; the parser knows which case it is.
        # httptools has no call for "end of input", so a body of unknown length is taken as whole.
        if self.head_done and not self.complete and self._until_close():
            self.complete = True
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        self.closed = True
        self._wake()

    def _until_close(self) -> bool:
        return "content-length" not in self.headers and "transfer-encoding" not in self.headers

    # httptools callbacks

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        status = self._parser.get_status_code()
        if status >= 200:  # 100 Continue and its kin are followed by the real answer
            self.status = status
            self.head_done = True

    def on_body(self, body: bytes) -> None:
        self._body.append(body)
        self._size += len(body)

    def on_message_complete(self) -> None:
        self.complete = self.head_done
        self._keep_alive = self._parser.should_keep_alive()  # only known at this moment


class Transport:
    """Connections by origin; an idle one is used again."""

    def __init__(self, environ: Mapping[str, str] | None = None) -> None:
        self._environ = os.environ if environ is None else environ
        self._idle: dict[Origin, list[Exchange]] = {}
        self._tls: Any = None

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> Exchange:
        """Send and wait for the head of the answer. The caller gives the exchange back."""
        target = parse_target(url)
        while True:
            exchange, fresh = await self._connection(target.origin)
            head = self._head(target, headers, len(body), exchange)
            try:
                exchange.send(head, body)
                await exchange.head()
                return exchange
            except ConnectionCut:
                # An idle connection may die the moment we use it: once more, on a new one.
                if fresh or exchange.heard:
                    raise
            except BaseException:
                exchange.abort()
                raise

    def give_back(self, url: str, exchange: Exchange) -> None:
        if exchange.reusable:
            self._idle.setdefault(parse_target(url).origin, []).append(exchange)
        else:
            exchange.abort()

    async def aclose(self) -> None:
        idle, self._idle = self._idle, {}
        for exchanges in idle.values():
            for exchange in exchanges:
                exchange.abort()
        await asyncio.sleep(0)  # lets the aborted sockets close before the loop ends

    def _head(
        self, target: Target, headers: Mapping[str, str], length: int, exchange: Exchange
    ) -> bytes:
        origin = target.origin
        default = origin.port == (443 if origin.scheme == "https" else 80)
        host = f"[{origin.host}]" if ":" in origin.host else origin.host
        place = host if default else f"{host}:{origin.port}"
        absolute = exchange.through_proxy
        path = f"http://{place}{target.path}" if absolute else target.path
        lines = [f"POST {path} HTTP/1.1", f"host: {place}", f"content-length: {length}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        return ("\r\n".join(lines) + f"\r\n{exchange.credentials}\r\n").encode("latin-1", "replace")

    async def _connection(self, origin: Origin) -> tuple[Exchange, bool]:
        idle = self._idle.get(origin, [])
        while idle:
            exchange = idle.pop()
            if not exchange.closed:
                return exchange, False
        async with asyncio.timeout(CONNECT_TIMEOUT):
            return await self._connect(origin), True

    async def _connect(self, origin: Origin) -> Exchange:
        from_proxy = None if not self._has_proxy() else proxy_for(origin, self._environ)
        if from_proxy is not None:
            from detent.models.proxy import connect_through

            context = self._tls_context() if origin.scheme == "https" else None
            return await connect_through(from_proxy, origin, context)
        loop = asyncio.get_running_loop()
        secure = self._tls_context() if origin.scheme == "https" else None
        _, exchange = await loop.create_connection(Exchange, origin.host, origin.port, ssl=secure)
        return exchange

    def _has_proxy(self) -> bool:
        return any(name.lower().endswith("_proxy") for name in self._environ)

    def _tls_context(self) -> Any:
        """Loading the certificates takes 30 ms: only for https, and once."""
        if self._tls is None:
            import ssl

            self._tls = ssl.create_default_context()
        return self._tls


def proxy_for(origin: Origin, environ: Mapping[str, str]) -> str | None:
    """The proxy the environment names for this origin; never for loopback."""
    if origin.host in ("localhost", "::1") or origin.host.startswith("127."):
        return None
    for entry in _variable(environ, "no_proxy").split(","):
        suffix = entry.strip().lstrip("*").lstrip(".").lower()
        host = origin.host.lower()
        if entry.strip() == "*" or (suffix and (host == suffix or host.endswith("." + suffix))):
            return None
    return _variable(environ, f"{origin.scheme}_proxy") or _variable(environ, "all_proxy") or None


def _variable(environ: Mapping[str, str], name: str) -> str:
    return environ.get(name) or environ.get(name.upper(), "")
