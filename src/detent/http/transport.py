"""Connections to servers, kept and used again: the only place that opens sockets.

Kept small on purpose: GET and POST, keep-alive, TLS, HTTP proxies, unix sockets. What few need
(packed bodies, redirects, proxies, certificates) lives in files of its own and loads with its case.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from socket import AF_INET, AF_INET6, inet_pton
from typing import TYPE_CHECKING, Any, TypeVar

import httptools
from msgspec import Struct

from detent.http.exchange import HIGH_WATER, ConnectionCut, Exchange
from detent.types.errors import BadInput, ModelFailure

if TYPE_CHECKING:
    from detent.http.tape import Tape

__all__ = [
    "HIGH_WATER", "Answer", "ConnectionCut", "Exchange", "Lookup", "Origin", "Target", "Transport",
    "parse_target", "socket_address",
]  # fmt: skip

CONNECT_TIMEOUT = 15.0
ADDRESS_TIMEOUT = 5.0
"""For one address of several."""
ANSWER_TIMEOUT = 30.0
MOST_ANSWER = 4 * 1024 * 1024
"""Seconds and bytes for answers that are no streams: lists of models, tokens."""
MOST_REDIRECTS = 3
SOCKET = "http+unix"

P = TypeVar("P", bound=asyncio.Protocol)


class Origin(Struct, frozen=True):
    scheme: str
    host: str
    """Or the path of a unix socket."""
    port: int

    @property
    def place(self) -> str:
        """As the `host` header has it."""
        if self.scheme == SOCKET:
            return "localhost"
        host = f"[{self.host}]" if ":" in self.host else self.host
        is_default = self.port == (443 if self.scheme == "https" else 80)
        return host if is_default else f"{host}:{self.port}"

    @property
    def is_here(self) -> bool:
        """On this machine: no proxy is asked, and plain http is private."""
        return self.scheme == SOCKET or self.host.lower() == "localhost" or _is_loopback(self.host)


def _is_loopback(host: str) -> bool:
    """Only for addresses: a name may begin with `127.` and be anywhere."""
    try:
        if ":" in host:
            return inet_pton(AF_INET6, host) == bytes(15) + b"\x01"
        return inet_pton(AF_INET, host)[0] == 127
    except (OSError, UnicodeError):
        return False


Lookup = Callable[[Origin], Awaitable[Sequence[str]]]
"""The addresses at which an origin may be reached, the best first; never none."""


class Target(Struct, frozen=True):
    origin: Origin
    path: str

    @property
    def url(self) -> str:
        return f"{self.origin.scheme}://{self.origin.place}{self.path}"


class Answer(Struct, frozen=True):
    """One that is no stream."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def parse_target(url: str) -> Target:
    """Raises ValueError for what is not an address of the web, or of a socket."""
    if url.startswith((f"{SOCKET}://", "unix:")):
        return _socket_target(url)
    try:
        parts = httptools.parse_url(url.encode())
    except httptools.HttpParserError:
        raise ValueError(f"{url!r} is not a web address") from None
    scheme = (parts.schema or b"http").decode().lower()
    host = (parts.host or b"").decode()
    path = (parts.path or b"/").decode() + (f"?{parts.query.decode()}" if parts.query else "")
    return Target(Origin(scheme, host, parts.port or (443 if scheme == "https" else 80)), path)


def socket_address(socket: str, path: str = "") -> str:
    """The address of a server behind a unix socket; a wire's path can be put behind it."""
    from urllib.parse import quote

    return f"{SOCKET}://{quote(socket, safe='')}{path}"


def _socket_target(url: str) -> Target:
    """`http+unix://%2Frun%2Fmodel.sock/v1`, or `unix:///run/model.sock/v1`: the part that ends
    in `.sock` is the socket, what follows is the path."""
    from urllib.parse import unquote

    scheme, _, rest = url.partition(":")
    rest = rest.removeprefix("//")
    if scheme == "unix":
        socket, _, path = f"{rest}/".partition(".sock/")
        socket, path = (f"{socket}.sock", path[:-1]) if ".sock/" in f"{rest}/" else (rest, "")
    else:
        socket, _, path = rest.partition("/")
    socket = unquote(socket)
    if not socket.startswith("/") or "\0" in socket or not path.isascii() or not _plain(path):
        raise ValueError(f"{url!r} does not name a unix socket by its whole path")
    return Target(Origin(SOCKET, socket, 0), f"/{path}")


