"""The tools of a subagent: some of its parent's, and never others."""

from collections.abc import Sequence

from detent.app.agents.kinds.record import AgentKind
from detent.app.toolbox import FOR_A_PERSON
from detent.ports import Desk, Tool, Toolbox
from detent.tools.registry import canonical_name
from detent.types.messages import ToolSpec
from detent.types.outcomes import Failed, Outcome


def tools_for(kind: AgentKind, toolbox: Toolbox) -> "ChildTools":
    specs = toolbox.specs()
    wanted = None if kind.tools is None else {canonical_name(name) for name in kind.tools}
    unwanted = {canonical_name(name) for name in kind.disallowed_tools}
    return ChildTools(
        toolbox,
        [
            spec
            for spec in specs
            if spec.name not in unwanted and (wanted is None or spec.name in wanted)
        ],
    )


class ChildTools:
    """Those that only a person could answer are shown like the parent's, for the provider's cache
    goes by the bytes; they say that they are of no use here."""

    def __init__(self, toolbox: Toolbox, specs: Sequence[ToolSpec]) -> None:
        self._toolbox = toolbox
        self._specs = tuple(specs)
        self._names = {spec.name for spec in specs}

    def specs(self) -> Sequence[ToolSpec]:
        return self._specs

    def find(self, name: str) -> Tool | None:
        tool = self._toolbox.find(name)
        if tool is None or tool.spec.name not in self._names:
            return None
        return OutOfReach(tool) if tool.spec.name in FOR_A_PERSON else tool


class OutOfReach:
    """A tool that a subagent cannot use."""

    timeout = None

    def __init__(self, tool: Tool) -> None:
        self.spec = tool.spec

    def parse(self, arguments: str) -> None:
        return None

    def effects(self, args: None, cwd: str) -> tuple[()]:
        return ()

    def moves(self, args: None) -> bool:
        return False

    async def run(self, args: None, desk: Desk) -> Outcome:
        return Failed(
            f"{self.spec.name} cannot be used by a subagent: nobody is here to answer. Decide "
            "yourself, or say in your answer what has to be decided."
        )
