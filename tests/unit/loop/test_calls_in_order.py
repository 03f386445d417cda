"""Calls that act run in the order of the answer, whichever of them is whole first."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest

from detent.ports import Answer, DeltaSink, Desk
from detent.testing import call, reply
from detent.types.content import Call, Text
from detent.types.deltas import CallReady
from detent.types.events import CallDelta, CallStarted
from detent.types.messages import Reply, Request
from detent.types.usage import Usage
from kitbench import WRITES, Approving, Bench, BenchTool, bench


def acting(name: str, moves: bool = False) -> BenchTool:
    async def body(args: dict[str, Any], desk: Desk) -> str:
        return f"{name} {sorted(desk.answer.items())}"

    tool = BenchTool(name, body, effects=WRITES)
    tool.moves = lambda args: moves  # type: ignore[method-assign]
    return tool


def ran(b: Bench) -> list[str]:
    return [started.name for started in b.of(CallStarted)]


@pytest.mark.parametrize("raw", ["", "{}"])
def test_a_call_without_arguments_keeps_its_place(raw: str) -> None:
    tools = [acting("one"), acting("two"), acting("three")]
    b = bench(
        reply(call("one", raw=raw), call("two", n=1), call("three", raw=raw)), "ok", tools=tools
    )
    b.run()
    assert ran(b) == ["one", "two", "three"]


class Interleaving:
    """Its calls arrive side by side and become whole in some order."""

    name, window, max_output = "m", 200_000, 1_000

    def __init__(self, order: tuple[int, ...], arguments: str) -> None:
        self._order = order
        self._calls = [Call(f"c{n}", name, arguments) for n, name in enumerate(("a", "b", "c"))]
        self._spoken = False

    async def stream(self, request: Request, deltas: DeltaSink) -> Reply:
        if self._spoken:
            return Reply((Text("ok"),), "end_turn", Usage(), "m")
        self._spoken = True
        for index, each in enumerate(self._calls):
            await deltas(CallDelta(index, each.id, each.name, each.arguments))
        for index in self._order:
            await deltas(CallReady(index, self._calls[index]))
        return Reply(tuple(self._calls), "tool_use", Usage(), "m")

    async def aclose(self) -> None:
        pass


@pytest.mark.parametrize("arguments", ["", '{"n":1}'])
@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_calls_side_by_side_run_in_their_order(order: tuple[int, ...], arguments: str) -> None:
    b = Bench(Interleaving(order, arguments), acting("a"), acting("b"), acting("c"))
    b.run()
    assert ran(b) == ["a", "b", "c"]


def test_a_tool_sees_what_the_person_wrote_but_not_what_the_model_did() -> None:
    person = Approving(Answer(True, arguments={"same": 1, "changed": 2, "added": 3}))
    b = bench(
        reply(call("one", same=1, changed=1)), "ok", tools=[acting("one")], mode="default",
        approver=person,
    )  # fmt: skip
    b.run()
    assert "one [('added', 3), ('changed', 2)]" in str(b.model.requests[-1].messages[-1])  # type: ignore[attr-defined]


@pytest.mark.parametrize(("allowed", "mode"), [(True, "acceptEdits"), (False, "default")])
def test_an_answer_may_change_the_mode(allowed: bool, mode: str) -> None:
    person = Approving(Answer(allowed, mode="acceptEdits"))
    b = bench(reply(call("one", n=1)), "ok", tools=[acting("one")], mode="default", approver=person)
    b.run()
    assert b.kit.desk.shop.mode == mode  # type: ignore[attr-defined]
