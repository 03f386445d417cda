"""What all built-in tools share: typed arguments, and messages a model can act on."""

from typing import Any, ClassVar, Generic, TypeVar

import msgspec

from detent.ports import BadArguments, Desk
from detent.types.effects import Effect
from detent.types.messages import ToolSpec
from detent.types.outcomes import Failed, Outcome

A = TypeVar("A", bound=msgspec.Struct)

UNADVERTISED = msgspec.Meta(extra_json_schema={"unadvertised": True})
"""Marks an argument that is accepted but left out of the schema that models see."""


class TypedTool(Generic[A]):
    """A tool whose arguments are a struct. A subclass declares the data and writes `act`."""

    name: ClassVar[str]
    aliases: ClassVar[tuple[str, ...]] = ()
    renames: ClassVar[tuple[tuple[str, str], ...]] = ()
    """Argument names that other programs taught the models, and ours for them."""
    timeout: float | None = 60.0
    args: type[A]

    def __init__(self, spec: ToolSpec) -> None:
        self.spec = spec

    def parse(self, arguments: str) -> A:
        try:
            given = msgspec.json.decode(arguments) if arguments.strip() else {}
        except msgspec.DecodeError as error:
            raise self._bad(f"the arguments are not valid JSON ({error}).") from None
        if not isinstance(given, dict):
            raise self._bad("the arguments must be one JSON object.")
        try:
            # Not strict: some models write numbers and booleans as strings.
            return msgspec.convert(self.adapt(given), self.args, strict=False)
        except msgspec.ValidationError as error:
            raise self._bad(_explained(str(error))) from None

    def adapt(self, given: dict[str, Any]) -> dict[str, Any]:
        """Renames, and drops nulls: many models write null for "not given"."""
        adapted = {name: value for name, value in given.items() if value is not None}
        for theirs, ours in self.renames:
            if theirs in adapted and ours not in adapted:
                adapted[ours] = adapted.pop(theirs)
        return adapted

    def effects(self, args: A, cwd: str) -> tuple[Effect, ...]:
        raise NotImplementedError

    def moves(self, args: A) -> bool:
        return False

    async def run(self, args: A, desk: Desk) -> Outcome:
        try:
            return await self.act(args, desk)
        except (OSError, UnicodeError) as error:
            return Failed(f"{self.name}: {_said(error)}")

    async def act(self, args: A, desk: Desk) -> Outcome:
        raise NotImplementedError

    def _bad(self, fault: str) -> BadArguments:
        return BadArguments(f"{self.name}: {fault} Send {_signature(self.spec.schema)}.")


def _said(error: OSError | UnicodeError) -> str:
    if isinstance(error, OSError) and error.filename and error.strerror:
        return f"{error.strerror}: {error.filename}"
    return str(error)


def _explained(message: str) -> str:
    """msgspec says what, then where; a model is helped more by the argument's name first."""
    missing = message.removeprefix("Object missing required field ")
    if missing != message:
        return f"{missing} is missing."
    what, _, where = message.rpartition(" - at ")
    if not what:
        return f"{message}."
    return f"`{where.strip('`').removeprefix('$.')}`: {what[0].lower()}{what[1:]}."


def _signature(schema: msgspec.Raw) -> str:
    """`{"file_path": string, "limit"?: integer}`"""
    return _members(msgspec.json.decode(schema))


def _members(shape: dict[str, Any]) -> str:
    required = shape.get("required", ())
    return _braced(
        f'"{name}"{"" if name in required else "?"}: {_kind(field)}'
        for name, field in shape.get("properties", {}).items()
    )


def _braced(parts: Any) -> str:
    return "{" + ", ".join(parts) + "}"


def _kind(field: dict[str, Any]) -> str:
    if "enum" in field:
        return " | ".join(f'"{choice}"' for choice in field["enum"])
    if field.get("type") == "array" and "items" in field:
        return f"[{_kind(field['items'])}]"
    if "properties" in field:
        return _members(field)
    return str(field.get("type", "any"))
