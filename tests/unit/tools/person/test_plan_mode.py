"""EnterPlanMode and ExitPlanMode."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from detent.ports import BadArguments
from detent.types.effects import Asks
from detent.types.outcomes import Done, text_of

from ..conftest import Bench

Memory = Callable[..., Bench]


def leave(bench: Bench, written: str = "1. do it", **answer: Any) -> Done:
    tool = bench.registry.find("ExitPlanMode")
    assert tool is not None
    args = tool.parse(json.dumps({"plan": written, "mode": "acceptEdits", **answer}))
    assert tool.effects(args, "/p") == (Asks(leaves="plan"),)
    assert tool.moves(args), "later calls are judged in the new mode"
    outcome = asyncio.run(tool.run(args, replace(bench.desk(), answer=answer)))
    assert isinstance(outcome, Done)
    return outcome


def test_entering(memory: Memory) -> None:
    bench = memory()
    tool = bench.registry.find("EnterPlanMode")
    assert tool is not None
    args = tool.parse("")
    assert tool.effects(args, "/p") == ()
    assert tool.moves(args)
    assert "plan mode now" in bench.text("EnterPlanMode")
    assert bench.shop.mode == "plan"


def test_leaving_for_the_mode_before_whatever_the_model_wishes(memory: Memory) -> None:
    bench = memory()
    bench.shop.mode = "plan"
    outcome = leave(bench)
    assert text_of(outcome) == "The plan was approved. You are in default mode now: go on."
    assert outcome.data == {"plan": "1. do it", "filePath": None}
    assert bench.shop.mode == "default"


@pytest.mark.parametrize(
    ("wanted", "mode"),
    [("acceptEdits", "acceptEdits"), ("default", "default"), ("bypassPermissions", "default")],
)
def test_the_person_may_choose_the_mode(memory: Memory, wanted: str, mode: str) -> None:
    bench = memory()
    assert f"You are in {mode} mode" in text_of(leave(bench, mode=wanted))
    assert bench.shop.mode == mode


def test_a_plan_that_the_person_has_changed(memory: Memory) -> None:
    outcome = leave(memory(), "1. do it\n   - well")
    assert "changed" not in text_of(outcome)
    outcome = leave(memory(), plan="1. do it\n   - slowly")
    assert text_of(outcome).endswith("the plan to follow:\n\n1. do it\n   - slowly")


def test_a_plan_is_needed(memory: Memory) -> None:
    for arguments in ({}, {"plan": ""}):
        with pytest.raises(BadArguments, match="plan"):
            memory().call("ExitPlanMode", **arguments)
