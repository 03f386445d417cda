"""What a graph may look like, how models write it, and what is said of one that cannot be."""

from __future__ import annotations

import json
from typing import Any

import pytest

from crewbench import in_loop
from delegationbench import BenchAgents, Delegation
from detent.ports import BadArguments
from detent.tools.delegation.arguments import Child, DelegateAgentArgs, Group
from detent.tools.delegation.delegate_agent import DelegateAgent
from detent.tools.delegation.graph import MOST, BadGraph, planned
from detent.tools.registry import built_in
from detent.types.outcomes import Failed

TOOL = DelegateAgent(built_in("delegate_agent"))


def parsed(**arguments: Any) -> DelegateAgentArgs:
    return TOOL.parse(json.dumps(arguments))


def fault(*groups: dict[str, Any], **more: Any) -> str:
    with pytest.raises(BadGraph) as caught:
        planned(parsed(groups=list(groups), **more))
    return str(caught.value)


def group(name: str, depends_on: list[str] | None = None, **children: list[str]) -> dict[str, Any]:
    """Children by name, each with what it depends on."""
    listed = [{"name": n, "prompt": "p", "depends_on": d} for n, d in children.items()]
    return {"name": name, "depends_on": depends_on or [], "children": listed}


ONE = (Group([Child("x")]),)
TWO = Group([Child("x"), Child("y")])


@pytest.mark.parametrize(
    ("given", "groups"),
    [
        ({"prompt": "x"}, ONE),
        ({"task": "x"}, ONE),
        ({"children": ["x"]}, ONE),
        ({"subtasks": [{"task": "x"}]}, ONE),
        ({"tasks": '[{"prompt": "x", "model": null}]'}, ONE),
        ({"groups": [{"subtasks": [{"prompt": "x"}]}]}, ONE),
        ({"groups": {"children": ["x"]}}, ONE),
        ({"groups": '[{"children": [{"prompt": "x", "isolation": "none"}]}]'}, ONE),
        ({"groups": {"g": {"tasks": ["x"]}}}, (Group([Child("x")], name="g"),)),
        ({"children": {"n": "x"}}, (Group([Child("x", name="n")]),)),
        ({"groups": [["x", "y"]]}, (TWO,)),
        (
            {"tasks": [{"id": 1, "task": "x"}, {"id": 2, "task": " y\n", "depends_on": [1]}]},
            (Group([Child("x", name="1"), Child("y", name="2", depends_on=["1"])]),),
        ),
        (
            {"groups": [{"id": 7, "children": [{"prompt": "x", "depends_on": 3}]}]},
            (Group([Child("x", depends_on=["3"])], name="7"),),
        ),
        (
            {"children": ["x", "y"], "strategy": "serial", "max_failures": "1"},
            (Group(TWO.children, strategy="serial", max_failures=1),),
        ),
        (
            {"children": [{"id": "n", "instructions": "x", "dependsOn": "m", "agent": "k"}]},
            (Group([Child("x", name="n", depends_on=["m"], subagent_type="k")]),),
        ),
        (
            {"prompt": "x", "subagent_type": "k", "max_turns": 2, "resume_session_id": "s"},
            (Group([Child("x", subagent_type="k", max_turns=2, resume_session_id="s")]),),
        ),
    ],
)
def test_as_models_write_it(given: dict[str, Any], groups: tuple[Group, ...]) -> None:
    assert parsed(**given).groups == groups


def test_what_does_not_fit_is_named() -> None:
    for given, named in (
        ({"groups": [{"children": []}]}, "groups[0].children"),
        ({"groups": [{"children": [{"name": "a"}]}]}, "`prompt` is missing"),
        ({"groups": [{"children": ["x"], "strategy": "random"}]}, "strategy"),
        ({"groups": 3}, "groups"),
        ({"children": [3]}, "groups[0].children[0]"),
    ):
        with pytest.raises(BadArguments, match="delegate_agent: ") as caught:
            parsed(**given)
        assert named in str(caught.value)


def test_names_where_none_are_given() -> None:
    plan = planned(
        parsed(
            groups=[
                {"children": ["a", {"prompt": "b", "name": " child-3 "}, "c"]},
                {"children": ["d"]},
            ]
        )
    )
    assert [child.name for child in plan.children] == ["child-1", "child-3", "child-3'", "child-4"]
    assert [group.name for group in plan.groups] == ["group-1", "group-2"]


def test_nothing_to_do() -> None:
    assert fault() == "there is nothing to delegate: give `groups` with `children`."


def test_too_many() -> None:
    many = {"children": ["x"] * (MOST + 1)}
    assert fault(many) == f"{MOST + 1} children are too many for one call: at most {MOST}."


def test_double_and_unknown_names_are_all_named() -> None:
    said = fault(group("g", ["h"], a=["b", "x y"], g=[]), group("k", a=[], c=["C"]))
    assert said == (
        "each child and each group needs a name of its own: `a`, `g` is double. "
        "group `g` depends on `h`, which is not there. "
        "`a` depends on `b`, `x y`, which is not there. "
        "`c` depends on `C`, which is not there. "
        "There are `g`, `k`, `a`, `c`."
    )


@pytest.mark.parametrize(
    ("groups", "path"),
    [
        ([group("g", a=["a"])], "`a` → `a`"),
        ([group("g", a=["b"], b=["c"], c=["a"], d=["a"])], "`a` → `b` → `c` → `a`"),
        ([group("g", a=["g"], b=[])], "`a` → group `g` → `a`"),
        ([group("g", ["g"], a=[])], "group `g` → group `g`"),
        ([group("g", ["a"], a=[])], "`a` → `a`"),
        ([group("g", ["h"], a=[]), group("h", ["g"], b=[])], "group `g` → group `h` → group `g`"),
        ([group("g", ["b"], a=[]), group("h", b=["a"])], "`a` → `b` → `a`"),
        (
            [group("g", ["h"], a=[]), group("h", b=["c"], c=["g"])],
            "`c` → group `g` → group `h` → `c`",
        ),
        ([{**group("g", a=["c"], b=[], c=[]), "strategy": "serial"}], "`a` → `c` → `b` → `a`"),
    ],
)
def test_a_cycle_is_named_as_a_path(groups: list[dict[str, Any]], path: str) -> None:
    said = fault(*groups)
    assert said.startswith("these wait for each other, each for the next: ")
    steps = said.removesuffix(".").split(": ", 1)[1].split(" → ")
    wanted = path.split(" → ")
    assert steps[0] == steps[-1]
    turned = [steps[n:-1] + steps[:n] for n in range(len(steps) - 1)]
    assert wanted[:-1] in turned, said


@in_loop
async def test_nothing_begins_where_something_is_wrong() -> None:
    agents = BenchAgents()
    call = Delegation(agents, {"groups": [group("g", a=[], b=["c"], c=["b"])]})
    outcome = await call.outcome()
    assert isinstance(outcome, Failed)
    assert outcome.text.startswith("delegate_agent: these wait for each other")
    assert not agents.given and not agents.groups
