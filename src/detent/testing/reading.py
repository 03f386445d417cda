"""Scripts from JSON.

Every reader takes the value and the place it stands, and either returns the finished thing or
raises ValueError naming that place.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias, cast, get_args

from detent.testing.edits import check_edit
from detent.testing.script import (
    QUIRKS,
    After,
    Block,
    Call,
    Fault,
    Foreign,
    Framing,
    Pick,
    RedactedThink,
    Reply,
    Say,
    Script,
    Think,
    Usage,
    as_reply,
)

_Reader: TypeAlias = Callable[[Any, str], Any]


def load_script(path: str | Path) -> Script:
    """Read a script from a JSON file; ValueError says what is wrong and where."""
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"not JSON: {error}") from None
    return parse_script(found)


def parse_script(found: object) -> Script:
    """Read a script from decoded JSON; ValueError says what is wrong and where."""
    return cast(Script, _built(Script, _SCRIPT, found, ""))


def _built(make: Callable[..., Any], readers: Mapping[str, _Reader], found: Any, at: str) -> Any:
    fields = _fields(readers, found, at)
    try:
        return make(**fields)
    except ValueError as error:
        raise _bad(at, str(error)) from None


def _fields(readers: Mapping[str, _Reader], found: Any, at: str) -> dict[str, Any]:
    _of(dict)(found, at)
    for key in found:
        if key not in readers:
            raise _bad(at, f"unknown key {key!r}")
    return {key: readers[key](value, _inside(at, key)) for key, value in found.items()}


def _bad(at: str, problem: str) -> ValueError:
    return ValueError(f"{at or 'script'}: {problem}")


def _inside(at: str, key: str) -> str:
    return f"{at}.{key}" if at else key


def _of(*kinds: type) -> _Reader:
    """A value of one of these JSON types, and not a bool in disguise of a number."""

    def read(found: Any, at: str) -> Any:
        if not isinstance(found, kinds) or (isinstance(found, bool) and bool not in kinds):
            shown = [kind for kind in kinds if kind is not int or float not in kinds]
            wanted = " or ".join(_JSON_NAMES[kind] for kind in shown)
            got = _JSON_NAMES.get(type(found), type(found).__name__)
            raise _bad(at, f"expected {wanted}, got {got}")
        return found

    return read


_JSON_NAMES: dict[type, str] = {
    str: "a string",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    dict: "an object",
    list: "a list",
    type(None): "null",
}


def _at_least_zero(*kinds: type) -> _Reader:
    def read(found: Any, at: str) -> Any:
        if _of(*kinds)(found, at) < 0:
            raise _bad(at, "must not be negative")
        return found

    return read


def _one_of(*words: str) -> _Reader:
    def read(found: Any, at: str) -> Any:
        if found not in words:
            raise _bad(at, f"expected one of {', '.join(map(repr, words))}, got {found!r}")
        return found

    return read


def _many(read_one: _Reader) -> _Reader:
    def read(found: Any, at: str) -> Any:
        _of(list)(found, at)
        return tuple(read_one(each, f"{at}[{n}]") for n, each in enumerate(found))

    return read


def _named(read_one: _Reader) -> _Reader:
    def read(found: Any, at: str) -> Any:
        _of(dict)(found, at)
        return {key: read_one(value, _inside(at, key)) for key, value in found.items()}

    return read


def _read_block(found: Any, at: str) -> Block:
    if isinstance(found, str):
        return Say(found)
    _of(dict)(found, at)
    for kind, (make, own_name, readers) in _BLOCKS.items():
        if kind in found:
            fields = _fields({kind: _OWN.get(kind, _TEXT), **readers}, found, at)
            try:
                return make(**{own_name: fields.pop(kind)}, **fields)
            except ValueError as error:
                raise _bad(at, str(error)) from None
    known = set(_BLOCKS).union(*(readers for _, _, readers in _BLOCKS.values()))
    for key in found:
        if key not in known:
            raise _bad(at, f"unknown key {key!r}")
    raise _bad(at, f"needs one of {', '.join(map(repr, _BLOCKS))}")


def _read_reply(found: Any, at: str) -> Reply:
    if isinstance(found, str):
        return as_reply(found)
    return cast(Reply, _built(Reply, _REPLY, found, at))


def _read_fault(found: Any, at: str) -> Fault:
    return cast(Fault, _built(Fault, _FAULT, found, at))


def _read_usage(found: Any, at: str) -> Usage:
    return cast(Usage, _built(Usage, _USAGE, found, at))


def _read_edit(found: Any, at: str) -> str:
    try:
        check_edit(_TEXT(found, at))
    except ValueError as error:
        raise _bad(at, str(error)) from None
    return cast(str, found)


def _read_bytes(found: Any, at: str) -> bytes:
    """Text in which each character is a byte."""
    try:
        return cast(str, _TEXT(found, at)).encode("latin-1")
    except UnicodeEncodeError:
        raise _bad(at, "expected characters up to \\u00ff, each of them a byte") from None


def _read_quirks(found: Any, at: str) -> frozenset[str]:
    return frozenset(_many(_one_of(*sorted(QUIRKS)))(found, at))


_TEXT = _of(str)
_TEXT_OR_NULL = _of(str, type(None))
_COUNT = _at_least_zero(int)
_SECONDS = _at_least_zero(float, int)
_PIECES = _many(_TEXT)

_BLOCKS: dict[str, tuple[Callable[..., Block], str, dict[str, _Reader]]] = {
    "say": (Say, "text", {"pieces": _PIECES, "citations": _many(_of(dict))}),
    "think": (Think, "text", {"signature": _TEXT_OR_NULL, "pieces": _PIECES}),
    "redacted_think": (RedactedThink, "data", {}),
    "call": (
        Call,
        "name",
        {"input": _of(dict), "id": _TEXT, "raw": _TEXT, "pieces": _PIECES},
    ),
    "foreign": (Foreign, "data", {}),
}
_OWN: dict[str, _Reader] = {"foreign": _of(dict)}
"""What stands under a block's kind, where it is not text."""

_USAGE: dict[str, _Reader] = dict.fromkeys(
    ("input", "output", "cache_read", "cache_write", "reasoning"), _COUNT
)

_FAULT: dict[str, _Reader] = {
    "status": _COUNT,
    "headers": _named(_TEXT),
    "body": _of(str, dict),
    "cut_after": _COUNT,
    "error_after": _COUNT,
    "error_type": _TEXT,
    "error_message": _TEXT,
    "stall_after": _COUNT,
    "drip_after": _COUNT,
    "garbage_after": _COUNT,
    "reset": _of(bool),
    "no_stop": _of(bool),
    "raw": _read_bytes,
    "preface": _read_bytes,
    "edits": _many(_read_edit),
    "framing": _one_of(*get_args(Framing)),
    "split": _COUNT,
    "reset_after": _COUNT,
}

_REPLY: dict[str, _Reader] = {
    "blocks": _many(_read_block),
    "stop": _TEXT,
    "usage": _read_usage,
    "delay": _SECONDS,
    "gap": _SECONDS,
    "tail": _SECONDS,
    "fault": _read_fault,
    "headers": _named(_TEXT),
    "model": _TEXT,
    "quirks": _read_quirks,
    "stop_details": _of(dict),
}

_SCRIPT: dict[str, _Reader] = {
    "replies": _many(_read_reply),
    "scenarios": _named(_many(_read_reply)),
    "pick": _one_of(*get_args(Pick)),
    "after": _one_of(*get_args(After)),
}
