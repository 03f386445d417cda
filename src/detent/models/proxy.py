"""Reaching an origin through an HTTP proxy. Loaded only when the environment names one."""

import asyncio
from base64 import b64encode
from typing import Any
from urllib.parse import unquote, urlsplit

from detent.models.transport import Exchange, Origin


class Tunnelled(Exchange):
    through_proxy = False


class Forwarded(Exchange):
    """Plain http through a proxy: the request line carries the whole address."""

    through_proxy = True


async def connect_through(
    proxy: str, origin: Origin, tls: Any, make: type[Exchange] = Exchange
) -> Exchange:
    parts = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
    if parts.scheme != "http":
        raise OSError(f"proxy scheme {parts.scheme!r} is not supported, only http")
    host, port = parts.hostname or "", parts.port or 8080
    loop = asyncio.get_running_loop()
    if tls is None:
        _, forwarded = await loop.create_connection(Forwarded, host, port)
        return forwarded
    reader, writer = await asyncio.open_connection(host, port)
    place = f"{origin.host}:{origin.port}"
    writer.write(f"CONNECT {place} HTTP/1.1\r\nhost: {place}\r\n{_credentials(parts)}\r\n".encode())
    head = await reader.readuntil(b"\r\n\r\n")
    status = head.split(b"\r\n", 1)[0].split(b" ")[1:2]
    if status != [b"200"]:
        writer.close()
        raise OSError(f"the proxy refused the connection: {head.splitlines()[0].decode('latin-1')}")
    exchange = Tunnelled()
    transport = await loop.start_tls(writer.transport, exchange, tls, server_hostname=origin.host)
    assert transport is not None
    exchange.connection_made(transport)
    return exchange


def _credentials(parts: Any) -> str:
    if not parts.username:
        return ""
    pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return f"proxy-authorization: Basic {b64encode(pair.encode()).decode()}\r\n"
