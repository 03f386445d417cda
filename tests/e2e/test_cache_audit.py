"""Thirty steps on the Messages wire, as the provider's cache sees them."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest

from detent.testing import call, reply

from .conftest import Runner

LOOKBACK = 20
"""How many blocks the provider looks back from a mark."""


@pytest.fixture
def wire() -> str:
    return "anthropic"


def places(request: dict[str, Any]) -> list[int]:
    """At which blocks the marks stand: tools, then system, then messages, counted through."""
    blocks = [*request["tools"], *request["system"]]
    for message in request["messages"]:
        blocks += message["content"]
    return [number for number, block in enumerate(blocks) if "cache_control" in block]


def unmarked(request: dict[str, Any]) -> str:
    def strip(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: strip(each) for key, each in value.items() if key != "cache_control"}
        return [strip(each) for each in value] if isinstance(value, list) else value

    return json.dumps(strip({key: request[key] for key in ("tools", "system", "messages")}))


def test_thirty_steps(runner: Runner) -> None:
    (runner.work / "a.txt").write_text("alpha\n")
    many = [call("Read", {"file_path": str(runner.work / "a.txt")}) for _ in range(12)]
    steps = [reply("Reading.", *many[: 1 + number % 12]) for number in range(29)]
    runner.serve(*steps, "done")
    ran = runner.prompt("read", "--max-turns", "40")
    assert ran.code == 0, ran
    requests = [request.json for request in runner.requests]
    assert len(requests) == 30
    for request in requests:
        assert 2 <= len(places(request)) <= 4
    for before, after in pairwise(requests):
        assert unmarked(after).startswith(unmarked(before)[:-2]), "the prefix has changed"
        # What the last request wrote into the cache is found again, however much came since.
        end = places(before)[-1]
        assert any(0 <= mark - end < LOOKBACK for mark in places(after))
        assert end in places(after)
