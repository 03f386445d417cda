"""Server-sent events as the wires write them."""

from __future__ import annotations

import json
from typing import Any, NamedTuple


class Event(NamedTuple):
    """One encoded stream event, with what the server must know to pace and break it."""

    data: bytes
    delta: bool = False
    ends_block: bool = False
    closing: bool = False


def compact(value: object) -> bytes:
    """JSON as servers send it: no blanks, and characters as they are."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        return text.encode()
    except UnicodeEncodeError:  # Half a surrogate pair travels only as an escape.
        return json.dumps(value, separators=(",", ":")).encode()


def named(name: str, /, **fields: Any) -> bytes:
    """An event with a name, which is its `type` too."""
    return b"event: %b\ndata: %b\n\n" % (name.encode(), compact({"type": name, **fields}))


def unnamed(value: object) -> bytes:
    return b"data: %b\n\n" % compact(value)


def around(event: bytes) -> tuple[bytes, ...]:
    """What stands around each NUL text: long streams are made of equal events, encoded once."""
    return tuple(event.split(b'"\\u0000"'))
