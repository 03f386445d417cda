"""A command from what its file says. Whatever is wrong is named, with the file and the field. A bad
value does not count; where the turn would be held back less for that, the command is left out."""

from collections.abc import Mapping
from typing import Any

from detent.app.agents.kinds.reading import EFFORTS, INHERITED, LONGEST_DESCRIPTION, Fields
from detent.app.commands.record import CustomCommand, Level, TurnWishes
from detent.context.bounds import in_one_line
from detent.gate.rules import parse_rule
from detent.tools.registry import canonical_name
from detent.types.errors import BadInput

LONGEST_HINT = 200
LONGEST_NAME = 64
HOLDING_BACK = "disallowed-tools"
UNHEEDED = ("hooks", "context", "agent", "background", "shell")
"""Fields that other programs know, and that do nothing here."""


class _Fields(Fields):
    def hopeless(self, name: str, why: str) -> None:
        if name != HOLDING_BACK:
            self.wrong(name, f"{why}: it does not count")
            return
        self.is_usable = False
        self.wrong(name, f"{why}: the command is left out")


def read_command(
    values: Mapping[str, Any], *, name: str, folder: str, body: str, level: Level, path: str
) -> tuple[CustomCommand | None, list[str]]:
    """None for one that cannot be used."""
    fields = _Fields(values, path)
    if not _is_name(name) or (folder and not all(map(_is_name, folder.split(":")))):
        return None, [f"{path} is left out: its name cannot be typed as a command"]
    model = fields.text("model")
    description = fields.text("description") or _first_line(body)
    command = CustomCommand(
        name=name,
        description=in_one_line(description, LONGEST_DESCRIPTION),
        argument_hint=in_one_line(_hint(fields), LONGEST_HINT),
        path=path,
        level=level,
        folder=folder,
        arguments=_arguments(fields),
        wishes=TurnWishes(
            allowed=_rules(fields, "allowed-tools"),
            denied=_rules(fields, HOLDING_BACK),
            model="" if model.lower() in INHERITED else model,
            effort=fields.one_of("effort", EFFORTS),
        ),
        body=body.strip("\n"),
        for_people=fields.raw("user-invocable") is not False,
        for_models=not fields.switch("disable-model-invocation"),
    )
    if unheeded := [field for field in UNHEEDED if fields.raw(field) is not None]:
        fields.faults.append(f"{path}: {', '.join(unheeded)} in a command does nothing here")
    return command if fields.is_usable else None, fields.faults


def _is_name(name: str) -> bool:
    if not 0 < len(name) <= LONGEST_NAME or not name.isprintable():
        return False
    return not any(char.isspace() or char in ":/" for char in name)


def _first_line(body: str) -> str:
    lines = (line.strip(" \t#") for line in body.split("\n"))
    return next(filter(None, lines), "")


def _hint(fields: Fields) -> str:
    """People write `[file]`, which reads as a list."""
    value = fields.raw("argument-hint")
    if isinstance(value, list):
        return " ".join(f"[{one}]" for one in value)
    return "" if value is None else str(value).strip()


def _arguments(fields: Fields) -> tuple[str, ...]:
    names = fields.names("arguments") or ()
    if wrong := [name for name in names if not name.isidentifier()]:
        fields.wrong("arguments", f"must be names such as `file`, not {wrong[0][:80]!r}")
    return names


def _rules(fields: Fields, name: str) -> tuple[str, ...]:
    found: list[str] = []
    for rule in fields.names(name) or ():
        try:
            parse_rule(rule, canonical_name)
        except BadInput as error:
            fields.hopeless(name, f"cannot be kept to: {error}")
        else:
            found.append(rule)
    return tuple(found)
