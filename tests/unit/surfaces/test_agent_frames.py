"""Events of subagents as frames for hosts."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from detent.surfaces.headless.agent_frames import LONGEST, AgentFrames
from detent.types.agents import AgentEnded, AgentStarted, State
from detent.types.budget import Spent
from detent.types.content import Call, Text, Thinking
from detent.types.events import (
    CallEnded,
    Compacted,
    Event,
    Nested,
    Notice,
    Prompted,
    Replied,
    TextDelta,
    TurnEnded,
)
from detent.types.outcomes import done
from detent.types.usage import Usage


def frames(*, forwards_text: bool = False, folder: str = "/logs") -> AgentFrames:
    numbers = itertools.count(1)
    new_id = lambda: f"id-{next(numbers)}"  # noqa: E731
    return AgentFrames("s", new_id, folder, forwards_text=forwards_text)


def started(agent: str = "a", call: str = "toolu_a", **more: Any) -> AgentStarted:
    given = {"kind": "Explore", "description": "look around", "at": 100.0}
    return AgentStarted(agent=agent, call_id=call, **{**given, **more})


def said(*blocks: Any, at: float = 101.5) -> Replied:
    usage = Usage(input=90, output=10)
    return Replied(
        turn=1, step=1, model="m", content=blocks, stop="tool_use", usage=usage, seq=7, at=at
    )


def ended(state: State, **more: Any) -> AgentEnded:
    spent = Spent(usage=Usage(input=90, output=10))
    return AgentEnded(agent="a", state=state, spent=spent, calls=2, ms=1500, at=103.0, **more)


def result(call: str) -> CallEnded:
    return CallEnded(call_id=call, name="Read", outcome=done(f"of {call}"), seq=9)


def shown(made: AgentFrames, *events: Event) -> list[dict[str, Any]]:
    return [frame for event in events for frame in made.of(event)]


@pytest.mark.parametrize(
    ("state", "status", "patched"),
    [
        ("completed", "completed", "completed"),
        ("failed", "failed", "failed"),
        ("stopped", "stopped", "killed"),
        ("interrupted", "stopped", "killed"),
        ("skipped", "stopped", "killed"),
    ],
)
def test_every_end_is_one_that_hosts_know(state: State, status: str, patched: str) -> None:
    _, updated, told = shown(frames(), started(), ended(state, error="it broke"))
    assert updated["patch"] == {"status": patched, "end_time": 103_000, "error": "it broke"}
    assert told["status"] == status and told["summary"] == "it broke"
    assert told["usage"] == {"total_tokens": 100, "tool_uses": 2, "duration_ms": 1500}
    assert told["output_file"] == "/logs/a.jsonl"


def test_an_end_always_says_something_and_not_too_much() -> None:
    (*_, told) = shown(frames(folder=""), started(), ended("stopped"))
    assert told["summary"] == "look around: stopped" and told["output_file"] == ""
    (*_, told) = shown(frames(), started(), ended("completed", answer="x \n y" * 400))
    assert len(told["summary"]) == LONGEST and "\n" not in told["summary"]


def test_progress_comes_with_each_answer_that_calls() -> None:
    made = frames()
    calls = (Call("1", "Read", "{}"), Call("2", "Grep", "{}"))
    inner = [said(*calls), said(Text("done"))]
    tasks = [
        frame
        for frame in shown(made, started(), *(Nested("a", event) for event in inner))
        if frame["type"] == "system"
    ]
    assert [frame["subtype"] for frame in tasks] == ["task_started", "task_progress"]
    assert tasks[1]["last_tool_name"] == "Grep"
    assert tasks[1]["usage"] == {"total_tokens": 100, "tool_uses": 2, "duration_ms": 1500}


def test_results_come_in_the_order_of_the_calls_of_each_agent() -> None:
    made = frames()
    told = shown(
        made,
        started("a", "toolu_a"),
        started("b", "toolu_b"),
        Nested("a", said(Call("1", "Read", "{}"), Call("2", "Read", "{}"))),
        Nested("b", said(Call("3", "Read", "{}"))),
        Nested("a", result("2")),
        Nested("b", result("3")),
        Nested("a", result("1")),
    )
    results = [
        (frame["message"]["content"][0]["tool_use_id"], frame["parent_tool_use_id"])
        for frame in told
        if frame["type"] == "user"
    ]
    assert results == [("3", "toolu_b"), ("1", "toolu_a"), ("2", "toolu_a")]


def test_a_call_that_was_cut_off_has_a_result() -> None:
    made = frames()
    cut = TurnEnded(turn=1, reason="user_cancelled")
    told = shown(
        made, started(), Nested("a", said(Call("1", "Read", "{}"))), Nested("a", cut)
    )  # fmt: skip
    assert told[-1]["message"]["content"][0]["tool_use_id"] == "1"
    assert told[-1]["parent_tool_use_id"] == "toolu_a"


def test_thoughts_and_words_only_where_they_are_wanted() -> None:
    words = Nested("a", said(Thinking("hm", "sig"), Text("I look")))
    prompt = Nested("a", Prompted(turn=1, content=(Text("do it"),)))
    assert shown(frames(), started(), prompt, words)[1:] == []
    told = shown(frames(forwards_text=True), started(), prompt, words)[1:]
    assert [frame["type"] for frame in told] == ["user", "assistant"]
    assert [block["type"] for block in told[1]["message"]["content"]] == ["thinking", "text"]
    assert all(frame["parent_tool_use_id"] == "toolu_a" for frame in told)


def test_what_is_no_matter_of_the_session_is_not_taken_for_one() -> None:
    """A host would think that the session itself was compacted, or speaks."""
    inner = [Compacted(summary="s", keeps_from=1), Notice("x", "warning"), TextDelta(0, "x")]
    told = shown(frames(forwards_text=True), started(), *(Nested("a", one) for one in inner))
    assert len(told) == 1


def test_of_somebody_unknown_nothing_is_told() -> None:
    assert shown(frames(), Nested("x", said(Call("1", "Read", "{}"))), ended("completed")) == []


def test_every_frame_has_a_name_of_its_own() -> None:
    events = [Nested("a", said(Call("1", "Read", "{}"))), Nested("a", result("1"))]
    told = shown(frames(), started(), *events, ended("completed"))
    assert len({frame["uuid"] for frame in told}) == len(told) == 6
    assert {frame["session_id"] for frame in told} == {"s"}


def test_a_child_of_a_child() -> None:
    made = frames()
    told = shown(
        made,
        started("a", "toolu_a"),
        Nested("a", started("b", "toolu_b", depth=2)),
        Nested("a", Nested("b", said(Call("1", "Read", "{}")))),
    )
    assert told[1]["tool_use_id"] == "toolu_b" and told[1]["subtype"] == "task_started"
    assert told[2]["parent_tool_use_id"] == "toolu_b"
    assert made.call_of(Nested("a", Nested("b", Notice("x")))) == "toolu_b"
    assert made.call_of(Notice("x")) is None
