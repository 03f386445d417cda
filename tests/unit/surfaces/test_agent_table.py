"""The table of agents: columns, what is cut, what is not used."""

from __future__ import annotations

from detent.sdk.agents import AgentKind, Agents
from detent.surfaces.tables.agent_table import agent_lines, told_in_full
from detent.surfaces.tables.widths import width_of

PLAIN = AgentKind(name="plain", description="Does it.")
WIDE = AgentKind(
    name="评审者",
    description="long " * 50,
    model="house/m",
    tools=("Read", "Grep"),
    disallowed_tools=("Bash(rm:*)",),
    source="user",
    path="/home/me/.claude/agents/a.md",
)
NONE = AgentKind(name="none", description="d", tools=(), source="project", path="/p/a.md")


def test_columns() -> None:
    lines = [*agent_lines(Agents((PLAIN, WIDE)), 100)]
    assert lines == [
        "name    source    model    tools",
        "plain   built-in  inherit  all",
        "  Does it.",
        "评审者  user      house/m  Read, Grep, but not Bash(rm:*)",
        f"  {('long ' * 50)[:97]}…",
    ]


def test_no_line_is_wider_than_the_terminal() -> None:
    found = Agents((PLAIN, WIDE), (NONE,))
    for width in (20, 40, 80):
        assert all(width_of(line) <= width for line in agent_lines(found, width))
    assert max(width_of(line) for line in agent_lines(found, 0)) > 200, "no terminal, no limit"


def test_those_that_are_not_used_and_notices() -> None:
    found = Agents((PLAIN,), (NONE, PLAIN), ("one\x1b[2J\nmore",))
    assert [*agent_lines(found, 100)][3:] == [
        "none   project   inherit  none",
        "  not used, there is another of this name: /p/a.md",
        "plain  built-in  inherit  all",
        "  not used, there is another of this name",
        "Note: one<U+001B>[2J\nmore",
    ]


def test_one_in_full() -> None:
    kind = AgentKind(
        name="a", description="d", prompt="Do\nit.", mode="plan", max_turns=3, background=True,
        hooks={"Stop": []}, mcp_servers=("m", {"n": {}}), may_start=("b",), skills=("s",),
        isolation="worktree", reads_only=True,
    )  # fmt: skip
    assert [*told_in_full(kind)] == [
        "name          a",
        "source        built-in",
        "description   d",
        "model         inherit",
        "tools         all",
        "may start     b",
        "mode          plan",
        "reads only    yes",
        "max turns     3",
        "background    yes",
        "isolation     worktree",
        "skills        s",
        "hooks         Stop",
        "servers       m, n",
        "",
        "Do\nit.",
    ]
    assert [*told_in_full(PLAIN)][-1] == "It has the prompt of whoever starts it."
