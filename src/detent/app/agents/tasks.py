"""The tasks that all agents of a session share: folded from its log, changed by a new entry.

Between looking at the list and recording a change nobody else comes to it, for nothing waits there:
that is why of two who want the same task one gets it. Only hooks are waited for, and then it is
looked at again.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from detent.app.recorder import Safe, at_once
from detent.context.project import not_rewound
from detent.tools.delegation.task_rules import NEXT, SESSION, Wish, changed, created, next_for
from detent.types.agents import Task, TaskChanged
from detent.types.events import Entry, Restored, Rewound
from detent.types.verdicts import HookAnswer

AskHooks = Callable[..., Awaitable[HookAnswer]]
"""The moment, and its facts: what the gate's `happened` takes."""


async def no_hooks(moment: str, **facts: Any) -> HookAnswer:
    return HookAnswer()


class SharedTasks:
    """`entries` are the session's; `record` has added to them when it returns. When `safe` does,
    whoever asked for a change may say in another log that it is done."""

    def __init__(
        self,
        entries: Callable[[], Sequence[Entry]],
        record: Callable[[Entry], None],
        ask_hooks: AskHooks = no_hooks,
        safe: Safe = at_once,
    ) -> None:
        self._entries = entries
        self._record = record
        self._safe = safe
        self._ask_hooks = ask_hooks
        self._tasks: dict[str, Task] = {}
        self._read = 0
        self._last = 0
        """The highest id that was ever given: one that was rewound may come back."""

    def all(self) -> Sequence[Task]:
        return [task for task in self._now().values() if task.status != "deleted"]

    async def create(self, subject: str, by: str = "", **given: Any) -> Task:
        wish = Wish(**given)
        created(self._now(), "0", subject, wish)
        self._last += 1
        id = str(self._last)
        await self._ask("task_created", id, subject, wish.description or "", by)
        task = created(self._now(), id, subject, wish)
        self._record(TaskChanged(task=task, by=by))
        await self._safe()
        return task

    async def change(self, task: str, by: str, **given: Any) -> Task:
        """`next` is the next that is ready, and the agent's own from then on."""
        wish = Wish(**given)
        if task == NEXT:
            task = next_for(by or SESSION, self._now()).id
            wish = Wish(**{"status": "in_progress", "owner": by or SESSION, **given})
        differing = changed(self._now(), task, by, wish)
        if any(map(self._completes, differing)):
            meant = differing[0]
            await self._ask("task_completed", task, meant.subject, meant.description, by)
            differing = changed(self._now(), task, by, wish)  # others did not wait
        for one in differing:
            self._record(TaskChanged(task=one, by=by))
        now = self._now()[task]
        await self._safe()
        return now

    def _completes(self, task: Task) -> bool:
        return task.status == "completed" != self._tasks[task.id].status

    async def _ask(self, moment: str, id: str, subject: str, description: str, by: str) -> None:
        """Raises ValueError when a hook does not want it."""
        answer = await self._ask_hooks(
            moment, task_id=id, task_subject=subject, task_description=description, agent=by
        )
        if answer.decision == "deny" or answer.stop:
            why = answer.reason or answer.stop or "it gave no reason"
            raise ValueError(f"a hook refuses it: {why}")

    def _now(self) -> dict[str, Task]:
        """What was rewound does not count, and does again when the rewind is taken back."""
        entries = self._entries()
        new = entries[self._read :]
        self._read = len(entries)
        for entry in new:
            if isinstance(entry, TaskChanged) and entry.task.id.isdecimal():
                self._tasks[entry.task.id] = entry.task
                self._last = max(self._last, int(entry.task.id))
        if any(isinstance(entry, Rewound | Restored) for entry in new):
            counting = (one for one in not_rewound(entries) if isinstance(one, TaskChanged))
            self._tasks = {one.task.id: one.task for one in counting}
        return self._tasks
