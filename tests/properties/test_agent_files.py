"""Whatever a file says of an agent: it is read or left out, and never allows more than it says."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from detent.app.agents.kinds.reading import is_name, read_kind
from detent.app.agents.kinds.record import key_of
from detent.context.head import parse_head, split_head
from detent.gate.rules import agent_key, parse_rule
from detent.gate.terms import parse_mode

FIELDS = (
    "name", "description", "tools", "disallowedTools", "model", "permissionMode", "maxTurns",
    "effort", "background", "isolation", "color", "initialPrompt", "skills", "mcpServers",
    "memory", "hooks", "prompt",
)  # fmt: skip
WORDS = st.sampled_from(
    [
        "Read",
        "Bash(git:*)",
        "Agent(a, b)",
        "*",
        "",
        "Read, Grep",
        "plan",
        "god",
        "inherit",
        "(",
        "x",
    ]
)
SCALARS = WORDS | st.text(max_size=12) | st.integers() | st.booleans() | st.none() | st.floats()
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from(FIELDS) | st.text(max_size=8), ANYTHING, max_size=8))
def test_any_values(values: dict[str, Any]) -> None:
    kind, faults = read_kind(values, name="file", prompt="p", source="user", path="f.md")
    assert all(fault.startswith("f.md: ") and "\n" not in fault for fault in faults)
    if kind is None:
        assert faults
        return
    assert is_name(kind.name) and kind.description and "\n" not in kind.description
    assert kind.max_turns >= 0
    if kind.mode:
        parse_mode(kind.mode)
    elif (said := values.get("permissionMode")) is not None:
        assert str(said).strip() == ""
    for rule in kind.disallowed_tools:
        parse_rule(rule, str)
    if kind.tools is None and (said := values.get("tools")) is not None:
        assert "*" in str(said)


@given(st.text(alphabet="-a: \n[]{}\"'|>#,", max_size=120))
def test_any_text(text: str) -> None:
    head, body = split_head(f"---\n{text}")
    if head is not None:
        values, _ = parse_head(head)
        read_kind(values, name="file", prompt=body, source="project", path="f.md")


@given(st.text(max_size=20))
def test_rules_and_names_agree_on_what_is_the_same(name: str) -> None:
    assert key_of(name) == agent_key(name)
    assert key_of(key_of(name)) == key_of(name)
