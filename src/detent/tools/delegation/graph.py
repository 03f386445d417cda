"""What depends on what: a plan that is whole and has no cycle, or the reason why there is none."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from detent.tools.delegation.arguments import Child, DelegateAgentArgs, Group

MOST = 200
"""Children of one call."""

Vertex = int | tuple[Literal["begin", "end"], int]
"""A child, or a group's beginning (all that it depends on is done) or end (all in it are)."""


class PlannedChild(Struct, frozen=True):
    index: int
    """Its place in the call."""
    name: str
    group: int
    wish: Child
    needs: tuple[int, ...] = ()
    """Children that must be done, those that its group depends on included."""
    needs_groups: tuple[int, ...] = ()
    after: int | None = None
    """In a serial group that goes on after a failure: the child that must have ended."""


class PlannedGroup(Struct, frozen=True):
    name: str
    strategy: str
    children: tuple[int, ...]
    halts_after: int | None = None
    """With more failures than this no other child of it begins; None: whatever fails."""
    tolerates: int = 0
    """So many of its children may come to nothing, and it is done all the same."""


class Plan(Struct, frozen=True):
    children: tuple[PlannedChild, ...]
    groups: tuple[PlannedGroup, ...]
    order: tuple[int, ...]
    """Of children, each behind all that it waits for."""
    halts_after: int | None = None
    """As for a group, over all of them."""


class BadGraph(Exception):
    """With words for the model."""


def planned(args: DelegateAgentArgs) -> Plan:
    """Raises BadGraph, which names all that is wrong."""
    size = sum(len(group.children) for group in args.groups)
    if not size:
        raise BadGraph("there is nothing to delegate: give `groups` with `children`.")
    if size > MOST:
        raise BadGraph(f"{size} children are too many for one call: at most {MOST}.")
    draft = _Draft(args)
    if faults := [*draft.twice(), *draft.unknown()]:
        raise BadGraph(" ".join(faults))
    if path := draft.cycle():
        raise BadGraph(f"these wait for each other, each for the next: {path}.")
    return Plan(tuple(draft.children()), draft.groups, draft.order, _most(args))


