"""What is left of a task's budget across compactions."""

from __future__ import annotations

from typing import Any

from detent.context.task_budget import TaskBudget
from detent.types.events import Compacted, Replied
from detent.types.messages import Task
from detent.types.usage import Usage

COMPACTED = Compacted(summary="s", keeps_from=1)


def replied(**usage: int) -> Replied:
    return Replied(turn=1, step=1, model="m", content=(), stop="x", usage=Usage(**usage))


def test_nothing_is_subtracted_while_the_provider_can_count() -> None:
    assert TaskBudget(100).now([replied(input=30), replied(input=50)]) == Task(100)


def test_each_compaction_takes_the_context_that_it_ends() -> None:
    entries: list[Any] = [replied(input=5, output=5), replied(input=10, cache_read=20, output=10)]
    task = TaskBudget(100)
    assert task.now([*entries, COMPACTED]) == Task(100, 60)
    entries += [COMPACTED, replied(input=30, output=5), COMPACTED]
    assert task.now(entries) == Task(100, 25), "read on from where it was"
    assert TaskBudget(100).now(entries) == Task(100, 25), "the same from the log"


def test_it_never_falls_below_zero_and_does_not_start_again() -> None:
    entries = [replied(input=150), COMPACTED, replied(input=10), COMPACTED]
    assert TaskBudget(100).now(entries) == Task(100, 0)


def test_two_compactions_of_one_context_take_it_once() -> None:
    assert TaskBudget(100).now([replied(input=40), COMPACTED, COMPACTED]) == Task(100, 60)
