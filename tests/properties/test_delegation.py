"""For every graph and every order in which children end: each begins when it can, and only then."""

from __future__ import annotations

import asyncio
import random
from itertools import pairwise
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from delegationbench import BenchAgents, Delegation
from detent.types.outcomes import Failed


class Shape:
    """A graph without cycles, and what its words mean, told in another way than the tool's."""

    def __init__(self, groups: list[dict[str, Any]], most: int | None) -> None:
        self.groups = {group["name"]: group for group in groups}
        self.children = {c["name"]: c for group in groups for c in group["children"]}
        self.home = {c["name"]: group for group in groups for c in group["children"]}
        self.most = most

    @property
    def arguments(self) -> dict[str, Any]:
        given: dict[str, Any] = {"groups": list(self.groups.values())}
        return given if self.most is None else {**given, "max_failures": self.most}

    def leads(self, name: str) -> list[str]:
        """Names that it depends on."""
        return [*self.home[name]["depends_on"], *self.children[name]["depends_on"]]

    def before(self, name: str) -> str | None:
        group = self.home[name]
        names = [child["name"] for child in group["children"]]
        place = names.index(name)
        return names[place - 1] if group["strategy"] == "serial" and place else None

    def most_failures(self, group: dict[str, Any]) -> float:
        if group.get("continue_on_error") is False:
            return 0
        if "max_failures" in group:
            most: int = group["max_failures"]
            return most
        serial = group["strategy"] == "serial" and "continue_on_error" not in group
        return 0 if serial else float("inf")


@st.composite
def shapes(draw: st.DrawFn) -> Shape:
    """What comes later may depend on what comes earlier; then all is put in some other order."""
    groups: list[dict[str, Any]] = []
    names: list[str] = []
    for number in range(draw(st.integers(1, 4))):
        group: dict[str, Any] = {
            "name": f"g{number}",
            "strategy": draw(st.sampled_from(["parallel", "parallel", "serial"])),
            "depends_on": draw(_some(names)),
            "children": [],
        }
        if draw(st.booleans()):
            group["max_failures"] = draw(st.integers(0, 2))
        if draw(st.integers(0, 3)) == 0:
            group["continue_on_error"] = draw(st.booleans())
        for _ in range(draw(st.integers(1, 4))):
            own = f"c{len([n for n in names if n[0] == 'c'])}"
            group["children"].append({"name": own, "prompt": "p", "depends_on": draw(_some(names))})
            names.append(own)
        names.append(group["name"])
        groups.append(group)
    return Shape(draw(st.permutations(groups)), draw(st.sampled_from([None, None, None, 1, 3])))


def _some(names: list[str]) -> st.SearchStrategy[list[str]]:
    if not names:
        return st.just([])
    return st.lists(st.sampled_from(names), max_size=2, unique=True)


class Watched:
    """The bench, and at each moment what must be true."""

    def __init__(self, shape: Shape) -> None:
        self.shape, self.agents = shape, BenchAgents()
        self.failed: set[str] = set()

    def completed(self, name: str) -> bool:
        if name in self.shape.groups:
            group = self.shape.groups[name]
            names = [child["name"] for child in group["children"]]
            lost = sum(n in self.failed or n in self.agents.skipped for n in names)
            over = all(n in self.agents.ended or n in self.agents.skipped for n in names)
            return over and lost <= self.tolerated(group)
        return name in self.agents.ended and name not in self.failed

    def tolerated(self, group: dict[str, Any]) -> float:
        return min(group.get("max_failures", 0), self.shape.most_failures(group))

    def hopeless(self, name: str) -> bool:
        """It can no longer be completed."""
        if name in self.shape.groups:
            group = self.shape.groups[name]
            names = [child["name"] for child in group["children"]]
            lost = sum(n in self.failed or n in self.agents.skipped for n in names)
            return lost > self.tolerated(group)
        return name in self.failed or name in self.agents.skipped

    def halted(self, name: str) -> bool:
        group = self.shape.home[name]
        own = [child["name"] for child in group["children"] if child["name"] in self.failed]
        most = float("inf") if self.shape.most is None else self.shape.most
        return len(own) > self.shape.most_failures(group) or len(self.failed) > most

    def may_begin(self, name: str) -> bool:
        before = self.shape.before(name)
        if not all(self.completed(lead) for lead in self.shape.leads(name)):
            return False
        if before is None:
            return True
        if self.shape.most_failures(self.shape.home[name]) == 0:
            return self.completed(before)
        return before in self.agents.ended or before in self.agents.skipped

    def is_lost(self, name: str) -> bool:
        before = self.shape.before(name)
        strict = self.shape.most_failures(self.shape.home[name]) == 0
        return (
            any(self.hopeless(lead) for lead in self.shape.leads(name))
            or (before is not None and strict and self.hopeless(before))
            or self.halted(name)
        )

    def check(self) -> None:
        """Every child stands where it must."""
        agents = self.agents
        for name in self.shape.children:
            if name in agents.begun:
                continue
            assert (name in agents.skipped) == self.is_lost(name), name
            assert name in agents.skipped or not self.may_begin(name), f"{name} should run"


