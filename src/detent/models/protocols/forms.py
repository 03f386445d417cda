"""Schemas for answers: which of them OpenAI's strict mode takes."""

from typing import Any

import msgspec


def is_strict(schema: msgspec.Raw) -> bool:
    """Strict mode holds a model to a schema whose objects are closed and need all they name.

    Any other schema it refuses, and is sent as a guide instead.
    """
    return _is_closed(msgspec.json.decode(schema))


def _is_closed(value: Any) -> bool:
    if isinstance(value, list):
        return all(map(_is_closed, value))
    if not isinstance(value, dict):
        return True
    properties = value.get("properties")
    if value.get("type") == "object" or isinstance(properties, dict):
        named = set(properties) if isinstance(properties, dict) else set()
        required = value.get("required")
        needed = set(required) if isinstance(required, list) else set()
        if value.get("additionalProperties") is not False or named != needed:
            return False
    return all(map(_is_closed, value.values()))
