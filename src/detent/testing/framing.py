"""The body of a streamed answer on its way to the socket: framed well or badly, whole or torn."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Mapping
from http import HTTPStatus

from detent.testing.script import Fault

_COLLECTED = ("length", "too_long", "too_short")
_LIE = 1000


class WasReset(Exception):
    """The connection was torn down on purpose."""


class Body:
    """`put` what the answer says, `flush` it out, `finish` it. The head goes with the first flush.

    Framings that name a length send everything at the end.
    """

    def __init__(
        self, writer: asyncio.StreamWriter, headers: Mapping[str, str], fault: Fault
    ) -> None:
        self._writer = writer
        self._headers = dict(headers)
        self._framing = fault.framing
        self._split = fault.split
        self._left = fault.reset_after
        self._pieces: list[bytes] = []
        self._put = 0
        self.size = 0
        if self._framing == "close":
            self._pieces.append(self._head({"connection": "close"}))
        elif self._framing not in _COLLECTED:
            self._pieces.append(self._head({"transfer-encoding": "chunked"}))

    @property
    def reusable(self) -> bool:
        """Whether the connection may carry another answer."""
        return self._framing in ("chunked", "length", "too_short")

    def put(self, data: bytes) -> None:
        if self._left is not None:
            data = data[: self._left]
            self._left -= len(data)
        step = self._split or len(data) or 1
        for start in range(0, len(data), step):
            self._put += 1
            self._add(self._framed(data[start : start + step]))

    async def flush(self) -> None:
        if self._framing not in _COLLECTED:
            await self._write()
        self._break_if_due()

    async def finish(self) -> None:
        if self._framing in _COLLECTED:
            lie = {"too_long": _LIE, "too_short": -(self.size // 2)}.get(self._framing, 0)
            self._pieces.insert(0, self._head({"content-length": str(self.size + lie)}))
        await self._write()
        self._break_if_due()
        if self._framing == "chunked":
            self._writer.write(b"0\r\n\r\n")
            await self._writer.drain()

    def _break_if_due(self) -> None:
        if self._left == 0:
            reset(self._writer)
            raise WasReset

    def _framed(self, data: bytes) -> bytes:
        if self._framing == "bad_chunk" and self._put > 1:
            return b"zz\r\n%b\r\n" % data
        return chunk_bytes(data) if self._framing in ("chunked", "bad_chunk") else data

    def _add(self, piece: bytes) -> None:
        self._pieces.append(piece)
        self.size += len(piece)

    def _head(self, framing: Mapping[str, str]) -> bytes:
        return head_bytes(200, {**framing, **self._headers})

    async def _write(self) -> None:
        pieces, self._pieces, self.size = self._pieces, [], 0
        if not self._split:
            pieces = [b"".join(pieces)]
        for piece in pieces:
            self._writer.write(piece)
            await self._writer.drain()
            if self._split:
                await asyncio.sleep(0)  # Each piece leaves by itself.


def reset(writer: asyncio.StreamWriter) -> None:
    """A TCP reset: zero linger turns the close into one."""
    linger = struct.pack("ii", 1, 0)
    sock = writer.get_extra_info("socket")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    writer.transport.abort()


def head_bytes(status: int, headers: Mapping[str, str]) -> bytes:
    try:
        phrase = HTTPStatus(status).phrase
    except ValueError:
        phrase = "Overloaded" if status == 529 else "Scripted"
    lines = (f"{name}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {status} {phrase}\r\n{''.join(lines)}\r\n".encode("latin-1")


def chunk_bytes(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)
