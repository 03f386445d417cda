"""Amazon's framing of events: length, headers, payload, and two checksums around them.

total length · header length · crc of both │ headers │ payload │ crc of all before
4              4               4                                 4 bytes, big-endian
"""

import binascii
import zlib
from base64 import b64decode

import msgspec
from msgspec import Struct

from detent.models.failures import failure_in_stream
from detent.types.errors import ModelFailure

PRELUDE, CHECKSUM = 12, 4
MOST_FRAME = 24 * 1024 * 1024
_SIZES = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
"""Bytes of a header's value by its type; 6 and 7, bytes and text, carry their length."""


class _Chunk(Struct):
    bytes: str = ""


class _Exception(Struct):
    message: str = ""


_chunk = msgspec.json.Decoder(_Chunk).decode
_exception = msgspec.json.Decoder(_Exception).decode


class EventStream:
    """The same shape as the splitter of server-sent events: bytes in, whole events out."""

    def __init__(self) -> None:
        self._pending = bytearray()
        self._wanted = PRELUDE

    def feed(self, chunk: bytes) -> list[bytes]:
        self._pending += chunk
        events = []
        while len(self._pending) >= self._wanted:
            if self._wanted == PRELUDE:
                self._wanted = _frame_length(bytes(self._pending[:PRELUDE]))
                continue
            frame = bytes(self._pending[: self._wanted])
            del self._pending[: self._wanted]
            self._wanted = PRELUDE
            if data := _event(frame):
                events.append(data)
        return events

    def finish(self) -> list[bytes]:
        """Half a frame is none; that the answer is not whole, the wire will notice."""
        self._pending.clear()
        return []


def _frame_length(prelude: bytes) -> int:
    if zlib.crc32(prelude[:8]) != int.from_bytes(prelude[8:], "big"):
        raise _damaged()
    total, headers = int.from_bytes(prelude[:4], "big"), int.from_bytes(prelude[4:8], "big")
    if not PRELUDE + headers + CHECKSUM <= total <= MOST_FRAME:
        raise _damaged()
    return total


def _event(frame: bytes) -> bytes:
    """The model's own event inside a frame; empty for frames that are none."""
    if zlib.crc32(frame[:-CHECKSUM]) != int.from_bytes(frame[-CHECKSUM:], "big"):
        raise _damaged()
    end = PRELUDE + int.from_bytes(frame[4:8], "big")
    headers, payload = _headers(frame[PRELUDE:end]), frame[end:-CHECKSUM]
    match headers.get(":message-type"):
        case "event":
            return _inner(payload) if headers.get(":event-type") == "chunk" else b""
        case "exception":
            raise _failure(headers.get(":exception-type", ""), _message(payload))
        case "error":
            raise _failure(headers.get(":error-code", ""), headers.get(":error-message", ""))
    return b""


def _headers(data: bytes) -> dict[str, str]:
    """Those that are text; the others are passed over."""
    found = {}
    at = 0
    while at < len(data):
        start = at + 1
        at = start + data[at]
        name = data[start:at].decode("latin-1")
        if at >= len(data):
            raise _damaged()
        kind = data[at]
        at += 1
        size = _SIZES.get(kind)
        if size is None:
            if kind not in (6, 7):
                raise _damaged()
            size = int.from_bytes(data[at : at + 2], "big")
            at += 2
        if at + size > len(data):
            raise _damaged()
        if kind == 7:
            found[name] = data[at : at + size].decode(errors="replace")
        at += size
    return found


def _inner(payload: bytes) -> bytes:
    try:
        return b64decode(_chunk(payload).bytes, validate=True)
    except (msgspec.MsgspecError, UnicodeDecodeError, binascii.Error):
        raise _damaged() from None


def _message(payload: bytes) -> str:
    try:
        return _exception(payload).message
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return ""


def _failure(name: str, message: str) -> ModelFailure:
    return failure_in_stream({"type": name, "message": message})


def _damaged() -> ModelFailure:
    return ModelFailure("network", "the event stream arrived damaged")
