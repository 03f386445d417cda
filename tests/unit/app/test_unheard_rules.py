"""Rules of a flag that name no tool."""

from __future__ import annotations

import pytest

from detent.app.unheard import unheard


@pytest.mark.parametrize(
    "rule",
    ["Bash", "bash", "Bash(make:*)", "FileReadTool", "mcp__x__y", "mcp__x", "Task", "Mine", "*"],
)
def test_a_tool_that_there_is_or_may_be(rule: str) -> None:
    assert unheard([rule] if rule != "*" else ["mcp__*"], ["Mine"]) == []


@pytest.mark.parametrize(
    ("rule", "meant"), [("bsh", "Bash"), ("Bsh(rm:*)", "Bash"), ("WebFech(domain:x)", "WebFetch")]
)
def test_a_typing_error_is_told_with_what_was_meant(rule: str, meant: str) -> None:
    (note,) = unheard([rule], [])
    assert rule in note and f"did you mean {meant}?" in note


def test_something_else_altogether() -> None:
    assert unheard(["Frobnicate"], []) == ["the rule Frobnicate names no tool that there is"]
