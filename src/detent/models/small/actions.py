"""Six tools in a notation short enough for a small model, and its way to the real ones and back."""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from detent.types.codec import encode

Fields = dict[str, Any]

LINES_READ = 150
MATCHES = 40


class Action(Struct, frozen=True):
    short: str
    tool: str
    fields: tuple[tuple[str, str], ...]
    """Short name and the real tool's name of each argument."""
    always: tuple[tuple[str, Any], ...] = ()
    """Arguments the small model need not think of."""


ACTIONS = (
    Action("run", "Bash", (("command", "command"),)),
    Action("read", "Read", (("path", "file_path"),), (("limit", LINES_READ),)),
    Action("find", "Glob", (("pattern", "pattern"),)),
    Action(
        "search",
        "Grep",
        (("pattern", "pattern"),),
        (("output_mode", "content"), ("head_limit", MATCHES)),
    ),
    Action("write", "Write", (("path", "file_path"), ("content", "content"))),
    Action("edit", "Edit", (("path", "file_path"),)),
)
"""`edit` names only the file: what to change is asked for in a step of its own."""
ANSWER = "answer"
HAND_OVER = "StructuredOutput"
"""The tool that takes the last word where it must be data of a schema the user gave."""

_BY_SHORT = {action.short: action for action in ACTIONS}
_BY_TOOL = {action.tool: action for action in ACTIONS}


def menu(tools: Iterable[str]) -> list[str]:
    """The actions that the offered tools allow."""
    offered = set(tools)
    return [action.short for action in ACTIONS if action.tool in offered]


def form(
    shorts: Sequence[str], editable: Sequence[str], value: msgspec.Raw | None = None
) -> msgspec.Raw:
    """The schema of one answer: exactly one of these actions; the last word may have to be data."""
    options = [_option(short, editable) for short in shorts if short not in ("edit", ANSWER)]
    if "edit" in shorts and editable:
        options.append(_option("edit", editable))
    if ANSWER in shorts:
        last: Fields = {"text": {"type": "string"}} if value is None else {"value": value}
        options.append(form_object({"tool": {"const": ANSWER}, **last}))
    return msgspec.Raw(encode(options[0] if len(options) == 1 else {"oneOf": options}))


def _option(short: str, editable: Sequence[str]) -> Fields:
    fields: Fields = {"tool": {"const": short}}
    for name, _ in _BY_SHORT[short].fields:
        fields[name] = {"type": "string"}
    if short == "edit":
        fields["path"] = {"enum": list(editable)}
    return form_object(fields)


def form_object(fields: Fields) -> Fields:
    return {
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }


def is_action(said: Fields, offered: Sequence[str], editable: Sequence[str]) -> bool:
    """Not every server holds a model to the form."""
    short = said.get("tool")
    if short not in offered:
        return False
    if short == ANSWER and isinstance(said.get("value"), dict):
        return True
    names = ["text"] if short == ANSWER else [name for name, _ in _BY_SHORT[str(short)].fields]
    whole = all(isinstance(said.get(name), str) for name in names)
    return whole and (short != "edit" or said["path"] in editable)


def as_call(said: Fields) -> tuple[str, Fields]:
    """The real tool and its arguments."""
    action = _BY_SHORT[said["tool"]]
    given = {real: said[short] for short, real in action.fields if short in said}
    return action.tool, {**given, **dict(action.always)}


def as_action(tool: str, arguments: Fields) -> Fields:
    """A call as the small model would have written it; also one that another model made."""
    action = _BY_TOOL.get(tool)
    if action is None:
        return {"tool": tool, **arguments}
    short = {short: arguments[real] for short, real in action.fields if real in arguments}
    return {"tool": action.short, **short}
