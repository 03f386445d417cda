"""ToolSearch: the definitions of tools that are held back until they are wanted."""

import re
from collections.abc import Mapping
from typing import Annotated, Protocol

from msgspec import Meta, Struct

from detent.ports import Desk
from detent.tools.base import TypedTool
from detent.types.effects import Effect
from detent.types.messages import ToolSpec
from detent.types.outcomes import Outcome, done

SELECT = "select:"
MOST_RESULTS = 20


class Shelf(Protocol):
    """Where tools are held back."""

    @property
    def held(self) -> Mapping[str, ToolSpec]:
        """All of them by name, those found as well."""

    def hand_out(self, name: str) -> None:
        """From the next request on the model sees its definition."""


class ToolSearchArgs(Struct, frozen=True):
    query: Annotated[
        str, Meta(description="`select:NAME,NAME`, or words; `+word` must occur.", min_length=1)
    ]
    max_results: Annotated[
        int, Meta(description="5 unless given, for words.", ge=1, le=MOST_RESULTS)
    ] = 5


class ToolSearch(TypedTool[ToolSearchArgs]):
    name = "ToolSearch"
    aliases = ("tool_search", "ToolSearchTool")
    args = ToolSearchArgs

    def __init__(self, spec: ToolSpec, shelf: Shelf | None = None) -> None:
        super().__init__(spec)
        self._shelf = shelf

    def effects(self, args: ToolSearchArgs, cwd: str) -> tuple[Effect, ...]:
        return ()

    async def act(self, args: ToolSearchArgs, desk: Desk) -> Outcome:
        shelf = self._shelf
        held = shelf.held if shelf is not None else {}
        found = search(held, args.query, args.max_results)
        data = {"matches": found, "query": args.query, "total_deferred_tools": len(held)}
        if shelf is None or not found:
            return done(f"No tool fits {args.query!r}. Try other words, or fewer.", data)
        for name in found:
            shelf.hand_out(name)
        head = f"{len(found)} of {len(held)} tools; you can call them now."
        known = {name.casefold() for name in found}
        if unknown := [name for name in _selected(args.query) if name.casefold() not in known]:
            head += f" There is no tool {', '.join(unknown)}."
        return done("\n\n".join((head, *(_definition(held[name]) for name in found))), data)


TOOL = ToolSearch


def search(held: Mapping[str, ToolSpec], query: str, most: int) -> list[str]:
    """The names of the tools that fit, the best first."""
    if query.startswith(SELECT):
        by_name = {name.casefold(): name for name in held}
        wanted = map(str.casefold, _selected(query))
        return list(dict.fromkeys(by_name[name] for name in wanted if name in by_name))
    words = query.casefold().split()
    scores = {name: _score(spec, words) for name, spec in held.items()}
    fitting = [name for name in scores if scores[name]]
    return sorted(fitting, key=lambda name: -scores[name])[:most]


def _selected(query: str) -> list[str]:
    """The names that are asked for, as they were written."""
    if not query.startswith(SELECT):
        return []
    return list(filter(None, map(str.strip, query.removeprefix(SELECT).split(","))))


def _score(spec: ToolSpec, words: list[str]) -> int:
    """0 when nothing fits, or when a word that must occur does not."""
    parts, text = _parts(spec.name), spec.description.casefold()
    total = 0
    for word in words:
        bare = word.removeprefix("+")
        score = _fit(bare, parts, spec.name.casefold(), text) if bare else 0
        if not score and word != bare:
            return 0
        total += score
    return total


def _fit(word: str, parts: set[str], name: str, text: str) -> int:
    """A name says more than a description, a whole word more than a piece of one."""
    if word in parts or word == name:
        return 8
    if word in name:
        return 4
    if re.search(rf"\b{re.escape(word)}\b", text):
        return 2
    return 1 if word in text else 0


def _parts(name: str) -> set[str]:
    """`mcp__files__readPage` → mcp, files, read, page"""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return {part.casefold() for part in re.split(r"[\W_]+", spaced) if part}


def _definition(spec: ToolSpec) -> str:
    return f"## {spec.name}\n{spec.description}\nArguments: {bytes(spec.schema).decode()}"