class _Draft:
    """The graph as it was given: names, and whom they mean."""

    def __init__(self, args: DelegateAgentArgs) -> None:
        self._given = args.groups
        self._wishes = [wish for group in args.groups for wish in group.children]
        self._names = _named([wish.name for wish in self._wishes], "child")
        self.groups = tuple(_groups(args.groups, args.continue_on_error))
        self._places: dict[str, Vertex] = {
            **{group.name: ("end", number) for number, group in enumerate(self.groups)},
            **{name: index for index, name in enumerate(self._names)},
        }
        self.order: tuple[int, ...] = ()

    def twice(self) -> Iterator[str]:
        all_names = Counter([*self._names, *(group.name for group in self.groups)])
        if names := [name for name, count in all_names.items() if count > 1]:
            yield f"each child and each group needs a name of its own: {_quoted(names)} is double."

    def unknown(self) -> Iterator[str]:
        found = False
        wishes = zip(self._names, self._wishes, strict=True)
        groups = zip(self.groups, self._given, strict=True)
        for who, depends_on in (
            *((f"group `{group.name}`", given.depends_on) for group, given in groups),
            *((f"`{name}`", wish.depends_on) for name, wish in wishes),
        ):
            if names := [n for n in dict.fromkeys(depends_on) if _tidy(n) not in self._places]:
                found = True
                yield f"{who} depends on {_quoted(names)}, which is not there."
        if found:
            yield f"There are {_quoted(self._places)}."

    def cycle(self) -> str:
        """The path of one, if there is any; else `order` is known."""
        try:
            found = TopologicalSorter(self._edges()).static_order()
            self.order = tuple(vertex for vertex in found if isinstance(vertex, int))
        except CycleError as error:
            return self._path(error.args[1][:0:-1])
        return ""

    def children(self) -> Iterator[PlannedChild]:
        for number, (group, given) in enumerate(zip(self.groups, self._given, strict=True)):
            leads = self._meant(given.depends_on)
            for index in group.children:
                wish, before = self._wishes[index], self._before(index, group)
                needs = [*leads, *self._meant(wish.depends_on)]
                if before is not None and group.halts_after == 0:
                    needs, before = [*needs, before], None
                yield PlannedChild(
                    index,
                    self._names[index],
                    number,
                    wish,
                    tuple(dict.fromkeys(need for need in needs if isinstance(need, int))),
                    tuple(dict.fromkeys(need[1] for need in needs if isinstance(need, tuple))),
                    before,
                )

    def _meant(self, names: Iterable[str]) -> list[Vertex]:
        return [self._places[_tidy(name)] for name in names]

    def _before(self, index: int, group: PlannedGroup) -> int | None:
        serial = group.strategy == "serial" and index > group.children[0]
        return index - 1 if serial else None

    def _edges(self) -> dict[Vertex, list[Vertex]]:
        """From each vertex to those that it waits for."""
        edges: dict[Vertex, list[Vertex]] = {}
        for number, (group, given) in enumerate(zip(self.groups, self._given, strict=True)):
            edges["begin", number] = self._meant(given.depends_on)
            edges["end", number] = list(group.children)
            for index in group.children:
                before = self._before(index, group)
                own = [] if before is None else [before]
                edges[index] = [*self._meant(self._wishes[index].depends_on), *own]
                edges[index].append(("begin", number))
        return edges

    def _path(self, around: Sequence[Vertex]) -> str:
        """`a → b → a`. A group's beginning goes without saying, and so does the child in whose
        stead its group waits."""
        named: list[str] = []
        for place, vertex in enumerate(around):
            behind = around[(place + 1) % len(around)]
            if not isinstance(vertex, int):
                if vertex[0] == "end":
                    named.append(f"group `{self.groups[vertex[1]].name}`")
            elif not (_is("end", around[place - 1]) and _is("begin", behind)):
                named.append(f"`{self._names[vertex]}`")
        return " → ".join([*named, named[0]])


def _is(what: str, vertex: Vertex) -> bool:
    return isinstance(vertex, tuple) and vertex[0] == what


def _groups(groups: Sequence[Group], usual: bool | UnsetType) -> Iterator[PlannedGroup]:
    first = 0
    for name, group in zip(_named([group.name for group in groups], "group"), groups, strict=True):
        behind = first + len(group.children)
        halts = _halts_after(group, usual)
        tolerated = group.max_failures if isinstance(group.max_failures, int) else 0
        tolerates = max(0, tolerated if halts is None else min(tolerated, halts))
        yield PlannedGroup(name, group.strategy, tuple(range(first, behind)), halts, tolerates)
        first = behind


def _halts_after(group: Group, usual: bool | UnsetType) -> int | None:
    """What the group says counts before what the call says for all."""
    if group.continue_on_error is False:
        return 0
    if isinstance(group.max_failures, int):
        return max(0, group.max_failures)
    goes_on = usual if group.continue_on_error is UNSET else group.continue_on_error
    if goes_on is UNSET:
        goes_on = group.strategy == "parallel"
    return None if goes_on else 0


def _most(args: DelegateAgentArgs) -> int | None:
    if args.continue_on_error is False:
        return 0
    return max(0, args.max_failures) if isinstance(args.max_failures, int) else None


def _named(given: Sequence[str], what: str) -> list[str]:
    """With a name for each that has none: one that nobody of its kind bears."""
    taken = {_tidy(name) for name in given}
    names: list[str] = []
    for number, name in enumerate(given, 1):
        own = _tidy(name) or f"{what}-{number}"
        while not _tidy(name) and own in taken:
            own += "'"
        names.append(own)
        taken.add(own)
    return names


def _tidy(name: str) -> str:
    return " ".join(name.split())


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
