"""Bodies that come packed, and bodies that are wanted whole: both in bounded memory.

We never ask for packed answers (packing holds tokens back), but some gateways pack anyway. Output
is produced only as the reader asks for it, a step at a time: a bomb of any size costs one step.
"""

import asyncio
import zlib
from collections.abc import Awaitable, Callable
from typing import Protocol

from detent.http.exchange import ConnectionCut
from detent.types.errors import ModelFailure

STEP = 64 * 1024
"""Most bytes unpacked at once."""
PIECE = 8 * 1024
"""Most packed bytes looked at at once."""

_GZIP, _ZLIB, _BARE = 16 + zlib.MAX_WBITS, zlib.MAX_WBITS, -zlib.MAX_WBITS


class Readable(Protocol):
    async def read(self) -> bytes: ...


async def whole(source: Readable, most: int) -> bytes:
    """All of a body that is no stream."""
    parts, size = [], 0
    while chunk := await source.read():
        parts.append(chunk)
        size += len(chunk)
        if size > most:
            raise ConnectionCut(f"the answer is longer than {most} bytes")
    return b"".join(parts)


async def beginning(source: Readable, most: int) -> bytes:
    """The first bytes of a body of which no more is of interest: the text of an error."""
    parts, size = [], 0
    while size < most and (chunk := await source.read()):
        parts.append(chunk)
        size += len(chunk)
    return b"".join(parts)[:most]


def unpacking(encoding: str) -> "Unpacking | None":
    names = [name for part in encoding.split(",") if (name := part.strip().lower()) != "identity"]
    match [name for name in names if name]:
        case []:
            return None
        case ["gzip" | "x-gzip"]:
            return Unpacking(_GZIP)
        case ["deflate"]:
            return Unpacking(None)
    raise ModelFailure(
        "invalid_response",
        f"the endpoint packs its answers as {encoding!r}, which nobody asked for",
    )


class Unpacking:
    def __init__(self, window: int | None) -> None:
        self._window = window
        """None: `deflate`, which some send with its header and some without."""
        self._arrived, self._at = b"", 0
        self._packed = b""
        """What the member is fed next; small, for its rest is copied at every step."""
        self._member: zlib._Decompress | None = None
        self._members = 0
        self._may_hold_more = False

    async def read(self, source: Callable[[], Awaitable[bytes]]) -> bytes:
        while not (data := self._step()):
            self._arrived, self._at = await source(), 0
            if not self._arrived:
                self._check_end()
                return b""
        if self._may_hold_more:
            await asyncio.sleep(0)  # nothing was waited for: timers and others get their turn
        return data

    def _step(self) -> bytes:
        """Output as far as the input goes; empty when more is needed."""
        while self._may_hold_more or self._refill():
            member = self._member or self._begin()
            if member is None:
                continue
            try:
                data = member.decompress(self._packed, STEP)
            except zlib.error as error:
                raise ConnectionCut(f"the packed answer is damaged: {error}") from None
            self._may_hold_more = len(data) == STEP
            self._packed = member.unconsumed_tail
            if member.eof:
                self._packed, self._may_hold_more = member.unused_data, False
                self._member, self._members = None, self._members + 1
            if data:
                return data
        return b""

    def _refill(self) -> bool:
        """Whether there is input; what could not be used before gets company."""
        is_stuck = self._member is None and len(self._packed) < 2
        if self._packed and not is_stuck:
            return True
        piece = self._arrived[self._at : self._at + PIECE]
        self._at += len(piece)
        self._packed += piece
        return bool(piece)

    def _begin(self) -> "zlib._Decompress | None":
        if self._members:  # zeros behind a member are padding
            self._packed = self._packed.lstrip(b"\0")
        if len(self._packed) < 2:
            return None
        if self._window is None:
            self._window = _ZLIB if _has_header(self._packed) else _BARE
        self._member = zlib.decompressobj(self._window)
        return self._member

    def _check_end(self) -> None:
        if self._member is not None or self._packed:
            raise ConnectionCut("the packed answer ends in the middle")


def _has_header(data: bytes) -> bool:
    return data[0] & 0x0F == 8 and int.from_bytes(data[:2], "big") % 31 == 0
