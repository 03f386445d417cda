"""TodoWrite: the list, what it was before, and the short answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from detent.ports import BadArguments
from detent.types.outcomes import Done

from ..conftest import Bench

Memory = Callable[..., Bench]


def todo(content: str, status: str = "pending", **more: Any) -> dict[str, Any]:
    return {"content": content, "status": status, **more}


@pytest.mark.parametrize(
    ("todos", "said"),
    [
        ([], "Noted: the list is empty."),
        ([todo("a"), todo("b")], "Noted: 0 of 2 done; none in progress."),
        ([todo("a", "completed"), todo("b", "in_progress")], "Noted: 1 of 2 done; now: b."),
        ([todo("a", "completed"), todo("b", "completed")], "Noted: all 2 done."),
        (
            [todo("a", "in_progress"), todo("b", "in_progress")],
            "Noted: 0 of 2 done; now: a; b. Better have one in progress at a time.",
        ),
    ],
)
def test_what_it_says(memory: Memory, todos: list[Any], said: str) -> None:
    outcome = memory().call("TodoWrite", todos=todos)
    assert isinstance(outcome, Done)
    assert outcome.content[0].text == said  # type: ignore[union-attr]


def test_the_old_list_and_the_new(memory: Memory) -> None:
    bench = memory()
    first = bench.call("TodoWrite", todos=[todo("a", activeForm="Doing a"), todo("b")])
    assert isinstance(first, Done)
    listed = [todo("a", activeForm="Doing a"), todo("b")]
    assert first.data == {"oldTodos": [], "newTodos": listed}
    bench.shop.results["TodoWrite"] = first.data
    second = bench.call("TodoWrite", todos=[todo("b")])
    assert isinstance(second, Done)
    assert second.data == {"oldTodos": listed, "newTodos": [todo("b")]}


def test_what_other_programs_taught_is_taken_and_left_out(memory: Memory) -> None:
    outcome = memory().call("TodoWrite", todos=[todo("a", id="1", priority="high")])
    assert isinstance(outcome, Done) and outcome.data is not None
    assert outcome.data["newTodos"] == [todo("a")]


@pytest.mark.parametrize(
    ("todos", "named"),
    [
        ([{"content": "a", "status": "done"}], "`todos[0].status`"),
        ([{"status": "pending"}], "content"),
        ([todo("")], "`todos[0].content`"),
        ("a", "`todos`"),
    ],
)
def test_a_wrong_list_is_explained_with_its_form(memory: Memory, todos: Any, named: str) -> None:
    with pytest.raises(BadArguments) as caught:
        memory().call("TodoWrite", todos=todos)
    text = str(caught.value)
    assert named in text
    form = '{"todos": [{"content": string, "status": "completed" | "in_progress" | "pending", '
    assert f"Send {form}" in text
