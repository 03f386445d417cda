"""Values that people write into settings, checked. A wrong one is named with its file."""

from collections.abc import Mapping
from typing import Any, Literal, TypeVar

from detent.tools.registry import canonical_name
from detent.types.errors import BadInput

Values = Mapping[str, Any]
Word = TypeVar("Word", bound=str)


def table(values: Values, key: str, name: str) -> Values:
    value = values.get(key, {})
    if not isinstance(value, dict):
        raise BadInput(f"{name}: {key} must be an object")
    return value


def text(values: Values, key: str, name: str) -> str:
    value = values.get(key, "")
    if not isinstance(value, str):
        raise BadInput(f"{name}: {key} must be a string")
    return value


def texts(values: Values, key: str, name: str, called: str = "") -> tuple[str, ...]:
    """`called` is what people know the key as, where it stands in an object."""
    value = values.get(key, [])
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise BadInput(f"{name}: {called or key} must be a list of strings")
    return tuple(value)


def one_of(values: Values, key: str, allowed: tuple[Word, ...], name: str) -> Word | Literal[""]:
    value = text(values, key, name)
    for word in allowed:
        if value == word:
            return word
    if not value:
        return ""
    raise BadInput(f"{name}: {key} is one of {', '.join(allowed)}, not {value!r}")


def number(values: Values, key: str, name: str, default: float | None) -> float | None:
    value = values.get(key, default)
    if value is not None and (not isinstance(value, int | float) or isinstance(value, bool)):
        raise BadInput(f"{name}: {key} must be a number")
    if value is not None and value < 0:
        raise BadInput(f"{name}: {key} must not be negative")
    return value


def whole(values: Values, key: str, name: str, default: int | None) -> int | None:
    value = number(values, key, name, default)
    if value is not None and value % 1:
        raise BadInput(f"{name}: {key} must be a whole number")
    return None if value is None else int(value)


def switch(values: Values, key: str, name: str, default: bool) -> bool:
    value = values.get(key, default)
    if not isinstance(value, bool):
        raise BadInput(f"{name}: {key} must be true or false")
    return value


def names(values: Values, key: str, name: str) -> tuple[str, ...]:
    """One or several."""
    value = values.get(key, [])
    given = [value] if isinstance(value, str) else value
    if not isinstance(given, list) or not all(isinstance(item, str) for item in given):
        raise BadInput(f"{name}: {key} must be a string or a list of strings")
    return tuple(given)


def tool_seconds(values: Values, key: str, name: str) -> dict[str, float]:
    """Seconds by the name of a tool, an alias included."""
    given = table(values, key, name)
    for tool in given:
        if not number(given, tool, f"{name}: {key}", None):
            raise BadInput(f"{name}: {key}: {tool} needs seconds above zero")
    return {canonical_name(tool): float(seconds) for tool, seconds in given.items()}


def delays(
    values: Values, key: str, name: str, default: tuple[float, ...] | None
) -> tuple[float, ...] | None:
    if key not in values:
        return default
    given = values[key]
    is_list = isinstance(given, list)
    if not is_list or any(isinstance(d, bool) or not isinstance(d, int | float) for d in given):
        raise BadInput(f"{name}: {key} must be a list of seconds")
    if any(not 0 <= delay <= 3600 for delay in given):
        raise BadInput(f"{name}: {key} must lie between 0 and 3600 seconds")
    return tuple(map(float, given))
