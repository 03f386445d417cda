"""The summary that a model writes: read leniently, rendered by a template of our own."""

import json
import re
from typing import Any

from msgspec import Struct

LONGEST_TEXT, LONGEST_ITEM, MOST_ITEMS = 3_000, 600, 40
TITLES = {
    "goal": "Goal",
    "constraints": "Constraints",
    "decisions": "Decisions",
    "failed_approaches": "Tried, and did not work",
    "open_todos": "Still to do",
    "files_touched": "Files",
    "current_state": "Where it stands",
    "next_step": "Next",
}
"""`last_request` is asked for, so that it is thought of, and not shown: the request itself stands
beside the summary, and nobody's version of it."""
LISTS = ("constraints", "decisions", "failed_approaches", "open_todos", "files_touched")
LONGEST_CUT, MOST_PIECES = 60_000, 4
"""Of an answer that was cut off: how much is looked at, and how many pieces are taken off."""
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
MOST_STARTS = 50
"""Places at which an object may begin that are tried."""


class Summary(Struct, frozen=True):
    goal: str = ""
    constraints: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    failed_approaches: tuple[str, ...] = ()
    open_todos: tuple[str, ...] = ()
    files_touched: tuple[str, ...] = ()
    last_request: str = ""
    current_state: str = ""
    next_step: str = ""

    @property
    def says_something(self) -> bool:
        return any(getattr(self, name) for name in TITLES)


def read_summary(text: str) -> Summary | None:
    """None where there is no object that tells anything, whatever stands around it."""
    for fields in _objects(text) or _objects(_mended(text)):
        read: dict[str, Any] = {
            name: _items(fields.get(name)) if name in LISTS else _text(fields.get(name))
            for name in Summary.__struct_fields__
        }
        summary = Summary(**read)
        if summary.says_something:
            return summary
    return None


def render(summary: Summary) -> str:
    parts = []
    for name, title in TITLES.items():
        value = getattr(summary, name)
        if isinstance(value, tuple):
            parts += [f"## {title}", *(f"- {item}" for item in value)] if value else []
        elif value:
            parts.append(f"## {title}\n{value}")
    return "\n".join(parts)


def _objects(text: str) -> list[dict[str, Any]]:
    """The objects of a text, the outermost first."""
    decoder = json.JSONDecoder(strict=False)
    found: list[dict[str, Any]] = []
    place = text.find("{")
    for _ in range(MOST_STARTS):
        if place < 0:
            break
        try:
            value, end = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            end = place + 1
        else:
            found += [value] if isinstance(value, dict) else []
        place = text.find("{", end)
    return found


def _mended(text: str) -> str:
    """An object that was cut off, with its ends put back; what is half goes."""
    body = text[max(text.find("{"), 0) :][:LONGEST_CUT]
    for _ in range(MOST_PIECES):
        bare, is_open, _ = _STRING.sub("", body).partition('"')
        ends: list[str] = []
        for one in bare:
            if one in "{[":
                ends.append("}" if one == "{" else "]")
            elif one in "}]" and ends:
                ends.pop()
        whole = body.rstrip("\\,") + is_open + "".join(reversed(ends))
        try:
            json.loads(whole, strict=False)
        except (ValueError, RecursionError):
            body = body.rpartition(",")[0]
        else:
            return whole
    return ""


def _text(value: Any) -> str:
    match value:
        case str():
            return _bounded(value.strip(), LONGEST_TEXT)
        case bool() | None:
            return ""
        case int() | float():
            return str(value)
        case list():
            return _bounded("\n".join(_items(value)), LONGEST_TEXT)
        case dict():
            return _bounded("; ".join(_items(value)), LONGEST_TEXT)
        case _:
            return ""


def _items(value: Any) -> tuple[str, ...]:
    match value:
        case list():
            items = [_text(item) for item in value]
        case dict():
            items = [f"{key}: {said}" for key, item in value.items() if (said := _text(item))]
        case str():
            items = value.split("\n")
        case _:
            items = []
    flat = [" ".join(item.split()).removeprefix("- ") for item in items]
    return tuple(_bounded(item, LONGEST_ITEM) for item in flat if item)[:MOST_ITEMS]


def _bounded(text: str, most: int) -> str:
    """Its lines stay lines."""
    return text if len(text) <= most else text[: most - 1] + "…"
