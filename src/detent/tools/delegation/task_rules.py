"""What may become of a shared task, and who may do it. Pure: tasks → tasks.

A task waits for those it is blocked by until they are completed or deleted. It has one owner at a
time; only the owner, and the session itself, say how it stands.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from detent.types.agents import Task

Status = Literal["pending", "in_progress", "completed", "deleted"]
Tasks = Mapping[str, Task]
"""By id, those that were deleted too."""

SESSION = "main"
"""What the session itself is called as an owner."""
NEXT = "next"
"""In place of an id: whichever is ready."""


class Wish(Struct, frozen=True, kw_only=True):
    """What is to change; None is left as it is."""

    subject: str | None = None
    description: str | None = None
    active_form: str | None = None
    status: Status | None = None
    owner: str | None = None
    """Empty: nobody's from now on."""
    add_blocks: Sequence[str] = ()
    add_blocked_by: Sequence[str] = ()
    metadata: dict[str, Any] = {}
    """Merged into what there is; null takes a key away."""


def waits_for(task: Task, tasks: Tasks) -> tuple[str, ...]:
    return tuple(id for id in _blockers(task, tasks) if tasks[id].status != "completed")


def is_ready(task: Task, tasks: Tasks) -> bool:
    """Somebody could begin with it."""
    return task.status == "pending" and not waits_for(task, tasks)


def freed_by(task: Task, tasks: Tasks) -> list[str]:
    """What can begin, now that this one is over."""
    if not _is_over(task):
        return []
    return [one.id for one in tasks.values() if task.id in one.blocked_by and is_ready(one, tasks)]


def next_for(who: str, tasks: Tasks) -> Task:
    """What was given to somebody comes before what is nobody's. Raises ValueError."""
    ready = [one for one in tasks.values() if is_ready(one, tasks) and one.owner in ("", who)]
    if not ready:
        raise ValueError(_none_ready(tasks))
    return min(ready, key=lambda one: (not one.owner, int(one.id)))


def created(tasks: Tasks, id: str, subject: str, wish: Wish) -> Task:
    """Raises ValueError."""
    _known(wish.add_blocked_by, tasks)
    return replace(_edited(Task(id, subject), wish), blocked_by=_joined((), wish.add_blocked_by))


def changed(tasks: Tasks, id: str, by: str, wish: Wish) -> list[Task]:
    """All that differ from now on, the one that is meant first. Raises ValueError."""
    task, me = task_of(id, tasks), by or SESSION
    _known((*wish.add_blocks, *wish.add_blocked_by), tasks)
    if id in (*wish.add_blocks, *wish.add_blocked_by):
        raise ValueError(f"task {id} cannot wait for itself.")
    after = replace(
        _edited(task, wish),
        blocked_by=_joined(task.blocked_by, wish.add_blocked_by),
        status=wish.status or task.status,
        owner=_owner(task, me, wish),
    )
    held_up = [
        replace(tasks[other], blocked_by=_joined(tasks[other].blocked_by, (id,)))
        for other in dict.fromkeys(wish.add_blocks)
    ]
    differing = [one for one in (after, *held_up) if one != tasks[one.id]]
    then = {**tasks, **{one.id: one for one in differing}}
    _check_circles(differing, then)
    _check_start(task, after, then)
    _check_waiting(differing, tasks, then)
    return differing


def task_of(id: str, tasks: Tasks) -> Task:
    """One that is not deleted. Raises ValueError."""
    if id not in tasks:
        raise ValueError(f"there is no task {id}; {_there_are(tasks)}")
    if tasks[id].status == "deleted":
        raise ValueError(f"task {id} was deleted; {_there_are(tasks)}")
    return tasks[id]


def _owner(task: Task, me: str, wish: Wish) -> str:
    """Who has it afterwards. Raises ValueError when it is for somebody else to say."""
    if task.owner in ("", me):
        begins = wish.status in ("in_progress", "completed") and wish.status != task.status
        kept = me if begins and not task.owner else task.owner
        return kept if wish.owner is None else wish.owner
    claims = wish.status == "in_progress" and wish.owner is None
    decides = wish.owner not in (None, task.owner) or wish.status not in (None, task.status)
    if claims or (decides and me != SESSION):
        raise ValueError(f'task {task.id} is {task.owner}\'s. Take another: taskId "{NEXT}".')
    return task.owner if wish.owner is None else wish.owner


def _edited(task: Task, wish: Wish) -> Task:
    merged = {**task.metadata, **wish.metadata}
    return replace(
        task,
        subject=task.subject if wish.subject is None else wish.subject,
        description=task.description if wish.description is None else wish.description,
        active_form=task.active_form if wish.active_form is None else wish.active_form,
        metadata={key: value for key, value in merged.items() if value is not None},
    )


def _check_start(before: Task, after: Task, tasks: Tasks) -> None:
    begins = after.status in ("in_progress", "completed") and after.status != before.status
    if begins and (waits := waits_for(after, tasks)):
        raise ValueError(f"task {after.id} waits for {_named(waits, tasks)}.")


def _check_waiting(after: Iterable[Task], before: Tasks, tasks: Tasks) -> None:
    """What is done waits for nothing any more."""
    for one in after:
        grown = one.blocked_by != before[one.id].blocked_by
        if grown and one.status == "completed" and waits_for(one, tasks):
            raise ValueError(f"task {one.id} is completed: it cannot wait for anything.")


def _check_circles(differing: Iterable[Task], tasks: Tasks) -> None:
    for one in differing:
        if circle := _circle(one.id, tasks):
            raise ValueError(f"tasks would wait for themselves: {' → '.join(circle)}.")


def _circle(start: str, tasks: Tasks) -> list[str]:
    """The way from a task along what it waits for back to it; empty when there is none."""
    way, ahead, seen = [start], [_blockers(tasks[start], tasks)], {start}
    while ahead:
        step = next(ahead[-1], None)
        if step is None:
            ahead.pop()
            way.pop()
        elif step == start:
            return [*way, start]
        elif step not in seen:
            seen.add(step)
            way.append(step)
            ahead.append(_blockers(tasks[step], tasks))
    return []


def _blockers(task: Task, tasks: Tasks) -> Iterator[str]:
    """Without those that were deleted, or that a damaged log has lost: they block nothing."""
    return (id for id in task.blocked_by if id in tasks and tasks[id].status != "deleted")


def _known(ids: Iterable[str], tasks: Tasks) -> None:
    for id in ids:
        task_of(id, tasks)


def _joined(ids: tuple[str, ...], added: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*ids, *added)))


def _is_over(task: Task) -> bool:
    return task.status in ("completed", "deleted")


def _there_are(tasks: Tasks) -> str:
    ids = [one.id for one in tasks.values() if one.status != "deleted"]
    return f"there are: {', '.join(ids)}." if ids else "there are none."


def _none_ready(tasks: Tasks) -> str:
    open_tasks = [one for one in tasks.values() if not _is_over(one)]
    if not open_tasks:
        return "no task is left to do."
    return f"no task is ready. Not done: {_named([one.id for one in open_tasks], tasks)}."


def _named(ids: Iterable[str], tasks: Tasks) -> str:
    """`1 (alice's), 4`"""
    owned = ((id, tasks[id].owner) for id in ids)
    return ", ".join(f"{id} ({owner}'s)" if owner else id for id, owner in owned)
