"""One budget for a tree of agents, whatever the tree and however long each of them takes."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from crewbench import asked_of, crew_session
from detent.context.books import Books
from detent.sdk.session import Session
from detent.session.reading import read_log
from detent.testing.script import Call, Reply, Say, Usage
from detent.testing.scripted_model import ScriptedModel
from detent.types.agents import AgentStarted
from detent.types.budget import Budget, Spent
from detent.types.codec import encode
from detent.types.events import Entry
from detent.types.messages import Request

Tree = list[Any]
"""Of each agent: whom it sets to work, step by step. An empty step is a call of a tool."""
TREES: st.SearchStrategy[Tree] = st.recursive(
    st.lists(st.just([]), max_size=2),
    lambda below: st.lists(st.lists(below, max_size=3), max_size=3),
    max_leaves=10,
)
MOST = 400
"""Tokens of an answer."""


class Racing(ScriptedModel):
    """Speaks for each agent of a tree; how long it takes is left to chance. Prompts are paths."""

    def __init__(self, tree: Tree, seed: int) -> None:
        super().__init__(self._line, repeat_last=True)
        self._steps = dict(_steps(tree, "R"))
        self._random = Random(seed)
        self._said: dict[str, int] = {}
        self.used, self.most_at_once, self.largest = 0, 0, 0
        self._at_once = 0

    def _line(self, request: Request) -> Reply:
        path = asked_of(request)
        number = self._said[path] = self._said.get(path, 0) + 1
        steps = self._steps.get(path, [])
        frame = len(encode((request.system, list(request.tools), list(request.messages))))
        most = min(MOST, request.max_output or MOST)
        usage = Usage(frame // self._random.randint(3, 9), self._random.randint(1, most))
        if number > len(steps):
            return Reply((Say("done"),), usage=usage)
        below = [f"{path}.{number}.{index}" for index in range(steps[number - 1])]
        calls = tuple(_agent(one) for one in below) or (Call("Bash", {"command": "true"}),)
        return Reply(calls, usage=usage)

    async def stream(self, request: Request, deltas: Any) -> Any:
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            for _ in range(self._random.randint(0, 12)):
                await asyncio.sleep(0)
            reply = await super().stream(request, deltas)
            self.used += reply.usage.total
            self.largest = max(self.largest, reply.usage.total)
            return reply
        finally:
            self._at_once -= 1


def _agent(path: str) -> Call:
    return Call("Agent", {"description": path, "prompt": path})


def _steps(tree: Tree, path: str) -> Iterator[tuple[str, list[int]]]:
    yield path, [len(step) for step in tree]
    for number, step in enumerate(tree, 1):
        for index, below in enumerate(step):
            yield from _steps(below, f"{path}.{number}.{index}")


async def played(folder: Path, model: Racing, **given: Any) -> Session:
    session = crew_session(folder, model, permission_mode="plan", max_turns=0, **given)
    async with session:
        await asyncio.wait_for(session.run_turn("R"), 60)
    return session


def run(model: Racing, **given: Any) -> tuple[Session, list[Entry]]:
    """The session, and what all of its logs say."""
    with tempfile.TemporaryDirectory() as folder:
        session = asyncio.run(played(Path(folder), model, **given))
        below = (Path(session.path).with_suffix("") / "agents").glob("*.jsonl")
        logs = [read_log(str(path)).entries for path in (session.path, *below)]
        booked = sum((_own(session, entries) for entries in logs), Spent())
        assert booked.usage.total == model.used
        return session, [entry for entries in logs for entry in entries]


def _own(session: Session, entries: Any) -> Spent:
    """What one of them has spent itself."""
    by = Books(session.price).read(entries).spending()
    return sum((spent for what, spent in by.items() if what != "subagents"), Spent())


def check_books(session: Session, model: Racing) -> None:
    total = sum(session.spending().values(), Spent())
    assert session.spent.usage.total == total.usage.total == model.used
    assert replace(session.spent, seconds=0.0) == replace(total, seconds=0.0)


@settings(max_examples=25, deadline=None)
@given(TREES, st.integers(0, 2**32), st.integers(20_000, 120_000))
def test_a_strict_budget_is_never_passed(tree: Tree, seed: int, tokens: int) -> None:
    model = Racing(tree, seed)
    session, _ = run(model, budget=Budget(tokens=tokens, strict=True))
    assert model.used <= tokens
    check_books(session, model)


@settings(max_examples=25, deadline=None)
@given(TREES, st.integers(0, 2**32), st.integers(1, 60_000))
def test_any_other_is_passed_by_what_is_in_flight_at_most(
    tree: Tree, seed: int, tokens: int
) -> None:
    model = Racing(tree, seed)
    session, _ = run(model, budget=Budget(tokens=tokens))
    assert model.used <= tokens + model.most_at_once * model.largest
    check_books(session, model)


@settings(max_examples=25, deadline=None)
@given(TREES, st.integers(0, 2**32), st.integers(1, 6), st.integers(1, 12))
def test_numbers_of_tasks_and_of_requests_are_kept_to_the_last_one(
    tree: Tree, seed: int, delegations: int, requests: int
) -> None:
    model = Racing(tree, seed)
    session, entries = run(model, budget=Budget(delegations=delegations, requests=requests))
    started = sum(isinstance(entry, AgentStarted) for entry in entries)
    assert started == session.spent.delegations <= delegations
    assert len(model.requests) == session.spent.requests <= requests
    check_books(session, model)


@settings(max_examples=15, deadline=None)
@given(TREES, st.integers(0, 2**32), st.sampled_from(["equal", 0.25]))
def test_shares_are_part_of_the_whole(tree: Tree, seed: int, way: object) -> None:
    model = Racing(tree, seed)
    session, _ = run(
        model,
        budget=Budget(tokens=300_000, strict=True),
        settings={"budget": {"distribution": way}},
    )
    assert model.used <= 300_000
    check_books(session, model)
