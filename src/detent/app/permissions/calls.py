"""A call as people write it, and as the gate gets to see it."""

import os
import re
from collections.abc import Mapping
from typing import Any

from detent.gate.rules import READING
from detent.loop.places import with_places
from detent.ports import BadArguments, Proposal, Tool
from detent.tools.paths import absolute
from detent.tools.registry import Registry, canonical_name, catalogue
from detent.types.codec import decode_any, decode_object, encode
from detent.types.content import Call
from detent.types.effects import Connects, Effect, Reads, Writes
from detent.types.errors import BadInput

MAIN_FIELD = {
    "Bash": "command",
    "Read": "file_path",
    "Edit": "file_path",
    "Write": "file_path",
    "NotebookEdit": "notebook_path",
    "Grep": "path",
    "Glob": "path",
    "LSP": "file_path",
    "WebFetch": "url",
    "WebSearch": "query",
}
"""What stands between the parentheses when it is no object."""

_CALL = re.compile(r"([A-Za-z_][\w.\-]*)(?:\((.*)\))?", re.DOTALL)
_EXAMPLES: dict[str, Any] = {
    "integer": 1, "number": 1, "boolean": False, "array": [], "object": {},
}  # fmt: skip


class NotTaken(Exception):
    """The tool refuses such arguments: the call never comes before the gate."""


def read_call(text: str) -> tuple[str, dict[str, Any]]:
    """`Bash(git push)`, `Read(a.txt)`, `WebFetch(https://…)`, or an object for any tool."""
    match = _CALL.fullmatch(text.strip())
    if match is None:
        raise BadInput(f"not a call: {text!r} (write TOOL(INPUT), for example 'Bash(git push)')")
    return canonical_name(match[1]), read_input(canonical_name(match[1]), match[2] or "")


def read_input(tool: str, text: str) -> dict[str, Any]:
    if text.lstrip().startswith("{") and (tool != "Bash" or _is_object(text)):
        return decode_object(text, f"the input of {tool}")
    if tool in MAIN_FIELD and text:
        return {MAIN_FIELD[tool]: text}
    if text.strip():
        raise BadInput(f"the input of {tool} must be a JSON object, not {text!r}{_meant(tool)}")
    if tool in MAIN_FIELD and tool not in ("Grep", "Glob"):  # which may search the whole folder
        raise BadInput(f"{tool} needs an input: write {tool}({MAIN_FIELD[tool].upper()})")
    return {}


def _meant(tool: str) -> str:
    if tool in catalogue():
        return ""
    from difflib import get_close_matches

    close = get_close_matches(tool, MAIN_FIELD, 1)
    return f"; did you mean {close[0]}?" if close else ""


def _is_object(text: str) -> bool:
    """A group of commands begins with a brace, too."""
    try:
        return isinstance(decode_any(text), dict)
    except ValueError:
        return False


class Proposer:
    """Makes proposals as a session does: a tool says what it would touch, and nothing is run."""

    def __init__(self) -> None:
        self._tools = Registry()

    def knows(self, name: str) -> bool:
        return self._tools.find(name) is not None

    def propose(
        self, name: str, given: dict[str, Any], cwd: str, effects: tuple[Effect, ...] = ()
    ) -> Proposal:
        """`effects` are those of a tool that is not ours. Raises NotTaken."""
        tool = self._tools.find(name)
        if tool is None:
            own = effects or _foreign(name, given, cwd)
        else:
            name = tool.spec.name
            own = _effects(tool, given, cwd)
        places = {
            effect.path: os.path.realpath(os.path.join(cwd, effect.path))
            for effect in own
            if isinstance(effect, Reads | Writes)
        }
        call = Call("", name, encode(given).decode())
        return Proposal(call, name, given, with_places(own, places), cwd, places)


def _foreign(name: str, given: dict[str, Any], cwd: str) -> tuple[Effect, ...]:
    """A tool that is not ours may do anything, unless its name says that it only reads."""
    if name not in READING:
        return (Connects("*"),)
    place = next(
        (given[key] for key in ("file_path", "path") if isinstance(given.get(key), str)), "."
    )
    return (Reads(absolute(place, cwd)),)


def _effects(tool: Tool, given: dict[str, Any], cwd: str) -> tuple[Effect, ...]:
    try:
        return tool.effects(_parsed(tool, given), cwd)
    except NotTaken:
        if tool.spec.name == "WebFetch" and isinstance(given.get("url"), str):
            return ()  # the gate itself reads an address that nobody would dial
        raise


def _parsed(tool: Tool, given: dict[str, Any]) -> Any:
    """What decides nothing may be left out: an Edit is judged by its path."""
    try:
        return tool.parse(encode(given).decode())
    except BadArguments as first:
        shape = decode_any(bytes(tool.spec.schema))
        main = MAIN_FIELD.get(tool.spec.name, "")
        missing = [name for name in shape.get("required", ()) if name not in given]
        if not missing or main in missing:
            raise NotTaken(str(first)) from None
    filled = {name: _example(name, shape["properties"][name]) for name in missing}
    try:
        return tool.parse(encode({**given, **filled}).decode())
    except BadArguments as error:
        raise NotTaken(str(error)) from None


def _example(name: str, shape: Mapping[str, Any]) -> Any:
    """The name itself for a text: two of them differ, as an edit wants it."""
    if shape.get("enum"):
        return shape["enum"][0]
    return _EXAMPLES.get(shape.get("type", ""), name)
