"""`hooks` in a settings file: {event: [{matcher, hooks: [{type, command, …}]}]}.

Whatever is wrong is named with its file and place: a hook that is silently not there is a guard
that is silently not there.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from detent.gate.hooks.entry import HookEntry
from detent.gate.hooks.kinds import KINDS
from detent.gate.hooks.matching import fault_in
from detent.types.errors import BadInput

ELSEWHERE = ("http", "prompt", "agent", "mcp_tool")
"""Kinds that other programs know; they are named in a notice and not run."""
REMARKS = frozenset({"$comment", "description"})
OF_A_GROUP = frozenset({"matcher", "if", "hooks"}) | REMARKS
OF_A_COMMAND = REMARKS | frozenset(
    {"type", "command", "args", "if", "timeout", "failClosed", "fail_closed", "async",
     "statusMessage"}
)  # fmt: skip


def declared_hooks(values: Mapping[str, Any], name: str) -> tuple[HookEntry, ...]:
    """All that the settings in the file of this name declare, in their order."""
    table = values.get("hooks") or {}
    if not isinstance(table, dict):
        raise BadInput(f"{name}: hooks must be an object of events")
    return tuple(
        entry
        for event, groups in table.items()
        for number, group in enumerate(_list(groups, f"{name}: hooks.{event}"))
        for entry in _group(event, group, f"{name}: hooks.{event}[{number}]", name)
    )


def not_run(entries: tuple[HookEntry, ...]) -> list[str]:
    """A line for each that never will be, here."""
    notes = []
    for entry in entries:
        if entry.kind != "command":
            notes.append(f"{entry.origin}: a {entry.event} hook of type {entry.kind} is not run")
        elif entry.event not in KINDS:
            notes.append(f"{entry.origin}: hooks for {entry.event} are never called")
    return notes


def unread_keys(values: Mapping[str, Any], name: str) -> list[str]:
    """A line for each key that says nothing, of hooks that can be read."""
    return [
        note
        for event, groups in (values.get("hooks") or {}).items()
        for number, group in enumerate(groups)
        for note in _unread_in(group, f"{name}: hooks.{event}[{number}]")
    ]


def _unread_in(group: Mapping[str, Any], place: str) -> Iterator[str]:
    yield from _unread(group, OF_A_GROUP, place)
    for number, handler in enumerate(group["hooks"]):
        if handler["type"] == "command":
            yield from _unread(handler, OF_A_COMMAND, f"{place}.hooks[{number}]")


def _unread(table: Mapping[str, Any], known: frozenset[str], place: str) -> Iterator[str]:
    for key in sorted(table.keys() - known):
        from difflib import get_close_matches

        near = get_close_matches(key, known, 1)
        hint = f"; did you mean {near[0]}?" if near else ""
        yield f"{place}: {key} is not known, and does nothing{hint}"


def _group(event: str, group: Any, place: str, name: str) -> list[HookEntry]:
    """Its `if` is that of all its hooks."""
    if not isinstance(group, dict):
        raise BadInput(f"{place} must be an object with a list of hooks")
    rule = _rule(group, event, place)
    matcher = _text(group, "matcher", place)
    if fault := fault_in(matcher):
        raise BadInput(f"{place}: {fault}")
    handlers = _list(group.get("hooks"), f"{place}.hooks")
    return [
        _entry(event, matcher, _with_rule(handler, rule, place), f"{place}.hooks[{number}]", name)
        for number, handler in enumerate(handlers)
    ]


def _with_rule(handler: Any, rule: str, place: str) -> Any:
    if not rule or not isinstance(handler, dict):
        return handler
    if handler.get("if"):
        raise BadInput(f"{place}: `if` stands both here and in one of its hooks; keep one")
    return {**handler, "if": rule}


def _entry(event: str, matcher: str, handler: Any, place: str, name: str) -> HookEntry:
    if not isinstance(handler, dict):
        raise BadInput(f"{place} must be an object with a type and a command")
    kind = _text(handler, "type", place)
    if kind in ELSEWHERE:
        return HookEntry(event, kind=kind, origin=name)
    if kind != "command":
        raise BadInput(f"{place}: type is command, not {kind!r}")
    command = _text(handler, "command", place)
    if not command.strip():
        raise BadInput(f"{place} needs a command")
    return HookEntry(
        event,
        command,
        _words(handler, place),
        matcher,
        _rule(handler, event, place),
        _seconds(handler, place),
        fail_closed=_switch(handler, place, "failClosed", "fail_closed"),
        beside=_switch(handler, place, "async"),
        label=_text(handler, "statusMessage", place),
        origin=name,
    )


def _rule(handler: Mapping[str, Any], event: str, place: str) -> str:
    rule = _text(handler, "if", place)
    if not rule:
        return ""
    if event in KINDS and not KINDS[event].about_calls:
        raise BadInput(f"{place}: `if` is for hooks about calls, and {event} is none")
    from detent.gate.rules import parse_rule

    try:
        parse_rule(rule, lambda tool: tool)
    except BadInput as error:
        raise BadInput(f"{place}: if: {error}") from None
    return rule


def _words(handler: Mapping[str, Any], place: str) -> tuple[str, ...] | None:
    words = handler.get("args")
    if words is None:
        return None
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise BadInput(f"{place}: args must be a list of strings")
    return tuple(words)


def _seconds(handler: Mapping[str, Any], place: str) -> float | None:
    seconds = handler.get("timeout")
    if seconds is None:
        return None
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or seconds <= 0:
        raise BadInput(f"{place}: timeout is a number of seconds greater than 0")
    return float(seconds)


def _switch(handler: Mapping[str, Any], place: str, *keys: str) -> bool:
    for key in keys:
        value = handler.get(key, False)
        if not isinstance(value, bool):
            raise BadInput(f"{place}: {key} is true or false")
        if value:
            return True
    return False


def _text(table: Mapping[str, Any], key: str, place: str) -> str:
    value = table.get(key) or ""
    if not isinstance(value, str):
        raise BadInput(f"{place}: {key} must be a string")
    return value


def _list(value: Any, place: str) -> list[Any]:
    if not isinstance(value, list):
        raise BadInput(f"{place} must be a list")
    return value
