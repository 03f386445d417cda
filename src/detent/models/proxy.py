"""Reaching an origin through an HTTP proxy. Loaded only when the environment names one."""

import asyncio
from base64 import b64encode
from typing import Any
from urllib.parse import unquote, urlsplit

from detent.models.transport import Exchange, Origin


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
        self._head += data
        if b"\r\n\r\n" in self._head and not self.answer.done():
            self.answer.set_result(self._head)

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.answer.done():
            self.answer.set_exception(exc or ConnectionError("the proxy closed the connection"))


async def connect_through(proxy: str, origin: Origin, tls: Any) -> Exchange:
    parts = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
    if parts.scheme != "http":
        raise OSError(f"proxy scheme {parts.scheme!r} is not supported, only http")
    host, port = parts.hostname or "", parts.port or 8080
    loop = asyncio.get_running_loop()
    if tls is None:
        _, forwarded = await loop.create_connection(Forwarded, host, port)
        forwarded.credentials = _credentials(parts)
        return forwarded
    plain, connecting = await loop.create_connection(_Connecting, host, port)
    try:
        plain.write(_connect_head(origin, _credentials(parts)))
        _check(await connecting.answer)
        exchange = Exchange()
        secure = await loop.start_tls(plain, exchange, tls, server_hostname=origin.host)
    except BaseException:
        plain.abort()
        raise
    assert secure is not None
    exchange.connection_made(secure)
    return exchange


def _connect_head(origin: Origin, credentials: str) -> bytes:
    host = f"[{origin.host}]" if ":" in origin.host else origin.host
    place = f"{host}:{origin.port}"
    return f"CONNECT {place} HTTP/1.1\r\nhost: {place}\r\n{credentials}\r\n".encode()


def _check(head: bytes) -> None:
    first = head.split(b"\r\n", 1)[0]
    if first.split(b" ")[1:2] != [b"200"]:
        raise OSError(f"the proxy refused the connection: {first.decode('latin-1')}")


def _credentials(parts: Any) -> str:
    if not parts.username:
        return ""
    pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return f"proxy-authorization: Basic {b64encode(pair.encode()).decode()}\r\n"
