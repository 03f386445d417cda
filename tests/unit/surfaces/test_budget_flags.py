"""Budgets on the command line."""

from __future__ import annotations

from typing import Any

import pytest

from detent.surfaces.budgets import NAMES
from detent.surfaces.cli.flags import FLAGS, parse
from detent.surfaces.wishes import BUDGETS, options_from
from detent.types.budget import WORDS, Budget
from detent.types.errors import BadInput


@pytest.mark.parametrize(
    ("argv", "field", "value"),
    [
        ([], "budget", Budget()),
        (["--max-tokens", "9"], "max_tokens", 9),
        (["--max-total-tokens=9"], "max_tokens", 9),
        (["--max-tokens", "0"], "max_tokens", 0),
        (["--max-tokens", "none"], "max_tokens", 0),
        (["--max-tool-calls", "3"], "max_tool_calls", 3),
        (["--max-budget-usd", "1.5"], "max_budget_usd", 1.5),
        (["--max-input-tokens", "1"], "budget", Budget(input=1)),
        (["--max-output-tokens", "2"], "budget", Budget(output=2)),
        (["--max-reasoning-tokens", "3"], "budget", Budget(reasoning=3)),
        (["--max-model-calls", "4"], "budget", Budget(requests=4)),
        (["--max-delegated-tasks", "5"], "budget", Budget(delegations=5)),
        (["--max-session-turns", "6"], "budget", Budget(turns=6)),
        (["--max-session-time", "7.5"], "budget", Budget(seconds=7.5)),
        (["--strict-budget"], "budget", Budget(strict=True)),
        (["--strict-budget=false"], "budget", Budget(strict=False)),
        (["--strict-budget=false", "--strict-budget"], "budget", Budget(strict=True)),
        (["--max-cost", "2"], "max_budget_usd", 2.0),
        (["--max-turns", "none"], "max_turns", None),
        (["--max-turns", "3"], "max_turns", 3),
        (["--on-budget", "wrap_up"], "on_budget", "wrap_up"),
        (["--task-budget", "60000"], "task_budget", 60_000),
        (["--max-output-tokens", "2"], "max_output_tokens", None),
    ],
)
def test_flags_become_options(argv: list[str], field: str, value: Any) -> None:
    assert getattr(options_from(parse(argv)), field) == value


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["--max-tokens", "many"], "--max-tokens takes a number"),
        (["--max-model-calls", "1.5"], "--max-model-calls takes a whole number"),
        (["--max-budget-usd", "-1"], "--max-budget-usd must not be negative"),
        (["--max-session-time", "inf"], "--max-session-time takes a number"),
        (["--on-budget", "weep"], "--on-budget takes halt, wrap_up"),
        (["--task-budget", "x"], "--task-budget takes a number"),
    ],
)
def test_what_is_wrong_is_named(argv: list[str], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        options_from(parse(argv))


@pytest.mark.parametrize(
    "flag", [*sorted(BUDGETS - {"--strict-budget", "--on-budget"}), "--max-turns", "--max-time"]
)
def test_an_unset_variable_is_not_no_limit(flag: str) -> None:
    with pytest.raises(BadInput, match=f"{flag} was given an empty value"):
        options_from(parse([flag, ""]))


def test_every_limit_has_its_flag() -> None:
    flags = {flag.name for flag in FLAGS}
    assert set(NAMES) == set(WORDS)
    assert {named.flag for named in NAMES.values()} < BUDGETS < flags
    assert len({named.key for named in NAMES.values()}) == len(NAMES)
