"""What a model is told of its task's budget."""

from __future__ import annotations

import json
from typing import Any

import pytest

from detent.models.catalog import catalog
from detent.models.protocols.anthropic_messages import AnthropicMessages
from detent.models.protocols.wire import Manner
from detent.types.content import Text
from detent.types.messages import Request, Task, User


def config(task: Task | None, **manner: Any) -> Any:
    wire = AnthropicMessages(Manner(**manner))
    body = wire.body(Request((), (User((Text("x"),)),), task=task), "claude-opus-5-5", 9_000)
    return json.loads(body).get("output_config")


def test_the_total_and_what_remains_after_a_compaction() -> None:
    told = {"type": "tokens", "total": 60_000}
    assert config(Task(60_000), task_budget=True) == {"task_budget": told}
    told["remaining"] = 21_000
    assert config(Task(60_000, 21_000), task_budget=True, effort="high") == {
        "effort": "high",
        "task_budget": told,
    }
    assert config(Task(60_000, 0), task_budget=True)["task_budget"]["remaining"] == 0


def test_who_cannot_be_told_is_not() -> None:
    assert config(Task(60_000)) is None
    assert config(None, task_budget=True) is None


@pytest.mark.parametrize(
    ("model", "can"),
    [
        ("claude-opus-4-7", True),
        ("claude-opus-5-5", True),
        ("claude-sonnet-5-5-20261001", True),
        ("anthropic/claude-fable-5-1", True),
        ("claude-opus-4-6", False),
        ("claude-sonnet-4-5", False),
        ("claude-haiku-4-5", False),
        ("gpt-6.1-terra", False),
    ],
)
def test_models_that_can_be_told(model: str, can: bool) -> None:
    traits = catalog().traits_of(model)
    assert traits.task_budget is can
    assert not can or traits.thinks == "adaptive", "as all others of their time"
