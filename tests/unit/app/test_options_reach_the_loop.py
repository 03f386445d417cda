"""Options and settings arrive where they act."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from detent.app.options import Options
from detent.app.wire import assemble
from detent.testing.scripted_model import ScriptedModel
from detent.types.budget import Budget
from detent.types.errors import BadInput


def kit(tmp_path: Path, settings: dict[str, Any] | None = None, **options: Any) -> Any:
    environ = {"HOME": str(tmp_path), **options.pop("environ", {})}
    return assemble(
        Options(
            model=ScriptedModel("hi"),
            cwd=str(tmp_path),
            environ=environ,
            settings=settings,
            persist=False,
            **options,
        )
    ).kit


@pytest.mark.parametrize(
    ("option", "value", "limit"),
    [
        ("max_turns", 3, "steps"),
        ("max_seconds", 6.5, "seconds"),
        ("max_output_tokens", 7, "output"),
        ("max_tool_concurrency", 1, "concurrency"),
    ],
)
def test_limits(tmp_path: Path, option: str, value: float, limit: str) -> None:
    assert getattr(kit(tmp_path, **{option: value}).limits, limit) == value


@pytest.mark.parametrize(
    ("option", "value", "limit"),
    [("max_tool_calls", 4, "calls"), ("max_tokens", 5, "tokens")],
)
def test_budgets(tmp_path: Path, option: str, value: float, limit: str) -> None:
    assert getattr(kit(tmp_path, **{option: value}).account.budget, limit) == value


@pytest.mark.parametrize("option", ["max_turns", "max_tokens", "max_tool_calls", "max_seconds"])
def test_zero_and_none_are_no_limit(tmp_path: Path, option: str) -> None:
    none, zero = kit(tmp_path), kit(tmp_path, **{option: 0})
    assert none.limits == zero.limits
    assert none.account.budget == zero.account.budget == Budget()
    assert none.limits.steps is None


def test_settings_and_their_precedence(tmp_path: Path) -> None:
    settings = {
        "maxTurns": 9,
        "maxToolConcurrency": 2,
        "streamingToolExecution": False,
        "reactiveCompact": False,
    }
    made = kit(tmp_path, settings)
    assert (made.limits.steps, made.limits.concurrency, made.limits.early_calls) == (9, 2, False)
    assert made.shaping.reactive is False
    limits = kit(tmp_path, settings, max_turns=1, max_tool_concurrency=5).limits
    assert (limits.steps, limits.concurrency) == (1, 5)


def test_settings_in_another_spelling(tmp_path: Path) -> None:
    settings = {"max_tool_concurrency": 1, "tool_gate_order": "permission_first", "max_turns": 3}
    made = kit(tmp_path, settings)
    assert (made.limits.concurrency, made.limits.steps) == (1, 3)
    assert made.gate._hooks_first is False  # type: ignore[attr-defined]
    both = {"max_tool_concurrency": 1, "maxToolConcurrency": 4}
    assert kit(tmp_path, both).limits.concurrency == 4


@pytest.mark.parametrize(
    ("text", "threshold"), [("100", 100), ("0", None), ("x", None), ("", None)]
)
def test_the_compaction_threshold_of_the_environment(
    tmp_path: Path, text: str, threshold: int | None
) -> None:
    environ = {"CLAUDE_CODE_AUTO_COMPACT_INPUT_TOKENS": text}
    assert kit(tmp_path, environ=environ).shaping.cumulative == threshold
    assert kit(tmp_path, environ=environ, auto_compact_input_tokens=7).shaping.cumulative == 7


def test_prompt_and_tools_are_counted_before_the_first_answer(tmp_path: Path) -> None:
    made = kit(tmp_path)
    assert made.conversation.base > 1_000
    assert made.conversation.tokens() == made.conversation.base
    alone = kit(tmp_path, tools=[])
    assert 0 < alone.conversation.base < made.conversation.base


def test_the_trace_reaches_the_loop(tmp_path: Path) -> None:
    seen: list[str] = []
    kit(tmp_path, trace=lambda stage, what: seen.append(stage)).trace("Input", "")
    assert seen == ["Input"]


def test_a_budget_in_dollars_needs_a_price(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="price"):
        kit(tmp_path, max_budget_usd=1.0)


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        ({}, ("# How to work", "# Surroundings")),
        ({"system_prompt": "Mine."}, ("Mine.", "# Surroundings")),
        ({"system_prompt": ""}, ("# Surroundings",)),
        ({"append_system_prompt": "And this."}, ("# How to work", "And this.")),
    ],
)
def test_the_prompt_is_replaced_or_added_to(
    tmp_path: Path, options: dict[str, str], parts: tuple[str, ...]
) -> None:
    text = "\n".join(kit(tmp_path, **options).system)
    positions = [text.find(part) for part in parts]
    assert -1 not in positions
    assert positions == sorted(positions)
    assert ("# How to work" in text) == ("system_prompt" not in options)


def test_an_override_replaces_everything(tmp_path: Path) -> None:
    assert kit(tmp_path, override_system_prompt="Only this.").system == ("Only this.",)
