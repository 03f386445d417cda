"""The agents of a session as people see them: states, groups, amounts; in any terminal."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from detent.sdk.agents_tree import AgentNode, AgentTree
from detent.session.facts import SessionCard
from detent.surfaces.tables.agent_tree import FINE, PLAIN, agent_lines, brush_for, tree_lines
from detent.surfaces.tables.widths import width_of
from detent.types.agents import AgentRecord, GroupEnded
from detent.types.budget import Spent
from detent.types.usage import Usage

COST = Spent(usage=Usage(1_000, 234), dollars=0.0123, seconds=5.0)
CARD = SessionCard("0b4cf9a2-7c1e", "/h/s", "/p", 1000.0, "fix it", 2, 900.0)


def node(state: Any = "completed", *below: AgentNode, **given_: Any) -> AgentNode:
    groups, trouble = given_.pop("groups", ()), given_.pop("trouble", "")
    fields = {"agent": "a1", "kind": "explore", "description": "Look", "turns": 3, "tool_calls": 1,
              "spent": COST, "ms": 4_200, **given_}  # fmt: skip
    return AgentNode(AgentRecord(state=state, **fields), below, groups, trouble)


def tree(*nodes: AgentNode, **given_: Any) -> AgentTree:
    return AgentTree(CARD, 2, 1, COST, nodes, **given_)


AMOUNTS = "3 steps · 1 call · 1,234 tokens · $0.0123 · 4.2 s"


def test_a_tree_with_all_that_there_may_be() -> None:
    ended = GroupEnded(
        group="c/g1", call_id="c", completed=1, failed=1, skipped=1, batches=2, largest_batch=3,
        ms=125_000,
    )  # fmt: skip
    nobody = GroupEnded(group="c/g3", call_id="c", failed=2, batches=1, largest_batch=2)
    lines = tree_lines(
        tree(
            node(name="scout"),
            node("failed", agent="b", group_id="c/g1", child_index=1, stop_reason="api_error",
                 error="the server\nis gone"),
            node("completed", node("running", agent="d", name="Look"), agent="c", group_id="c/g1"),
            node("skipped", agent="e", group_id="c/g1", child_index=2, stop_reason="Look"),
            node("stopped", agent="f", group_id="g2"),
            node("interrupted", agent="h", kind="", description="", trouble="its log is gone"),
            groups=(ended, nobody),
        ),
        0,
    )  # fmt: skip
    assert list(lines) == [
        "0b4cf9a2  fix it · 2 steps · 1 call · 1,234 tokens · $0.0123 · 5.0 s",
        f"├─ ✓ explore  Look (scout) · {AMOUNTS}",
        "├─ group g1 (parallel) · 1 completed · 1 failed · 1 skipped"
        " · 2 batches, the largest 3 · 2 min 5 s",
        f"│  ├─ ✓ [0] explore  Look · {AMOUNTS}",
        f"│  │  └─ ▶ explore  Look · running · {AMOUNTS.removesuffix(' · 4.2 s')}",
        f"│  ├─ ✗ [1] explore  Look · failed: api_error · {AMOUNTS}",
        "│  │     (the server is gone)",
        "│  └─ - [2] explore  Look · skipped: Look",
        "├─ group g2 · not ended",
        f"│  └─ ■ [0] explore  Look · stopped · {AMOUNTS}",
        f"├─ ! ? · interrupted · {AMOUNTS}",
        "│     (its log is gone)",
        "└─ group g3 (parallel) · 0 completed · 2 failed · 1 batch, the largest 2 · 0.0 s",
    ]


def test_a_session_without_agents_and_a_damaged_one() -> None:
    assert list(tree_lines(tree(trouble="1 line of its log cannot be read"), 0))[1:] == [
        "(1 line of its log cannot be read)",
        "No agents have worked for it.",
    ]


def test_a_price_that_nobody_knows_is_not_nothing() -> None:
    (line,) = agent_lines([node(spent=Spent(usage=Usage(5), unpriced=5))])
    assert "5 tokens · price unknown" in line


@pytest.mark.parametrize("encoding", ["utf-8", "UTF8", "utf-16"])
def test_lines_are_drawn_where_they_can_be_shown(encoding: str) -> None:
    assert brush_for(encoding) is FINE


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp437", ""])
def test_else_they_are_plain(encoding: str) -> None:
    brush = brush_for(encoding)
    assert brush is PLAIN
    states = ("completed", "failed", "stopped", "interrupted", "skipped", "running")
    nodes = [node(state, node(), group_id="g") for state in states]
    text = "\n".join(tree_lines(tree(*nodes, node()), 0, brush))
    assert text.isascii()
    assert len({brush.marks[state] for state in states}) == len(states)


def test_where_there_is_little_room_what_it_is_about_gives_way_first() -> None:
    (line,) = agent_lines([node(description="a very long description " * 5)], width=80)
    assert line.endswith(AMOUNTS) and "…" in line and width_of(line) == 80
    (line,) = agent_lines([node(description="a very long description " * 5)], width=30)
    assert line.startswith("└─ ✓ explore  ") and width_of(line) <= 30


TEXTS = st.text(st.sampled_from("ab \n\t\x1b\x07\u202e日本é\u0301—│"), max_size=30)
NODES = st.recursive(
    st.builds(node, description=TEXTS, name=TEXTS, kind=TEXTS, stop_reason=TEXTS, error=TEXTS),
    lambda below: st.builds(
        node, st.sampled_from(("failed", "running")), below, below, group_id=TEXTS, trouble=TEXTS
    ),
    max_leaves=6,
)


@given(st.lists(NODES, max_size=3), st.integers(1, 100), st.sampled_from((FINE, PLAIN)))
def test_no_line_is_wider_than_the_terminal_or_obeyed_by_it(
    nodes: list[AgentNode], width: int, brush: Any
) -> None:
    for line in agent_lines(nodes, width=width, brush=brush):
        assert width_of(line) <= width
        assert not set(line) & set("\n\t\x1b\x07\u202e")
