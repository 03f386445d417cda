"""Frames as Amazon's servers write them: the other side of the decoder."""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any


def frame(headers: dict[str, str], payload: bytes, extra: bytes = b"") -> bytes:
    """`extra` are headers of other types, already encoded."""
    lines = extra
    for name, value in headers.items():
        text = value.encode()
        lines += bytes([len(name)]) + name.encode() + b"\7" + len(text).to_bytes(2, "big") + text
    total = 12 + len(lines) + len(payload) + 4
    prelude = total.to_bytes(4, "big") + len(lines).to_bytes(4, "big")
    prelude += zlib.crc32(prelude).to_bytes(4, "big")
    whole = prelude + lines + payload
    return whole + zlib.crc32(whole).to_bytes(4, "big")


def chunk(event: dict[str, Any]) -> bytes:
    inner = base64.b64encode(json.dumps(event).encode()).decode()
    headers = {
        ":event-type": "chunk",
        ":content-type": "application/json",
        ":message-type": "event",
    }
    return frame(headers, json.dumps({"bytes": inner, "p": "abc"}).encode())


def exception(name: str, message: str) -> bytes:
    headers = {":exception-type": name, ":message-type": "exception"}
    return frame(headers, json.dumps({"message": message}).encode())