@given(shape=shapes(), chance=st.randoms(use_true_random=False), faults=st.integers(0, 60))
@settings(max_examples=400, deadline=None)
def test_each_child_begins_when_all_it_needs_is_done(
    shape: Shape, chance: random.Random, faults: int
) -> None:
    asyncio.run(_played(shape, chance, faults))


async def _played(shape: Shape, chance: random.Random, faults: int) -> None:
    watched = Watched(shape)
    agents, call = watched.agents, Delegation(watched.agents, shape.arguments)
    begun_before: set[str] = set()
    batches = dict.fromkeys(shape.groups, 0)
    largest = dict.fromkeys(shape.groups, 0)
    while await call.settle():
        new = set(agents.begun) - begun_before
        begun_before |= new
        for name in new:
            assert watched.may_begin(name), f"{name} began too early"
        for group in shape.groups:
            own = sum(shape.home[name]["name"] == group for name in new)
            batches[group] += own > 0
            largest[group] = max(largest[group], own)
        watched.check()
        name = chance.choice(agents.running)
        if chance.randrange(100) < faults:
            watched.failed.add(name)
            agents.fail(name)
        else:
            agents.end(name)
    watched.check()
    await call.outcome()
    _check_numbers(watched, batches, largest)


def _check_numbers(watched: Watched, batches: dict[str, int], largest: dict[str, int]) -> None:
    agents = watched.agents
    assert set(agents.begun) == set(agents.ended)
    assert set(agents.begun) | set(agents.skipped) == set(watched.shape.children)
    assert not set(agents.begun) & set(agents.skipped)
    for name, group in watched.shape.groups.items():
        ended = agents.groups[f"call_1/{name}"]
        names = {child["name"] for child in group["children"]}
        assert ended.failed == len(names & watched.failed)
        assert ended.skipped == len(names & set(agents.skipped))
        assert ended.completed + ended.failed + ended.skipped == len(names)
        assert (ended.batches, ended.largest_batch) == (batches[name], largest[name])
    for reason in agents.skipped.values():
        assert any(f"`{name}`" in reason for name in watched.failed), reason


@given(shape=shapes(), chance=st.randoms(use_true_random=False))
@settings(max_examples=200, deadline=None)
def test_a_child_begins_in_the_turn_in_which_its_last_dependency_ends(
    shape: Shape, chance: random.Random
) -> None:
    asyncio.run(_timed(shape, chance))


async def _timed(shape: Shape, chance: random.Random) -> None:
    agents = BenchAgents()
    call = Delegation(agents, shape.arguments)
    while await call.settle():
        for name in chance.sample(agents.running, chance.randint(1, len(agents.running))):
            agents.end(name)
    await call.outcome()
    for name, begun in agents.begun.items():
        before = shape.before(name)
        leads = [*shape.leads(name), *([before] if before else [])]
        last = max((_end(shape, agents, lead) for lead in leads), default=0)
        assert 0 <= begun - last <= 1, name


def _end(shape: Shape, agents: BenchAgents, name: str) -> int:
    if name in shape.groups:
        return max(agents.ended[child["name"]] for child in shape.groups[name]["children"])
    return agents.ended[name]


@given(shape=shapes(), chance=st.randoms(use_true_random=False))
@settings(max_examples=300, deadline=None)
def test_a_cycle_is_always_found_and_its_path_is_one(shape: Shape, chance: random.Random) -> None:
    """What something depends on, directly or not, is made to depend on it."""
    first = chance.choice([*shape.children, *shape.groups])
    last = chance.choice(sorted(_all_below(shape, first)))
    (shape.children.get(last) or shape.groups[last])["depends_on"].append(first)
    agents = BenchAgents()
    outcome = asyncio.run(_outcome(agents, shape))
    assert isinstance(outcome, Failed) and "wait for each other" in outcome.text
    assert not agents.given
    path = outcome.text.rstrip(".").rsplit(": ", 1)[1].split(" → ")
    assert path[0] == path[-1] and len(path) > 1
    names = [step.removeprefix("group ").strip("`") for step in path]
    for one, other in pairwise(names):
        assert other in _waits_for(shape, one), (one, other, outcome.text)


async def _outcome(agents: BenchAgents, shape: Shape) -> Any:
    return await Delegation(agents, shape.arguments).outcome()


def _waits_for(shape: Shape, name: str) -> set[str]:
    """In one step, as a path tells it: of a group also what the group depends on."""
    if name in shape.groups:
        group = shape.groups[name]
        return {*group["depends_on"], *(child["name"] for child in group["children"])}
    before = shape.before(name)
    return {*shape.leads(name), *([before] if before else [])}


def _all_below(shape: Shape, name: str) -> set[str]:
    """Itself, and whatever must be done before it."""
    found, left = {name}, [name]
    while left:
        for other in _waits_for(shape, left.pop()) - found:
            found.add(other)
            left.append(other)
    return found
