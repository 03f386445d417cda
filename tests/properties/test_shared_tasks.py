"""Shared tasks under several agents at once: whatever they want, in whatever order."""

from __future__ import annotations

import asyncio
from itertools import count
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from detent.app.agents.tasks import SharedTasks
from detent.context.project import not_rewound
from detent.session.log import MemoryLog
from detent.types.agents import Task, TaskChanged
from detent.types.events import Entry, Restored, Rewound
from detent.types.verdicts import HookAnswer

AGENTS = st.sampled_from(("", "alice", "bob"))
MANY = 5
"""Tasks that there are from the beginning."""
IDS = st.integers(1, MANY + 1).map(str)
SOME_IDS = st.lists(IDS, max_size=2)
WISHES = st.fixed_dictionaries(
    {},
    optional={
        "status": st.sampled_from(("pending", "in_progress", "completed", "deleted")),
        "owner": st.sampled_from(("", "alice", "bob", "main")),
        "add_blocks": SOME_IDS,
        "add_blocked_by": SOME_IDS,
        "metadata": st.dictionaries(st.sampled_from("ab"), st.none() | st.integers(0, 2)),
    },
)
CHANGES = st.tuples(st.just("change"), AGENTS, IDS | st.just("next"), WISHES)
CREATIONS = st.tuples(st.just("create"), AGENTS, st.just(""), SOME_IDS)
REWINDS = st.tuples(st.sampled_from(("rewind", "restore")), AGENTS, IDS, st.integers(0, 30))
BATCHES = st.lists(st.lists(CHANGES | CREATIONS, min_size=1, max_size=4), max_size=14)
"""What is in one batch is wanted at the same time."""


class Desk:
    """A log, and hooks that take their time, some longer than others."""

    def __init__(self, waits: list[int]) -> None:
        self.log = MemoryLog(lambda: 0.0)
        self.waits = waits
        self.ids = set[str]()
        self.subjects = count()
        self.tasks = SharedTasks(lambda: self.log.entries, self.record, self.hooks)

    def record(self, entry: Entry) -> None:
        before = {task.id: task for task in folded(self.log)}
        assert isinstance(entry, TaskChanged)
        if entry.task.id not in before:
            assert entry.task.id not in self.ids, "an id is given once"
        self.ids.add(entry.task.id)
        self.log.append(entry)
        check(before, entry)

    async def hooks(self, moment: str, **facts: Any) -> HookAnswer:
        for _ in range(self.waits.pop() if self.waits else 0):
            await asyncio.sleep(0)
        return HookAnswer("deny") if self.waits and self.waits[-1] == 3 else HookAnswer()

    async def fill(self) -> None:
        for _ in range(MANY):
            await self.tasks.create(f"subject {next(self.subjects)}")

    async def act(self, kind: str, by: str, id: str, wish: Any) -> None:
        try:
            if kind == "create":
                await self.tasks.create(
                    f"subject {next(self.subjects)}", by=by, add_blocked_by=wish
                )
            elif kind == "change":
                await self.tasks.change(id, by, **wish)
        except ValueError:
            pass
        if kind == "rewind":
            self.log.append(Rewound(to=min(wish, len(self.log.entries))))
        if kind == "restore":
            rewinds = [one.seq for one in self.log.entries if isinstance(one, Rewound)]
            self.log.append(Restored(entries=tuple(rewinds[-1:])))


def folded(log: MemoryLog) -> list[Task]:
    """What the log says, without the class that is tested."""
    counting = [one.task for one in not_rewound(log.entries) if isinstance(one, TaskChanged)]
    last = {task.id: task for task in counting}
    return [task for task in last.values() if task.status != "deleted"]


def check(before: dict[str, Task], entry: TaskChanged) -> None:
    task, old = entry.task, before.get(entry.task.id)
    assert old is None or old.subject == task.subject, "it is still the same task"
    waits = [id for id in task.blocked_by if id in before and before[id].status != "completed"]
    begins = old is not None and old.status != task.status
    if begins and task.status in ("in_progress", "completed"):
        assert not waits, "nothing begins or ends before what it waits for"
    if task.status == "completed":
        assert old is not None and (begins or not set(waits) - set(old.blocked_by))
    if old is not None and old.owner not in ("", entry.by or "main", task.owner):
        assert not entry.by, "only its owner and the session give a task away"
    assert_no_circle({**before, task.id: task})


def assert_no_circle(tasks: dict[str, Task]) -> None:
    left = {id: task for id, task in tasks.items() if task.status != "deleted"}
    while left:
        free = [id for id, task in left.items() if not left.keys() & set(task.blocked_by)]
        assert free, "some wait for one another"
        for id in free:
            del left[id]


@settings(max_examples=200, deadline=None)
@given(BATCHES, st.lists(st.integers(0, 3), max_size=20))
def test_whatever_agents_want_at_once_the_list_stays_whole(
    batches: list[list[Any]], waits: list[int]
) -> None:
    async def play() -> None:
        desk = Desk([])
        await desk.fill()
        desk.waits = waits
        for batch in batches:
            await asyncio.gather(*(desk.act(*move) for move in batch))
            assert list(desk.tasks.all()) == folded(desk.log)

    asyncio.run(play())


@settings(max_examples=150, deadline=None)
@given(st.lists(CHANGES | CREATIONS | REWINDS, max_size=30))
def test_going_back_and_forth_the_list_is_what_the_log_says(moves: list[Any]) -> None:
    async def play() -> None:
        desk = Desk([])
        await desk.fill()
        for move in moves:
            await desk.act(*move)
            assert list(desk.tasks.all()) == folded(desk.log)

    asyncio.run(play())


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 8), st.lists(st.sampled_from(("a", "b", "c")), min_size=1, max_size=12))
def test_of_many_who_want_the_next_one_each_gets_another(many: int, who: list[str]) -> None:
    async def play() -> None:
        desk = Desk([])
        for _ in range(many):
            await desk.tasks.create("x")
        got = await asyncio.gather(
            *(desk.tasks.change("next", agent) for agent in who), return_exceptions=True
        )
        claimed = [task.id for task in got if isinstance(task, Task)]
        assert claimed == [str(n + 1) for n in range(min(many, len(who)))]
        assert all(isinstance(one, Task | ValueError) for one in got)

    asyncio.run(play())
