"""ToolSearch and the toolbox that holds definitions back."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import msgspec
import pytest

from detent.testing.bare_shop import BareShop
from detent.testing.memory_host import MemoryHost
from detent.tools.deferred import LONGEST_LIST, Deferred, found_in, is_much
from detent.tools.registry import Registry
from detent.types.events import CallEnded
from detent.types.messages import ToolSpec
from detent.types.outcomes import Done, Outcome, done, text_of

from .conftest import Bench
from .test_registry import Custom

SCHEMA = msgspec.Raw(b'{"type":"object","properties":{"id":{"type":"string"}}}')


def custom(name: str, description: str = "") -> Custom:
    tool = Custom(name)
    tool.spec = ToolSpec(name, description, SCHEMA)
    return tool


TOOLS = [
    custom("mcp__tracker__createIssue", "Opens a ticket."),
    custom("mcp__tracker__listIssues", "Lists tickets; the newest first."),
    custom("mcp__mail__send", "Sends a letter about an issue."),
    custom("weather", "Tells how warm it will be."),
]
NAMES = [tool.spec.name for tool in TOOLS]


def box(*found: str) -> Deferred:
    return Deferred(Registry(["Read"], TOOLS), NAMES, found)


def shown(deferred: Deferred) -> list[str]:
    return [spec.name for spec in deferred.specs()]


def search(deferred: Deferred, query: str, **more: Any) -> Done:
    tool = deferred.find("ToolSearch")
    assert tool is not None
    args = tool.parse(json.dumps({"query": query, **more}))
    assert tool.effects(args, "/p") == ()
    bench = Bench(MemoryHost(), "/p")
    outcome: Outcome = asyncio.run(tool.run(args, bench.desk()))
    assert isinstance(outcome, Done)
    return outcome


def matches(query: str, **more: Any) -> list[str]:
    data = search(box(), query, **more).data
    assert data is not None and data["total_deferred_tools"] == len(TOOLS)
    return [name.removeprefix("mcp__") for name in data["matches"]]


def test_definitions_stay_out_until_they_are_found_and_come_in_that_order() -> None:
    deferred = box()
    assert shown(deferred) == ["Read", "ToolSearch"]
    search(deferred, "select:weather")
    assert shown(deferred) == ["Read", "ToolSearch", "weather"]
    search(deferred, "tracker")
    tracker = NAMES[:2]
    assert shown(deferred) == ["Read", "ToolSearch", "weather", *tracker]
    search(deferred, "select:weather")
    assert shown(deferred) == ["Read", "ToolSearch", "weather", *tracker], "no place changes"


def test_what_was_sent_before_never_changes() -> None:
    deferred = box()
    before = list(deferred.specs())
    search(deferred, "weather")
    assert list(deferred.specs())[: len(before)] == before


def test_the_description_names_what_is_held_back() -> None:
    (spec,) = [spec for spec in box("weather").specs() if spec.name == "ToolSearch"]
    assert spec.description.endswith(f"Held back: {', '.join(NAMES)}.")


def test_the_list_of_names_is_bounded() -> None:
    many = [custom(f"tool_{number:04}") for number in range(2_000)]
    deferred = Deferred(Registry([], many), [tool.spec.name for tool in many])
    (spec,) = deferred.specs()
    assert len(spec.description) < LONGEST_LIST + 500
    assert spec.description.endswith("more.")
    told = spec.description.partition("Held back: ")[2].count(", ")
    assert f"and {2_000 - told} more." in spec.description


def test_every_tool_can_be_called_found_or_not() -> None:
    deferred = box()
    assert deferred.find("weather") is TOOLS[3]
    assert deferred.find("Read") is deferred.find("read_file") is not None
    assert deferred.find("tool_search") is deferred.find("ToolSearch")
    assert deferred.find("nothing") is None


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("select:weather", ["weather"]),
        ("select:Weather, mcp__mail__send ,nothing", ["weather", "mail__send"]),
        ("select:nothing", []),
        ("issue", ["tracker__createIssue", "tracker__listIssues", "mail__send"]),
        ("warm", ["weather"]),
        ("ISSUE create", ["tracker__createIssue", "tracker__listIssues", "mail__send"]),
        ("issue letter", ["tracker__createIssue", "tracker__listIssues", "mail__send"]),
        ("+mail issue", ["mail__send"]),
        ("+nothing issue", []),
        ("+ticket", ["tracker__createIssue", "tracker__listIssues"]),
        ("xyzzy", []),
        ("+", []),
    ],
)
def test_queries(query: str, found: list[str]) -> None:
    assert matches(query) == found


def test_the_number_of_results() -> None:
    assert matches("issue", max_results=1) == ["tracker__createIssue"]
    many = [custom(f"tool_{number}") for number in range(9)]
    deferred = Deferred(Registry([], many), [tool.spec.name for tool in many])
    data = search(deferred, "tool").data
    assert data is not None and len(data["matches"]) == 5


def test_the_answer_holds_the_definitions() -> None:
    text = text_of(search(box(), "weather"))
    assert text.startswith("1 of 4 tools; you can call them now.")
    assert f"## weather\nTells how warm it will be.\nArguments: {bytes(SCHEMA).decode()}" in text
    assert "No tool fits 'xyzzy'" in text_of(search(box(), "xyzzy"))


def test_a_name_that_is_none_is_told_beside_what_was_found() -> None:
    text = text_of(search(box(), "select:weather, Nope,"))
    assert text.startswith("1 of 4 tools; you can call them now. There is no tool Nope.\n")


def test_found_again_from_the_log() -> None:
    def ended(name: str, matches: Any) -> CallEnded:
        return CallEnded(call_id="c", name=name, outcome=done("", {"matches": matches}))

    entries = [
        ended("ToolSearch", ["weather"]),
        ended("Grep", ["x"]),
        ended("tool_search", [NAMES[0], "weather", "gone"]),
    ]
    deferred = box(*found_in(entries))
    assert shown(deferred) == ["Read", "ToolSearch", "weather", NAMES[0]]


def test_what_is_much() -> None:
    spec = ToolSpec("n", "d" * 399, msgspec.Raw(b""))
    assert not is_much([spec], 1_000)
    assert is_much([spec, spec], 1_000)


def test_where_nothing_is_held_back_nothing_is_found() -> None:
    bench = Bench(MemoryHost(), "/p")
    assert isinstance(bench.shop, BareShop)
    assert "No tool fits" in bench.text("ToolSearch", query="x")
