"""Reaching an origin through an HTTP proxy. Loaded only when the environment names one.

For https the proxy sees a host name and a port, and never the request: neither body nor key.
"""

import asyncio
from base64 import b64encode
from collections.abc import Mapping
from urllib.parse import SplitResult, unquote, urlsplit

from detent.http.exchange import MOST_HEAD, Exchange
from detent.http.transport import Origin
from detent.types.errors import ModelFailure


def proxy_for(origin: Origin, environ: Mapping[str, str]) -> str | None:
    """The proxy the environment names for this origin; never for loopback."""
    if origin.is_here or _is_exempt(origin, _variable(environ, "no_proxy")):
        return None
    return _variable(environ, f"{origin.scheme}_proxy") or _variable(environ, "all_proxy") or None


def _variable(environ: Mapping[str, str], name: str) -> str:
    return environ.get(name) or environ.get(name.upper(), "")


def _is_exempt(origin: Origin, no_proxy: str) -> bool:
    """`*`, names and whatever ends in them, addresses, networks; each with or without a port."""
    entries = [entry.lower() for part in no_proxy.split(",") if (entry := part.strip())]
    return any(entry == "*" or _covers(entry, origin) for entry in entries)


def _covers(entry: str, origin: Origin) -> bool:
    host = origin.host.lower().rstrip(".")
    if "/" in entry:
        return _in_network(host, entry)
    name, port = _without_port(entry)
    suffix = name.lstrip("*").lstrip(".")
    if not suffix or (port and port != str(origin.port)):
        return False
    return host == suffix or host.endswith(f".{suffix}")


def _without_port(entry: str) -> tuple[str, str]:
    if entry.startswith("["):
        name, _, rest = entry[1:].partition("]")
        return name, rest.removeprefix(":")
    if entry.count(":") == 1:
        name, _, port = entry.partition(":")
        return name, port
    return entry, ""  # also an IPv6 address without brackets


def _in_network(host: str, network: str) -> bool:
    import ipaddress

    try:
        return ipaddress.ip_address(host) in ipaddress.ip_network(network, strict=False)
    except ValueError:  # a name is in no network: we do not look it up for that
        return False


class Forwarded(Exchange):
    """Plain http through a proxy: the request line carries the whole address."""

    through_proxy = True


class _Connecting(asyncio.Protocol):
    """Waits for the proxy's answer to CONNECT.

    No stream pair: its writer would close the socket under the tunnel when it is collected.
    """

    def __init__(self) -> None:
        self.answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._head = b""

    def data_received(self, data: bytes) -> None:
        if self.answer.done():
            return
        self._head += data
        if b"\r\n\r\n" in self._head:
            self.answer.set_result(self._head)
        elif len(self._head) > MOST_HEAD:
            self.answer.set_exception(OSError("the proxy sent an endless head"))

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.answer.done():
            self.answer.set_exception(exc or ConnectionError("the proxy closed the connection"))


async def connect_through(proxy: str) -> Exchange:
    """For plain http: the proxy reads the request and hands it on."""
    parts = _parsed(proxy)
    loop = asyncio.get_running_loop()
    _, forwarded = await loop.create_connection(Forwarded, *_address(parts))
    forwarded.credentials = _credentials(parts)
    return forwarded


async def tunnel(proxy: str, origin: Origin) -> asyncio.Transport:
    """A way to the origin on which the proxy hands on bytes it cannot read."""
    parts = _parsed(proxy)
    loop = asyncio.get_running_loop()
    plain, connecting = await loop.create_connection(_Connecting, *_address(parts))
    try:
        plain.write(_connect_head(origin, _credentials(parts)))
        _check(await connecting.answer)
    except BaseException:
        plain.abort()
        raise
    return plain


async def open_tunnel(
    proxy: str, origin: Origin
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """The same as streams, of which not a byte is lost: also for servers that speak first."""
    parts = _parsed(proxy)
    reader, writer = await asyncio.open_connection(*_address(parts), limit=MOST_HEAD)
    try:
        writer.write(_connect_head(origin, _credentials(parts)))
        _check(await reader.readuntil(b"\r\n\r\n"))
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        writer.transport.abort()
        raise OSError("the proxy did not answer as one") from None
    except BaseException:
        writer.transport.abort()
        raise
    return reader, writer


async def open_forwarding(
    proxy: str,
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter, str]:
    """Streams to the proxy itself for one plain request, and the header line that it wants."""
    parts = _parsed(proxy)
    return *await asyncio.open_connection(*_address(parts)), _credentials(parts)


def _parsed(proxy: str) -> SplitResult:
    return urlsplit(proxy if "://" in proxy else f"http://{proxy}")


def _address(parts: SplitResult) -> tuple[str, int]:
    """Asking again would not help against a wrong setting: the kind says so."""
    if parts.scheme != "http":
        raise ModelFailure(
            "invalid_request",
            f"the proxy speaks {parts.scheme}, which is not supported: name an http:// proxy",
        )
    try:
        host, port = parts.hostname, parts.port or 80
    except ValueError:
        host, port = None, 0
    if not host:
        raise ModelFailure("invalid_request", "the address of the proxy is not one")
    return host, port


def _connect_head(origin: Origin, credentials: str) -> bytes:
    host = f"[{origin.host}]" if ":" in origin.host else origin.host
    place = f"{host}:{origin.port}"
    return f"CONNECT {place} HTTP/1.1\r\nhost: {place}\r\n{credentials}\r\n".encode()


def _check(head: bytes) -> None:
    first = head.split(b"\r\n", 1)[0]
    status = first.split(b" ")[1:2]
    if status == [b"407"]:
        raise ModelFailure(
            "invalid_request",
            "the proxy does not know us: put user and password into its address, "
            "http://user:password@host:port",
        )
    if status != [b"200"]:
        raise OSError(f"the proxy refused the connection: {first.decode('latin-1')[:200]}")


def _credentials(parts: SplitResult) -> str:
    if not parts.username:
        return ""
    pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return f"proxy-authorization: Basic {b64encode(pair.encode()).decode()}\r\n"
