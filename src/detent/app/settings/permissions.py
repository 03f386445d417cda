"""The permissions of one source: rules that know where they stand, mode, folders."""

from collections.abc import Callable, Iterator
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from detent.app.settings.record import Settings, Source
from detent.app.settings.values import Values, switch, table, text, texts
from detent.gate.terms import Origin, Rule, parse_mode
from detent.types.errors import BadInput

FOR_THE_USER_ALONE = ("bypassPermissions", "auto")
"""Modes that no project sets: trust is for its rules, not for doing without the question."""


class Permissions(Struct, frozen=True):
    allow: tuple[Rule, ...] = ()
    ask: tuple[Rule, ...] = ()
    deny: tuple[Rule, ...] = ()
    directories: tuple[str, ...] = ()
    mode: str = ""
    no_bypass: bool = False
    notices: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()


def permissions_of(source: Source, old: Settings) -> Permissions:
    given = table(source.values, "permissions", source.path)
    if not given:
        return Permissions(no_bypass=old.no_bypass)
    notices: list[str] = []
    hints: list[str] = []
    lines = _line_finder(source)
    lists = {key: _rules(given, key, source, lines, notices) for key in ("allow", "ask", "deny")}
    for key, rules in lists.items():
        # A restriction that meets no call is a guard that is not there.
        (hints if key == "allow" else notices).extend(_remarks(rules, key))
    if old.managed_rules_only and source.name != "managed" and lists["allow"]:
        notices.append(f"{source.path}: its allow rules are ignored; managed settings say so")
        lists["allow"] = ()
    mode = _mode(given, source.path)
    if source.is_project and mode in FOR_THE_USER_ALONE:
        notices.append(f"{source.path}: mode {mode} is ignored; only you can set it")
        mode = ""
    directories = texts(
        given, "additionalDirectories", source.path, "permissions.additionalDirectories"
    )
    return Permissions(
        **lists,
        directories=directories,
        mode=mode,
        no_bypass=old.no_bypass or _forbids_bypass(given, source),
        notices=tuple(notices),
        hints=tuple(hints),
    )


def _mode(permissions: Values, name: str) -> str:
    mode = text(permissions, "defaultMode", name)
    try:
        return parse_mode(mode) if mode else ""
    except BadInput as error:
        raise BadInput(f"{name}: permissions.defaultMode: {error}") from None


def _forbids_bypass(permissions: Values, source: Source) -> bool:
    """Of the user's own or managed settings. The ecosystem writes "disable"."""
    key = "disableBypassPermissionsMode"
    if source.is_project or key not in permissions:
        return False
    if isinstance(permissions[key], str):
        return bool(permissions[key] == "disable")
    return switch(permissions, key, source.path, False)


def _rules(
    permissions: Values,
    key: Literal["allow", "ask", "deny"],
    source: Source,
    line_of: Callable[[str, int], int],
    notices: list[str],
) -> tuple[Rule, ...]:
    """An allow rule that cannot be read permits nothing, and that is said. A deny or ask rule may
    not go missing: going on without it would widen, so it stops the start."""
    given = permissions.get(key, [])
    if not isinstance(given, list):
        raise BadInput(f"{source.path}: permissions.{key} must be a list of strings")
    rules: list[Rule] = []
    for index, entry in enumerate(given):
        line = line_of(key, index)
        try:
            rules.append(_rule(entry, key, Origin(source.name, source.path, line, source.folder)))
        except BadInput as error:
            where = f"{source.path}:{line}" if line else source.path
            if key != "allow":
                raise BadInput(f"{where}: {error}") from None
            notices.append(f"{where}: {error}; the entry is ignored")
    return tuple(rules)


def _rule(entry: Any, key: str, origin: Origin) -> Rule:
    from detent.gate.rules import parse_rule
    from detent.tools.registry import canonical_name

    if not isinstance(entry, str):
        raise BadInput(f"permissions.{key} must be a list of strings")
    try:
        return replace(parse_rule(entry, canonical_name), origin=origin)
    except BadInput as error:
        raise BadInput(f"permissions.{key}: {error}") from None


def _line_finder(source: Source) -> Callable[[str, int], int]:
    """Looks through the text once, and only for a file that has rules."""
    if not source.text:
        return lambda key, index: 0
    from detent.app.settings.positions import Positions

    positions = Positions(source.text)
    return lambda key, index: positions.line(("permissions", key), index)


def _remarks(rules: tuple[Rule, ...], key: str) -> Iterator[str]:
    """What is odd about rules that are valid."""
    if not rules:
        return
    from detent.app.unheard import unheard
    from detent.gate.rules import is_ignored_in_allow

    for rule in rules:
        remarks = unheard([rule.text], ())
        if key == "allow" and (why := is_ignored_in_allow(rule)):
            remarks.append(f"the rule {rule.text} has no effect: {why}")
        where = f"{rule.origin.path}:{rule.origin.line}" if rule.origin.line else rule.origin.path
        yield from (f"{where}: {remark}" for remark in remarks)
