"""SOCKS5 as far as commands need it: connecting to a host, without a password."""

import asyncio
import socket
from ipaddress import IPv6Address

from detent.http.addresses import normal_host

VERSION = 5
GRANTED, FAILED, REFUSED, UNREACHABLE, NO_SUCH_COMMAND, NO_SUCH_ADDRESS = 0, 1, 2, 4, 7, 8
_NO_PASSWORD, _NO_METHOD = 0, 0xFF
_CONNECT = 1
_IPV4, _NAME, _IPV6 = 1, 3, 4


class BadSocks(Exception):
    def __init__(self, code: int) -> None:
        super().__init__(f"SOCKS: {code}")
        self.code = code


async def wanted(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> tuple[str, int] | None:
    """Host and port, after the first byte; None for a client that will only come with a password.
    Raises BadSocks, ValueError for a host that is none, IncompleteReadError."""
    methods = await reader.readexactly((await reader.readexactly(1))[0])
    if _NO_PASSWORD not in methods:
        writer.write(bytes((VERSION, _NO_METHOD)))
        return None
    writer.write(bytes((VERSION, _NO_PASSWORD)))
    version, command, _, kind = await reader.readexactly(4)
    host = await _host(reader, kind) if version == VERSION else ""
    port = int.from_bytes(await reader.readexactly(2), "big")
    if version != VERSION or not port:
        raise BadSocks(FAILED)
    if command != _CONNECT:
        raise BadSocks(NO_SUCH_COMMAND)
    return normal_host(host), port


async def _host(reader: asyncio.StreamReader, kind: int) -> str:
    if kind == _IPV4:
        return socket.inet_ntoa(await reader.readexactly(4))
    if kind == _IPV6:
        return f"[{IPv6Address(await reader.readexactly(16))}]"
    if kind != _NAME:
        raise BadSocks(NO_SUCH_ADDRESS)
    name = await reader.readexactly((await reader.readexactly(1))[0])
    # Latin-1 keeps every byte as it is: the check of the name sees a NUL, too.
    text = name.decode("latin-1")
    return f"[{text}]" if ":" in text else text


def reply(code: int) -> bytes:
    return bytes((VERSION, code, 0, _IPV4)) + bytes(6)
