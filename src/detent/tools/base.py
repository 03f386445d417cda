"""What all built-in tools share: typed arguments, and messages a model can act on."""

from typing import Annotated, Any, ClassVar, Generic, TypeVar

import msgspec

from detent.ports import BadArguments, Desk
from detent.types.codec import holds_half_character
from detent.types.effects import Effect
from detent.types.messages import ToolSpec
from detent.types.outcomes import Failed, Outcome, with_context

A = TypeVar("A", bound=msgspec.Struct)

ROOM = 28_000
"""Characters of one answer: a little less than the loop would cut."""
UNADVERTISED = msgspec.Meta(extra_json_schema={"unadvertised": True})
"""Marks an argument that is accepted but left out of the schema that models see."""

SPELLINGS = (
    ("filePath", "file_path"),
    ("filename", "file_path"),
    ("oldString", "old_string"),
    ("newString", "new_string"),
    ("old_str", "old_string"),
    ("new_str", "new_string"),
    ("contents", "content"),
)
"""Renames that hold for every tool with such an argument."""


class Arguments(msgspec.Struct, frozen=True, kw_only=True):
    """For a tool that tells which of the arguments given it does not know."""

    ignored: Annotated[tuple[str, ...], UNADVERTISED] = ()


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
            raise self._bad(_json_fault(arguments, error)) from None
        except RecursionError:
            raise self._bad("the arguments are nested too deeply.") from None
        if not isinstance(given, dict):
            raise self._bad("the arguments must be one JSON object.")
        try:
            # Not strict: some models write numbers and booleans as strings.
            return msgspec.convert(self._told(self.adapt(given)), self.args, strict=False)
        except msgspec.ValidationError as error:
            raise self._bad(_explained(str(error))) from None

    def adapt(self, given: dict[str, Any]) -> dict[str, Any]:
        return self.renamed(given, self.args)

    def renamed(self, given: dict[str, Any], shape: type[msgspec.Struct]) -> dict[str, Any]:
        """Without nulls, too: many models write null for "not given"."""
        adapted = {name: value for name, value in given.items() if value is not None}
        names = shape.__struct_encode_fields__
        for theirs, ours in (*self.renames, *SPELLINGS):
            if ours in names and theirs in adapted and ours not in adapted:
                adapted[ours] = adapted.pop(theirs)
        return adapted

    def _told(self, adapted: dict[str, Any]) -> dict[str, Any]:
        """With the names of what no one will look at, where the tool tells them."""
        if issubclass(self.args, Arguments):
            names = self.args.__struct_encode_fields__
            adapted["ignored"] = [name for name in adapted if name not in names]
        return adapted

    def effects(self, args: A, cwd: str) -> tuple[Effect, ...]:
        raise NotImplementedError

    def moves(self, args: A) -> bool:
        return False

    async def run(self, args: A, desk: Desk) -> Outcome:
        try:
            outcome = await self.act(args, desk)
        except (OSError, UnicodeError) as error:
            outcome = Failed(f"{self.name}: {_said(error)}")
        if isinstance(args, Arguments) and args.ignored:
            return with_context(outcome, f"[ignored: {', '.join(args.ignored)}]")
        return outcome

    async def act(self, args: A, desk: Desk) -> Outcome:
        raise NotImplementedError

    def _bad(self, fault: str) -> BadArguments:
        return BadArguments(f"{self.name}: {fault} Send {_signature(self.spec.schema)}.")


def _json_fault(arguments: str, error: Exception) -> str:
    if holds_half_character(arguments):
        return (
            "a text in the arguments holds half of a character, such as \\ud83d without its other "
            "half. Send the call again without it, or with the whole character."
        )
    return f"the arguments are not valid JSON ({error})."


def _said(error: OSError | UnicodeError) -> str:
    if isinstance(error, OSError) and error.filename and error.strerror:
        return f"{error.strerror}: {error.filename}"
    return str(error)


def _explained(message: str) -> str:
    """msgspec says what, then where; a model is helped more by the argument's name first."""
    what, _, where = message.rpartition(" - at ")
    if not what:
        what, where = message, ""
    where = where.strip("`").removeprefix("$").removeprefix(".")
    missing = what.removeprefix("Object missing required field ")
    if missing != what:
        return f"{missing} is missing{f' in `{where}`' if where else ''}."
    return f"`{where}`: {what[0].lower()}{what[1:]}." if where else f"{what}."


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
