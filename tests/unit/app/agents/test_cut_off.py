"""Calls that had subagents at work when the agent was killed."""

from __future__ import annotations

import json
from typing import Any

from detent.app.agents.cut_off import outcome_of
from detent.types.agents import AgentEnded, AgentStarted
from detent.types.effects import Spawns
from detent.types.events import CallStarted, Entry
from detent.types.outcomes import Cut, Done, text_of
from detent.types.verdicts import Allow

GRAPH = {
    "groups": [
        {
            "name": "g",
            "children": [
                {"name": "a", "prompt": "x"},
                {"name": "b", "prompt": "y"},
                {"name": "c", "prompt": "z", "depends_on": ["b"]},
            ],
        }
    ]
}


def started(call: str, name: str, arguments: Any) -> CallStarted:
    return CallStarted(
        call_id=call,
        name=name,
        arguments=json.dumps(arguments),
        effects=(Spawns("general-purpose"),),
        verdict=Allow("mode"),
    )


def begun(agent: str, call: str, index: int = 0, group: str = "") -> AgentStarted:
    return AgentStarted(agent=agent, kind="k", call_id=call, name=agent, group=group, index=index)


def test_what_each_child_of_a_group_came_to() -> None:
    call = started("call_1", "delegate_agent", GRAPH)
    entries: list[Entry] = [
        call,
        begun("a1", "call_1", 0, "call_1/g"),
        begun("b1", "call_1", 1, "call_1/g"),
        AgentEnded(agent="a1", state="completed", answer="it is\nin the cellar"),
    ]
    outcome = outcome_of(call, entries)
    assert isinstance(outcome, Cut)
    lines = "- a: completed: it is in the cellar\n- b: interrupted (b1)\n- c: not begun"
    assert outcome.text == lines
    assert '"resume_group_id": "call_1"' in outcome.reason
    ended = AgentEnded(agent="b1", state="interrupted")
    assert outcome_of(call, [*entries, ended]) == outcome, "whether somebody has noted it or not"


def test_a_call_that_had_taken_the_group_up_tells_of_the_whole() -> None:
    first = started("call_1", "delegate_agent", GRAPH)
    second = started("call_2", "delegate_agent", {"resume_group_id": "call_1"})
    entries: list[Entry] = [
        first,
        begun("a1", "call_1", 0, "call_1/g"),
        AgentEnded(agent="a1", state="completed", answer="yes"),
        second,
        begun("b1", "call_2", 1, "call_1/g"),
    ]
    outcome = outcome_of(second, entries)
    assert isinstance(outcome, Cut)
    assert outcome.text == "- a: completed: yes\n- b: interrupted (b1)\n- c: not begun"
    assert '"resume_group_id": "call_1"' in outcome.reason


def test_one_agent() -> None:
    call = started("call_1", "Agent", {"description": "d", "prompt": "p"})
    entries: list[Entry] = [call, begun("a1", "call_1")]
    outcome = outcome_of(call, entries)
    assert isinstance(outcome, Cut) and "Agent with `resume` a1" in outcome.reason
    ended = AgentEnded(agent="a1", state="completed", answer="all is well")
    outcome = outcome_of(call, [*entries, ended])
    assert isinstance(outcome, Done) and text_of(outcome).startswith("all is well")


def test_calls_of_which_nothing_can_be_said() -> None:
    for name, arguments in (("Bash", {}), ("Agent", {}), ("delegate_agent", {"groups": "?"})):
        call = started("call_1", name, arguments)
        assert outcome_of(call, [call]) is None
