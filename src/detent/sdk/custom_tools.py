"""Tools from typed functions.

@tool
def add(a: int, b: int) -> str:
    "Adds two numbers."
    return str(a + b)
"""

import asyncio
import inspect
from collections.abc import Callable, Sequence
from typing import Any, get_type_hints, overload

import msgspec

from detent.ports import BadArguments, Desk
from detent.types.codec import encode
from detent.types.effects import Connects, Effect
from detent.types.messages import ToolSpec
from detent.types.outcomes import Cut, Done, Failed, Outcome, Refused, done

Function = Callable[..., Any]


class FunctionTool:
    """A typed function as a tool: its signature is the schema, its docstring the description."""

    def __init__(
        self, function: Function, name: str, timeout: float | None, effects: Sequence[Effect]
    ) -> None:
        self._function = function
        self._effects = tuple(effects)
        self.timeout = timeout
        self._arguments, self._wants_desk = _arguments_of(function, name)
        self.spec = ToolSpec(name, inspect.getdoc(function) or "", _raw_schema(self._arguments))

    def parse(self, arguments: str) -> Any:
        try:
            return msgspec.json.decode(arguments or "{}", type=self._arguments)
        except msgspec.DecodeError as error:
            shape = ", ".join(self._arguments.__struct_fields__)
            raise BadArguments(
                f"{self.spec.name}: {error}. Send an object with: {shape}."
            ) from None

    def effects(self, args: Any, cwd: str) -> tuple[Effect, ...]:
        return self._effects

    def moves(self, args: Any) -> bool:
        return False

    async def run(self, args: Any, desk: Desk) -> Outcome:
        given = {name: getattr(args, name) for name in self._arguments.__struct_fields__}
        if self._wants_desk:
            given["desk"] = desk
        returned = await self._called(given)
        if isinstance(returned, Done | Failed | Refused | Cut):
            return returned
        if returned is None:
            return done("")
        return done(returned if isinstance(returned, str) else encode(returned).decode())

    async def _called(self, given: dict[str, Any]) -> Any:
        """A plain function runs in a thread: it must not hold up the stream or other calls."""
        if inspect.iscoroutinefunction(self._function):
            return await self._function(**given)
        returned = await asyncio.to_thread(self._function, **given)
        return await returned if inspect.isawaitable(returned) else returned


def _raw_schema(arguments: type[msgspec.Struct]) -> msgspec.Raw:
    """msgspec puts the struct itself behind a reference; models want it on top."""
    schema = msgspec.json.schema(arguments)
    definitions = dict(schema.get("$defs", {}))
    top = dict(definitions.pop(arguments.__name__, schema))
    top.pop("title", None)
    return msgspec.Raw(encode({**top, "$defs": definitions} if definitions else top))


def _arguments_of(function: Function, name: str) -> tuple[type[msgspec.Struct], bool]:
    hints = get_type_hints(function, include_extras=True)
    fields: list[tuple[str, Any] | tuple[str, Any, Any]] = []
    wants_desk = False
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name == "desk":
            wants_desk = True
            continue
        kind = hints.get(parameter.name)
        if kind is None:
            raise TypeError(f"tool {name}: the argument {parameter.name} needs a type")
        if parameter.default is inspect.Parameter.empty:
            fields.append((parameter.name, kind))
        else:
            fields.append((parameter.name, kind, parameter.default))
    return msgspec.defstruct(f"{name}_arguments", fields, kw_only=True), wants_desk


@overload
def tool(function: Function) -> FunctionTool: ...
@overload
def tool(
    *, name: str = "", timeout: float | None = 120.0, effects: Sequence[Effect] | None = None
) -> Callable[[Function], FunctionTool]: ...


def tool(
    function: Function | None = None,
    *,
    name: str = "",
    timeout: float | None = 120.0,
    effects: Sequence[Effect] | None = None,
) -> FunctionTool | Callable[[Function], FunctionTool]:
    """Without `effects` a tool may touch anything and needs permission; `()` is harmless."""
    declared: Sequence[Effect] = (Connects("*"),) if effects is None else effects

    def made(function: Function) -> FunctionTool:
        return FunctionTool(function, name or function.__name__, timeout, declared)

    return made if function is None else made(function)
