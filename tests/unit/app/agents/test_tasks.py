"""The shared list over a log: who may do what, hooks, rewinds, and that nothing is lost."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from detent.app.agents.tasks import SharedTasks
from detent.session.log import FileLog, MemoryLog
from detent.session.reading import read_log
from detent.types.agents import Task, TaskChanged
from detent.types.events import Restored, Rewound
from detent.types.verdicts import HookAnswer

Steps = Callable[[], Coroutine[Any, Any, Any]]


class Desk:
    """`create` and `change` in a row, over a log in memory."""

    def __init__(self, log: MemoryLog | None = None, **given: Any) -> None:
        self.log = log or MemoryLog(lambda: 0.0)
        self.tasks = SharedTasks(lambda: self.log.entries, self._record, **given)

    def _record(self, entry: Any) -> None:
        self.log.append(entry)

    def create(self, subject: str = "x", **given: Any) -> Task:
        return asyncio.run(self.tasks.create(subject, **given))

    def change(self, id: str, by: str = "", **given: Any) -> Task:
        return asyncio.run(self.tasks.change(id, by, **given))

    def refused(self, id: str, by: str = "", **given: Any) -> str:
        before = len(self.log.entries)
        with pytest.raises(ValueError) as caught:
            self.change(id, by, **given)
        assert len(self.log.entries) == before, "a refusal leaves no trace"
        return str(caught.value)

    @property
    def changes(self) -> list[TaskChanged]:
        return [entry for entry in self.log.entries if isinstance(entry, TaskChanged)]


def desk_with(many: int, **given: Any) -> Desk:
    desk = Desk(**given)
    for number in range(many):
        desk.create(f"subject {number + 1}")
    return desk


def test_every_change_is_an_entry_that_says_whose_it_is() -> None:
    desk = Desk()
    task = desk.create("write it", by="alice", description="all", metadata={"a": 1})
    assert task == Task("1", "write it", "all", metadata={"a": 1})
    desk.change("1", "bob", status="in_progress")
    assert [(e.by, e.task.status, e.task.owner) for e in desk.changes] == [
        ("alice", "pending", ""),
        ("bob", "in_progress", "bob"),
    ]


def test_what_changes_nothing_is_no_entry() -> None:
    desk = desk_with(1)
    desk.change("1", subject="subject 1", metadata={"gone": None})
    assert len(desk.changes) == 1


def test_metadata_is_merged_and_null_takes_away() -> None:
    desk = Desk()
    desk.create(metadata={"a": 1, "b": 2})
    assert desk.change("1", metadata={"b": None, "c": 3}).metadata == {"a": 1, "c": 3}


def test_who_comes_second_is_told_whose_it_is() -> None:
    desk = desk_with(1)
    desk.change("1", "alice", status="in_progress")
    for wish in ({"status": "in_progress"}, {"owner": "bob"}, {"status": "completed"}):
        assert "task 1 is alice's" in desk.refused("1", "bob", **wish)
    assert "task 1 is alice's" in desk.refused("1", "", status="in_progress")
    assert desk.change("1", "bob", description="more").description == "more"


def test_the_session_itself_takes_a_task_from_an_agent_and_gives_it_to_another() -> None:
    desk = desk_with(1)
    desk.change("1", "alice", status="in_progress")
    assert desk.change("1", "", owner="bob").owner == "bob"
    assert desk.change("1", "", owner="", status="pending").owner == ""
    assert desk.change("1", "", status="in_progress").owner == "main"


def test_an_owner_gives_a_task_back() -> None:
    desk = desk_with(1)
    desk.change("1", "alice", status="in_progress")
    desk.change("1", "alice", status="pending", owner="")
    assert desk.change("next", "bob").owner == "bob"


def test_nothing_begins_or_is_completed_before_what_it_waits_for() -> None:
    desk = desk_with(3)
    desk.change("2", "bob", owner="bob")
    desk.change("3", add_blocked_by=["1", "2"])
    assert desk.refused("3", status="completed") == "task 3 waits for 1, 2 (bob's)."
    assert desk.refused("3", status="in_progress") == "task 3 waits for 1, 2 (bob's)."
    desk.change("1", status="completed")
    desk.change("2", "bob", status="deleted")
    assert desk.change("3", status="completed").status == "completed"


def test_what_is_completed_does_not_begin_to_wait() -> None:
    desk = desk_with(2)
    desk.change("1", status="completed")
    assert "task 1 is completed" in desk.refused("2", add_blocks=["1"])
    assert "task 1 is completed" in desk.refused("1", add_blocked_by=["2"])


@pytest.mark.parametrize(
    ("id", "wish", "said"),
    [
        ("1", {"add_blocked_by": ["3"]}, "1 → 3 → 2 → 1"),
        ("3", {"add_blocks": ["1"]}, "1 → 3 → 2 → 1"),
        ("2", {"add_blocked_by": ["2"]}, "task 2 cannot wait for itself"),
        ("2", {"add_blocks": ["2"]}, "task 2 cannot wait for itself"),
        ("9", {}, "there is no task 9; there are: 1, 2, 3."),
        ("1", {"add_blocks": ["8"]}, "there is no task 8"),
        ("1", {"add_blocked_by": ["4"]}, "task 4 was deleted"),
    ],
)
def test_circles_and_unknown_tasks_are_named(id: str, wish: dict[str, Any], said: str) -> None:
    desk = desk_with(4)
    desk.change("4", status="deleted")
    desk.change("2", add_blocked_by=["1"])
    desk.change("2", add_blocks=["3"])
    assert said in desk.refused(id, **wish)


def test_a_new_task_waits_only_for_what_there_is() -> None:
    desk = desk_with(1)
    assert desk.create(add_blocked_by=["1"]).blocked_by == ("1",)
    with pytest.raises(ValueError, match="there is no task 7"):
        desk.create(add_blocked_by=["7"])
    assert desk.create().id == "3", "no id is lost to one that was refused at once"


def test_the_next_one_is_ready_ones_own_or_nobodys_and_the_first_of_them() -> None:
    desk = desk_with(12)
    for done in ("3", "4", "5", "6", "7", "8", "9", "12"):
        desk.change(done, status="completed")
    desk.change("1", add_blocked_by=["10"])
    desk.change("2", owner="alice")
    desk.change("11", owner="bob")
    taken = [desk.change("next", "bob") for _ in range(2)]
    assert [(one.id, one.owner, one.status) for one in taken] == [
        ("11", "bob", "in_progress"),
        ("10", "bob", "in_progress"),
    ]
    said = desk.refused("next", "bob")
    assert said == "no task is ready. Not done: 1, 2 (alice's), 10 (bob's), 11 (bob's)."
    assert Desk().refused("next") == "no task is left to do."


def test_ids_are_numbers() -> None:
    desk = desk_with(10)
    desk.change("1", status="completed")
    assert desk.change("next").id == "2", "not 10"


def test_two_who_want_the_next_one_at_once_get_two() -> None:
    desk = desk_with(2)

    async def both() -> list[Task]:
        return await asyncio.gather(
            desk.tasks.change("next", "alice"), desk.tasks.change("next", "bob")
        )

    assert [(task.id, task.owner) for task in asyncio.run(both())] == [("1", "alice"), ("2", "bob")]


class Hooks:
    def __init__(self, answer: HookAnswer, meanwhile: Steps | None = None) -> None:
        self.answer, self.meanwhile = answer, meanwhile
        self.heard: list[tuple[str, dict[str, Any]]] = []

    async def __call__(self, moment: str, **facts: Any) -> HookAnswer:
        self.heard.append((moment, facts))
        if self.meanwhile is not None:
            meanwhile, self.meanwhile = self.meanwhile, None
            await meanwhile()
        return self.answer


@pytest.mark.parametrize(
    "no", [HookAnswer("deny", "not now"), HookAnswer(stop="not now"), HookAnswer("deny")]
)
def test_a_hook_that_does_not_want_a_task_is_obeyed(no: HookAnswer) -> None:
    hooks = Hooks(no)
    desk = Desk(ask_hooks=hooks)
    with pytest.raises(ValueError, match=no.reason or no.stop or "it gave no reason"):
        desk.create("write it", by="alice", description="all")
    assert not desk.changes
    told = {"task_id": "1", "task_subject": "write it", "task_description": "all"}
    assert hooks.heard == [("task_created", {**told, "agent": "alice"})]


def test_a_hook_may_keep_a_task_from_being_completed() -> None:
    hooks = Hooks(HookAnswer())
    desk = desk_with(1, ask_hooks=hooks)
    hooks.answer = HookAnswer("deny", "tests fail")
    assert desk.refused("1", status="completed") == "a hook refuses it: tests fail"
    assert desk.change("1", status="in_progress").status == "in_progress", "not asked for that"
    hooks.answer = HookAnswer()
    desk.change("1", status="completed")
    desk.change("1", description="done already", status="completed")
    assert [moment for moment, _ in hooks.heard] == ["task_created", *["task_completed"] * 2]


def test_what_happens_while_hooks_are_asked_is_not_lost() -> None:
    hooks = Hooks(HookAnswer())
    desk = desk_with(2, ask_hooks=hooks)
    hooks.meanwhile = lambda: desk.tasks.change("1", "bob", description="more")
    assert desk.change("1", status="completed").description == "more"
    hooks.meanwhile = lambda: desk.tasks.create("x", add_blocked_by=["2"])
    desk.create("y")
    hooks.meanwhile = lambda: desk.tasks.change("2", "bob", status="in_progress")
    with pytest.raises(ValueError, match="task 2 is bob's"):
        desk.change("2", "alice", status="completed")
    assert {task.id: task.subject for task in desk.tasks.all()}.keys() == {"1", "2", "3", "4"}


def test_a_rewind_takes_tasks_back_and_its_undoing_brings_them_again() -> None:
    desk = desk_with(1)
    desk.change("1", status="in_progress")
    desk.create("later")
    rewound = desk.log.append(Rewound(to=1))
    assert [(task.id, task.status) for task in desk.tasks.all()] == [("1", "pending")]
    assert desk.create("new").id == "3", "an id is one task's, also of one that may come back"
    desk.log.append(Restored(entries=(rewound.seq,)))
    assert [task.id for task in desk.tasks.all()] == ["1", "2", "3"]


def test_a_log_that_is_cut_anywhere_gives_the_list_as_it_was_then(tmp_path: Path) -> None:
    """What kill -9 leaves is a beginning of the file."""
    path = str(tmp_path / "s.jsonl")
    log = FileLog(path, lambda: 0.0, home=str(tmp_path))
    log.lock()
    desk, states = Desk(log), [()]
    for step in (
        lambda: desk.create("a"),
        lambda: desk.create("b", add_blocked_by=["1"]),
        lambda: desk.change("next", "alice"),
        lambda: desk.change("1", "alice", status="completed"),
        lambda: desk.change("2", "bob", status="deleted"),
    ):
        step()
        states.append(tuple(desk.tasks.all()))
    log.close()
    whole = Path(path).read_bytes()
    lines = whole.splitlines(keepends=True)
    assert len(lines) == len(states) - 1
    for kept, state in enumerate(states):
        torn = lines[kept][:-5] if kept < len(lines) else b""
        Path(path).write_bytes(b"".join(lines[:kept]) + torn)
        entries = read_log(path).entries
        assert tuple(SharedTasks(lambda e=entries: e, log.append).all()) == state  # type: ignore[misc, arg-type]


def test_a_damaged_log_that_has_lost_a_task_does_no_harm() -> None:
    log = MemoryLog(lambda: 0.0)
    log.append(TaskChanged(task=Task("2", "b", blocked_by=("1",))))
    log.append(TaskChanged(task=Task("odd", "c")))
    desk = Desk(log)
    assert desk.change("next", "alice").id == "2"
    assert desk.create().id == "3"