class Transport:
    """Connections by origin; an idle one is used again.

    With a `lookup` of the caller's, connections that no proxy makes for us go to its addresses
    and to no others: nothing is looked up a second time.
    """

    def __init__(
        self, environ: Mapping[str, str] | None = None, lookup: Lookup | None = None
    ) -> None:
        self._environ = os.environ if environ is None else environ
        self._lookup = lookup
        self._idle: dict[Origin, list[Exchange]] = {}
        self._tls: Any = None
        self.tape: Tape | None = None
        """Keeps every exchange."""

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> Exchange:
        """Send and wait for the head of the answer. The caller gives the exchange back."""
        return await self._send("POST", parse_target(url), headers, body)

    async def get(self, url: str, headers: Mapping[str, str]) -> Answer:
        return await self._answer("GET", url, headers, b"")

    async def submit(self, url: str, headers: Mapping[str, str], body: bytes) -> Answer:
        """A POST whose answer is no stream."""
        return await self._answer("POST", url, headers, body)

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

    async def _answer(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes
    ) -> Answer:
        from detent.http.body import whole

        async with asyncio.timeout(ANSWER_TIMEOUT):
            exchange = await self._send(method, parse_target(url), headers, body)
            try:
                content = await whole(exchange, MOST_ANSWER)
                return Answer(exchange.status, exchange.headers, content)
            finally:
                self.give_back(url, exchange)

    async def _send(
        self, method: str, target: Target, headers: Mapping[str, str], body: bytes
    ) -> Exchange:
        for _ in range(MOST_REDIRECTS + 1):
            exchange = await self.ask(method, target, headers, body)
            if exchange.status not in (301, 302, 303, 307, 308):
                return exchange
            from detent.http.redirect import next_target

            try:
                target = next_target(method, target, exchange)
            finally:
                exchange.abort()  # its body is of no interest, and may be long
        raise ModelFailure("invalid_request", "the endpoint redirects in circles")

    async def ask(
        self, method: str, target: Target, headers: Mapping[str, str], body: bytes
    ) -> Exchange:
        """Send once, and wait for the head of the answer, be it a redirect."""
        while True:
            exchange, fresh = await self._connection(target.origin)
            try:
                head = _head(method, target, headers, len(body), exchange)
                exchange.send(head, body)
                if self.tape is not None:  # while the server thinks, and before it can be heard
                    exchange.taped = self.tape.begin(target.url, head, body)
                await exchange.head()
                return exchange
            except ConnectionCut:
                # An idle connection may die the moment we use it: once more, on a new one.
                exchange.abort()
                if fresh or exchange.heard:
                    raise
            except BaseException:
                exchange.abort()
                raise

    async def _connection(self, origin: Origin) -> tuple[Exchange, bool]:
        idle = self._idle.get(origin, [])
        while idle:
            exchange = idle.pop()
            if not exchange.closed:
                return exchange, False
        async with asyncio.timeout(CONNECT_TIMEOUT):
            return await self._connect(origin), True

    async def _connect(self, origin: Origin) -> Exchange:
        loop = asyncio.get_running_loop()
        if origin.scheme == SOCKET:
            return (await loop.create_unix_connection(Exchange, origin.host))[1]
        proxy = self._proxy(origin)
        if origin.scheme == "https":
            return await self._connect_securely(origin, proxy)
        if proxy is None:
            return (await self._dial(Exchange, origin))[1]
        from detent.http.proxy import connect_through

        return await connect_through(proxy)

    async def _connect_securely(self, origin: Origin, proxy: str | None) -> Exchange:
        from detent.http.tls import secured

        context = self._tls_context()
        if proxy is None:
            plain, _ = await self._dial(asyncio.Protocol, origin)
        else:
            from detent.http.proxy import tunnel

            plain = await tunnel(proxy, origin)
        return await secured(plain, origin, context)

    async def _dial(self, protocol: type[P], origin: Origin) -> tuple[asyncio.Transport, P]:
        loop = asyncio.get_running_loop()
        *others, last = await self._lookup(origin) if self._lookup else (origin.host,)
        for address in others:
            try:
                async with asyncio.timeout(ADDRESS_TIMEOUT):
                    return await loop.create_connection(protocol, address, origin.port)
            except OSError:
                continue
        return await loop.create_connection(protocol, last, origin.port)

    def _proxy(self, origin: Origin) -> str | None:
        if origin.is_here or not any(name.lower().endswith("_proxy") for name in self._environ):
            return None
        from detent.http.proxy import proxy_for

        return proxy_for(origin, self._environ)

    def _tls_context(self) -> Any:
        """Loading the certificates takes 30 ms: only for https, and once."""
        if self._tls is None:
            from detent.http.tls import client_context

            try:
                self._tls = client_context(self._environ)
            except BadInput as error:  # a request may only fail as a request
                raise ModelFailure("invalid_request", str(error)) from None
        return self._tls


def _head(
    method: str, target: Target, headers: Mapping[str, str], length: int, exchange: Exchange
) -> bytes:
    place = target.origin.place
    path = f"http://{place}{target.path}" if exchange.through_proxy else target.path
    lines = [f"{method} {path} HTTP/1.1", f"host: {place}"]
    if method == "POST":
        lines.append(f"content-length: {length}")
    for name, value in headers.items():
        if not _plain(f"{name}{value}"):
            raise ModelFailure("invalid_request", f"the header {name!r} holds a line end")
        lines.append(f"{name}: {value}")
    return ("\r\n".join(lines) + f"\r\n{exchange.credentials}\r\n").encode("latin-1", "replace")


def _plain(text: str) -> bool:
    return not any(char in text for char in "\r\n\0")
