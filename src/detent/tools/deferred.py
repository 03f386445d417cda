"""Tools whose definitions stay out of the prompt until they are asked for.

Definitions of many tools from elsewhere would fill the window of every request. The price: when one
is found, `tools` grows by it, and the provider's cache of everything behind it is cold once.
"""

from collections.abc import Collection, Iterable, Sequence

from msgspec.structs import replace

from detent.ports import Tool, Toolbox
from detent.tools.registry import built_in, canonical_name
from detent.tools.tool_search import ToolSearch
from detent.types.events import CallEnded, Entry
from detent.types.messages import ToolSpec
from detent.types.outcomes import Done

BYTES_PER_TOKEN = 4
LARGEST_SHARE = 0.1
"""Of the window: tools from elsewhere that would take more are held back."""
LONGEST_LIST = 8_000
"""Characters of the names that the description tells."""


class Deferred:
    """A toolbox that shows some of its tools only when they were found. All can be called."""

    def __init__(self, toolbox: Toolbox, names: Collection[str], found: Iterable[str] = ()) -> None:
        specs = toolbox.specs()
        self.held = {spec.name: spec for spec in specs if spec.name in names}
        self._toolbox = toolbox
        self._search = ToolSearch(_naming(built_in(ToolSearch.name), list(self.held)), self)
        hidden = (*self.held, ToolSearch.name)
        shown = (spec for spec in specs if spec.name not in hidden)
        self._shown = (*shown, self._search.spec)
        self._found: dict[str, ToolSpec] = {}
        for name in found:
            self.hand_out(name)

    def specs(self) -> Sequence[ToolSpec]:
        return (*self._shown, *self._found.values())

    def find(self, name: str) -> Tool | None:
        if canonical_name(name) == ToolSearch.name:
            return self._search
        return self._toolbox.find(name)

    def hand_out(self, name: str) -> None:
        """In the order of finding, so that what was sent before stays a prefix."""
        if name in self.held:
            self._found[name] = self.held[name]


def found_in(entries: Iterable[Entry]) -> list[str]:
    """What an earlier part of the session has found."""
    names: list[str] = []
    for entry in entries:
        if isinstance(entry, CallEnded) and canonical_name(entry.name) == ToolSearch.name:
            match entry.outcome:
                case Done(data={"matches": list(matches)}):
                    names += matches
    return names


def is_much(specs: Iterable[ToolSpec], window: int) -> bool:
    size = sum(len(s.name) + len(s.description.encode()) + len(bytes(s.schema)) for s in specs)
    return size / BYTES_PER_TOKEN > window * LARGEST_SHARE


def _naming(spec: ToolSpec, names: list[str]) -> ToolSpec:
    """The names of all, found or not: the text must not change from request to request."""
    listed: list[str] = []
    room = LONGEST_LIST
    for name in names:
        room -= len(name) + 2
        if room < 0:
            listed.append(f"and {len(names) - len(listed)} more")
            break
        listed.append(name)
    return replace(spec, description=f"{spec.description}\n\nHeld back: {', '.join(listed)}.")
