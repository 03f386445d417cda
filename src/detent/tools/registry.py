"""The built-in tools by name. A tool's module is imported when the tool is first found."""

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Any

import msgspec

from detent.ports import Tool
from detent.types.messages import ToolSpec


class Entry(msgspec.Struct, frozen=True):
    """One tool of specs.json, which scripts/tool_specs.py writes."""

    name: str
    module: str
    aliases: tuple[str, ...]
    description: str
    schema: msgspec.Raw


@cache
def catalogue() -> dict[str, Entry]:
    """Every built-in tool by its real name, in the order the model sees them."""
    with open(os.path.join(os.path.dirname(__file__), "specs.json"), "rb") as file:
        entries = msgspec.json.decode(file.read(), type=list[Entry])
    return {entry.name: entry for entry in entries}


@cache
def _names() -> dict[str, str]:
    return {alias: entry.name for entry in catalogue().values() for alias in entry.aliases}


def canonical_name(name: str) -> str:
    """The real name for an alias; any other name as it is."""
    return _names().get(name, name)


class Registry:
    """The built-in tools that a session may use, and tools from elsewhere.

    `names` limits the built-in ones. An extra tool replaces a built-in one of the same name.
    `given` is what some of them are made with besides their spec.
    """

    def __init__(
        self,
        names: Sequence[str] | None = None,
        extra: Sequence[Tool] = (),
        given: Mapping[str, tuple[Any, ...]] = {},
    ) -> None:
        self._given = given
        self._extra = {tool.spec.name: tool for tool in extra}
        self._chosen = _chosen(names, self._extra)
        self._made: dict[str, Tool] = {}
        self._specs: tuple[ToolSpec, ...] | None = None

    def specs(self) -> Sequence[ToolSpec]:
        if self._specs is None:
            own = [_spec(entry) for name, entry in self._chosen.items() if name not in self._extra]
            self._specs = (*own, *(tool.spec for tool in self._extra.values()))
        return self._specs

    def canonical(self, name: str) -> str:
        return name if name in self._extra else canonical_name(name)

    def find(self, name: str) -> Tool | None:
        name = self.canonical(name)
        if name in self._extra:
            return self._extra[name]
        if name not in self._made and name in self._chosen:
            entry = self._chosen[name]
            self._made[name] = import_module(entry.module).TOOL(
                _spec(entry), *self._given.get(name, ())
            )
        return self._made.get(name)


def _chosen(names: Sequence[str] | None, extra: Iterable[str]) -> dict[str, Entry]:
    known = catalogue()
    if names is None:
        return known
    wanted = {canonical_name(name) for name in names}
    for name in names:
        if canonical_name(name) not in known and name not in extra:
            choices = ", ".join([*known, *extra])
            raise ValueError(f"There is no tool `{name}`. Known tools: {choices}.")
    return {name: entry for name, entry in known.items() if name in wanted}


def built_in(name: str) -> ToolSpec:
    return _spec(catalogue()[name])


def _spec(entry: Entry) -> ToolSpec:
    return ToolSpec(entry.name, entry.description, entry.schema)
