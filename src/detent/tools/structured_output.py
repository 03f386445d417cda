"""StructuredOutput: the final answer as a value of the schema that the user gave."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from detent.ports import BadArguments, Desk, Tool, Toolbox
from detent.tools.schemas import Checker
from detent.types.codec import decode_any, encode
from detent.types.effects import Effect
from detent.types.messages import ToolSpec
from detent.types.outcomes import Outcome, done

NAME = "StructuredOutput"
KEY = "value"
"""Arguments are always an object: a value of any other kind is put into one under this key."""
AT_TOP = ("oneOf", "anyOf", "allOf", "not", "$ref", "if")
"""Providers refuse these at the top of a tool's schema."""
SHARED = ("$defs", "definitions")


class StructuredOutput:
    timeout: float | None = None

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._wraps = schema.get("type") != "object" or any(key in schema for key in AT_TOP)
        self._checker = Checker(schema)
        offered = wrapped(schema) if self._wraps else schema
        self.spec = ToolSpec(NAME, _description(), msgspec.Raw(encode(offered)))

    def parse(self, arguments: str) -> Any:
        try:
            given = decode_any(arguments) if arguments.strip() else {}
        except (ValueError, RecursionError) as error:
            raise BadArguments(f"{NAME}: the arguments are not valid JSON ({error}).") from None
        if self._wraps:
            if not isinstance(given, dict) or set(given) != {KEY}:
                raise BadArguments(f'{NAME}: send {{"{KEY}": …}} with the answer in it.')
            given = given[KEY]
        if faults := self._checker.faults(given):
            raise BadArguments(f"{NAME}: the answer does not fit the schema.\n{faults}")
        return given

    def effects(self, args: Any, cwd: str) -> tuple[Effect, ...]:
        return ()

    def moves(self, args: Any) -> bool:
        return False

    async def run(self, args: Any, desk: Desk) -> Outcome:
        return done("The answer was accepted.", {"structured_output": args})


class Beside:
    """A toolbox, and one tool more that wins over any of the same name."""

    def __init__(self, toolbox: Toolbox, tool: Tool) -> None:
        self._toolbox = toolbox
        self._tool = tool

    def specs(self) -> Sequence[ToolSpec]:
        mine = self._tool.spec
        return (*(spec for spec in self._toolbox.specs() if spec.name != mine.name), mine)

    def find(self, name: str) -> Tool | None:
        return self._tool if name == self._tool.spec.name else self._toolbox.find(name)


def wrapped(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of an object that holds the value; what others refer to stays where they look."""
    inner = {key: part for key, part in schema.items() if key not in (*SHARED, "$schema")}
    shared = {key: _moved(schema[key]) for key in SHARED if key in schema}
    return {
        "type": "object",
        "properties": {KEY: _moved(inner)},
        "required": [KEY],
        "additionalProperties": False,
        **shared,
    }


def _moved(part: Any) -> Any:
    """References to the old root, or into it, follow it to its new place."""
    if isinstance(part, list):
        return [_moved(item) for item in part]
    if not isinstance(part, dict):
        return part
    return {
        name: _reference(value) if name == "$ref" and isinstance(value, str) else _moved(value)
        for name, value in part.items()
    }


def _reference(target: str) -> str:
    stays = not target.startswith("#") or target.startswith(tuple(f"#/{key}/" for key in SHARED))
    return target if stays else f"#/properties/{KEY}{target[1:]}"


def _description() -> str:
    with open(os.path.splitext(__file__)[0] + ".md", encoding="utf-8") as file:
        return file.read().strip()
