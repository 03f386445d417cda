"""The static tool executor: handlers by name, as closures. For tests of the loop."""

from collections.abc import Callable, Sequence
from typing import Any, Self

import msgspec

from detent.ports import Desk, Tool
from detent.types.effects import Effect
from detent.types.messages import ToolSpec
from detent.types.outcomes import Failed, Outcome, done

Handler = Callable[[str], str]
"""Takes the input as the model wrote it; returns text, or raises to fail."""


class StaticTools:
    """`StaticTools().register("add", add).register(…)`; any other name is an error result."""

    def __init__(self) -> None:
        self._tools: dict[str, StaticTool] = {}

    def register(self, name: str, handler: Handler, effects: Sequence[Effect] = ()) -> Self:
        self._tools[name] = StaticTool(name, handler, tuple(effects))
        return self

    def specs(self) -> Sequence[ToolSpec]:
        return [tool.spec for tool in self._tools.values()]

    def find(self, name: str) -> Tool | None:
        return self._tools.get(name)


class StaticTool:
    timeout: float | None = None

    def __init__(self, name: str, handler: Handler, effects: tuple[Effect, ...]) -> None:
        self.spec = ToolSpec(name, f"The static tool {name}.", msgspec.Raw(b'{"type":"object"}'))
        self._handler = handler
        self._effects = effects

    def parse(self, arguments: str) -> Any:
        return arguments

    def effects(self, args: Any, cwd: str) -> tuple[Effect, ...]:
        return self._effects

    def moves(self, args: Any) -> bool:
        return False

    async def run(self, args: Any, desk: Desk) -> Outcome:
        try:
            return done(self._handler(args))
        except Exception as error:
            return Failed(f"{type(error).__name__}: {error}")
