"""The one place that turns our types into bytes and back."""

from functools import cache
from typing import Any

import msgspec

from detent.types.errors import BadInput
from detent.types.events import Entry

encode = msgspec.json.Encoder().encode
decode_any = msgspec.json.Decoder().decode


@cache
def _entry_decoder() -> msgspec.json.Decoder[Entry]:
    """Made when a log is first read: a new session need not wait for it."""
    return msgspec.json.Decoder(Entry)


def decode_entry(data: bytes) -> Entry:
    return _entry_decoder().decode(data)


def arguments_object(text: str) -> dict[str, Any] | None:
    """What a model wrote as arguments, if it is an object; nothing at all is an empty one."""
    try:
        value = decode_any(text) if text.strip() else {}
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def ends_early(text: str) -> bool:
    """JSON that is good as far as it goes: what is left of an answer that was cut."""
    try:
        decode_any(text)
    except (ValueError, RecursionError) as error:
        cut = bool(text.strip()) and "truncated" in str(error)
        return cut and not holds_half_character(text)
    return False


def holds_half_character(text: str) -> bool:
    """JSON whose only fault is half of a pair, such as `\\ud83d` without its other half."""
    if "\\ud" not in text.lower():
        return False
    import json

    try:
        json.loads(text)  # which takes it
    except (ValueError, RecursionError):
        return False
    return True


def decode_object(data: bytes | str, name: str) -> dict[str, Any]:
    """A JSON object that a person wrote; a fault is named with its line."""
    try:
        value = decode_any(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadInput(f"{name}: {_located(data, str(error))}") from None
    except RecursionError:
        raise BadInput(f"{name}: nested too deeply") from None
    if not isinstance(value, dict):
        raise BadInput(f"{name}: expected a JSON object, got {type(value).__name__}")
    return value


def _located(data: bytes | str, message: str) -> str:
    """msgspec names the byte; people look for a line. A text cut short has its fault at the end."""
    raw = data.encode() if isinstance(data, str) else data
    head, _, tail = message.rpartition("(byte ")
    position = int(tail[:-1]) if head and tail[:-1].isdigit() else len(raw)
    before = raw[:position]
    line = before.count(b"\n") + 1
    column = position - before.rfind(b"\n")
    return f"line {line}, column {column}: {head.strip() or message}"
