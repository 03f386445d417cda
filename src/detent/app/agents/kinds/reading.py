"""An agent from what a file or a JSON object says of it. Whatever is wrong is named, with the file
and the field. For a bad value the usual one counts; where that would allow more than was meant,
the agent is left out."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from detent.app.agents.kinds.record import AgentKind, Source
from detent.context.bounds import in_one_line
from detent.gate.rules import READING, parse_rule
from detent.gate.terms import parse_mode
from detent.tools.registry import canonical_name
from detent.types.errors import BadInput

EFFORTS = ("low", "medium", "high", "xhigh", "max")
LONGEST_NAME = 64
LONGEST_DESCRIPTION = 1_536
INHERITED = ("", "inherit", "default")
LIMITS = ("tools", "disallowedtools", "permissionmode", "hooks")
"""Fields without which an agent may do more, in plain spelling."""


class Fields:
    """The values by name, however that is written: `maxTurns`, `max_turns`, `max-turns`."""

    def __init__(self, values: Mapping[str, Any], place: str) -> None:
        self._values = {_plain(key): (key, value) for key, value in values.items()}
        self._place = place
        self.faults: list[str] = []
        self.is_usable = True

    def raw(self, name: str) -> Any:
        return self._values.get(_plain(name), ("", None))[1]

    def wrong(self, name: str, why: str) -> None:
        written = self._values.get(_plain(name), (name,))[0]
        self.faults.append(f"{self._place}: {written} {why}")

    def hopeless(self, name: str, why: str) -> None:
        self.is_usable = False
        self.wrong(name, f"{why}: the agent is left out")

    def name(self) -> str:
        """It may be a number."""
        value = self.raw("name")
        is_number = isinstance(value, int) and not isinstance(value, bool)
        return str(value) if is_number else self.text("name")

    def text(self, name: str) -> str:
        value = self.raw(name)
        if value is not None and not isinstance(value, str):
            self.wrong(name, "must be text")
            return ""
        return (value or "").strip()

    def one_of(self, name: str, allowed: tuple[str, ...]) -> Any:
        value = self.text(name)
        if value and value not in allowed:
            self.wrong(name, f"is one of {', '.join(allowed)}, not {value[:80]!r}")
            return ""
        return value

    def count(self, name: str) -> int:
        value = self.raw(name)
        if value is None:
            return 0
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            self.wrong(name, "must be a whole number from 1 on")
            return 0
        return value

    def switch(self, name: str) -> bool:
        value = self.raw(name)
        if value is not None and not isinstance(value, bool):
            self.wrong(name, "must be true or false")
            return False
        return bool(value)

    def names(self, name: str) -> tuple[str, ...] | None:
        """A list, or one text with commas or blanks between; None where nothing is said."""
        value = self.raw(name)
        if value is None:
            return None
        given = [value] if isinstance(value, str) else value
        if not isinstance(given, list) or not all(isinstance(item, str) for item in given):
            self.hopeless(name, "must be names, as a list or with commas")
            return None
        found = tuple(dict.fromkeys(part for text in given for part in _parts(text)))
        if any(char in part.partition("(")[0] for part in found for char in "[]{}"):
            self.hopeless(name, "has a bracket that is not closed")
        return found

    def hooks(self) -> Mapping[str, Any]:
        """Guards, perhaps: without them it is not what was meant."""
        value = self.raw("hooks")
        if value is not None and not isinstance(value, dict):
            self.hopeless("hooks", "must be a table")
            return {}
        return value or {}


def read_kind(
    values: Mapping[str, Any], *, name: str, prompt: str | None, source: Source, path: str
) -> tuple[AgentKind | None, list[str]]:
    """`name` is what it is called where it does not say so itself; `prompt` is None where it is one
    of the values. None for one that cannot be used."""
    fields = Fields(values, path if prompt is not None else f"{path}: {name}")
    name = (fields.name() if prompt is not None else "") or name
    if not is_name(name):
        wanted = f"1 to {LONGEST_NAME} characters without any of ()[]{{}},:* and line ends"
        fields.hopeless("name", f"must be {wanted}, not {name[:80]!r}")
    description = in_one_line(fields.text("description"), LONGEST_DESCRIPTION)
    if not description:
        fields.hopeless("description", "must say when to use it")
    tools, only, may_start = _tools(fields)
    model = fields.text("model")
    kind = AgentKind(
        name=name,
        description=description,
        prompt=fields.text("prompt") if prompt is None else prompt.strip(),
        tools=tools,
        only=only,
        disallowed_tools=_denied(fields),
        may_start=may_start,
        model="" if model.lower() in INHERITED else model,
        mode=_mode(fields),
        max_turns=fields.count("maxTurns"),
        effort=fields.one_of("effort", EFFORTS),
        background=fields.switch("background"),
        isolation=fields.one_of("isolation", ("worktree",)),
        color=fields.text("color"),
        initial_prompt=fields.text("initialPrompt"),
        skills=fields.names("skills") or (),
        mcp_servers=_servers(fields),
        memory=fields.one_of("memory", ("user", "project", "local")),
        hooks=fields.hooks(),
        source=source,
        path=path,
    )
    return kind if fields.is_usable else None, fields.faults


def lost_limit(head: Sequence[str], values: Mapping[str, Any], *, is_whole: bool) -> str:
    """The field that holds the agent back, but perhaps not as its file says: because something in
    the head could not be read, or because its own line was read as part of another (`tools:Read`,
    or one that stands further in than it should). Empty: none."""
    known = {_plain(key) for key in values}
    limits = (name for name in _keys(head) if _plain(name) in LIMITS)
    return next((name for name in limits if not is_whole or _plain(name) not in known), "")


def _keys(head: Sequence[str]) -> Iterator[str]:
    """What looks like a key, also in the lines of a text without quotes, where it is none."""
    in_text = False
    for line in head:
        key, colon, value = line.partition(":")
        is_inside = line.startswith(("  ", "\t"))
        if colon and (in_text or not is_inside):
            yield key.strip(" \t\"'")
        if not is_inside and line.strip():
            in_text = bool(value.strip()) and value.strip()[0] not in "|>\"'[{#"


def is_name(name: str) -> bool:
    """What can stand in a rule, `Agent(name)`, and in one line."""
    if not 0 < len(name) <= LONGEST_NAME or not name.isprintable():
        return False
    return not any(char in "()[]{},:*" for char in name) and name == name.strip()


Tools = tuple[tuple[str, ...] | None, tuple[str, ...], tuple[str, ...] | None]


def _tools(fields: Fields) -> Tools:
    """Their real names; of which it has only a part; and which kinds of agents it may start, where
    it says so."""
    given = fields.names("tools")
    if given is None or "*" in given:
        return None, (), None
    found, only, may_start = dict[str, bool](), dict[str, str](), None
    for entry in given:
        name, bracket, inside = entry.partition("(")
        name = canonical_name(name.strip())
        found[name] = found.get(name, False) or not bracket
        if bracket and name == "Agent":
            may_start = (*(may_start or ()), *_parts(inside.removesuffix(")")))
        elif bracket:
            only[entry] = name
            _check_part(fields, entry, name)
    return tuple(found), tuple(entry for entry, name in only.items() if not found[name]), may_start


def _check_part(fields: Fields, entry: str, name: str) -> None:
    """What reads freely anyway is not held to a part by this."""
    try:
        parse_rule(entry, canonical_name)
    except BadInput as error:
        fields.hopeless("tools", f"cannot be kept to: {error}")
        return
    if name in READING:
        why = f"names {entry[:80]}: {name} cannot be had in part (disallowedTools can forbid some)"
        fields.hopeless("tools", why)


def _mode(fields: Fields) -> str:
    given = fields.raw("permissionMode")
    if given in (None, ""):
        return ""
    try:
        return parse_mode(str(given).strip())
    except BadInput as error:
        fields.hopeless("permissionMode", f"cannot be kept to: {error}")
        return ""


def _denied(fields: Fields) -> tuple[str, ...]:
    rules = fields.names("disallowedTools") or ()
    for rule in rules:
        try:
            parse_rule(rule, canonical_name)
        except BadInput as error:
            fields.hopeless("disallowedTools", f"cannot be kept to: {error}")
    return rules


def _servers(fields: Fields) -> tuple[Any, ...]:
    """A list of names and tables, names with commas, or one table of all."""
    value = fields.raw("mcpServers")
    if value is None:
        return ()
    if isinstance(value, str):
        return tuple(_parts(value))
    if isinstance(value, dict):
        return tuple({name: server} for name, server in value.items())
    if not isinstance(value, list) or not all(isinstance(one, str | dict) for one in value):
        fields.wrong("mcpServers", "must be a list of names or tables")
        return ()
    return tuple(value)


def _parts(text: str) -> Iterator[str]:
    """At commas and blanks that do not stand in parentheses."""
    depth, part = 0, ""
    for char in text:
        depth += (char == "(") - (char == ")")
        if depth > 0 or not (char == "," or char.isspace()):
            part += char
        elif part:
            yield part
            part = ""
    if part:
        yield part


def _plain(key: str) -> str:
    return key.replace("_", "").replace("-", "").casefold()
