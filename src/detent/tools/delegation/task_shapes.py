"""Shared tasks as models write and read them."""

from typing import Annotated, Any

from msgspec import Meta

from detent.ports import Desk
from detent.tools.delegation.task_rules import Tasks, is_ready, waits_for
from detent.types.agents import Task

TaskId = Annotated[str, Meta(min_length=1)]
RENAMES = (
    ("task_id", "taskId"),
    ("id", "taskId"),
    ("active_form", "activeForm"),
    ("blocked_by", "blockedBy"),
    ("add_blocks", "addBlocks"),
    ("add_blocked_by", "addBlockedBy"),
)
LISTS = ("blockedBy", "addBlocks", "addBlockedBy")


def with_plain_ids(given: dict[str, Any]) -> dict[str, Any]:
    """Models write `#3`, 3 and "3", and one where a list is wanted."""
    adapted = dict(given)
    if "taskId" in adapted:
        adapted["taskId"] = _plain(adapted["taskId"])
    for name in LISTS:
        value = adapted.get(name)
        if isinstance(value, list):
            adapted[name] = [_plain(one) for one in value]
        elif isinstance(value, str | int):
            adapted[name] = [_plain(value)]
    return adapted


def _plain(id: Any) -> Any:
    if isinstance(id, int) and not isinstance(id, bool):
        return str(id)
    return id.strip().removeprefix("#") if isinstance(id, str) else id


def tasks_of(desk: Desk) -> dict[str, Task]:
    """Those that are not deleted, by id."""
    return {task.id: task for task in desk.shop.tasks.all()}


def data_of(task: Task, tasks: Tasks) -> dict[str, Any]:
    return {
        "id": task.id,
        "subject": task.subject,
        "description": task.description,
        "activeForm": task.active_form,
        "status": task.status,
        "owner": task.owner or None,
        "blocks": [one.id for one in tasks.values() if task.id in one.blocked_by],
        "blockedBy": list(waits_for(task, tasks)),
        "ready": is_ready(task, tasks),
        "metadata": task.metadata,
    }


def line_of(task: Task, tasks: Tasks, owner: str = "") -> str:
    """`3 [pending, waits for 1, 2] Write the tests`"""
    state = [task.status, owner or task.owner]
    if waits := waits_for(task, tasks):
        state.append(f"waits for {', '.join(waits)}")
    elif is_ready(task, tasks):
        state.append("ready")
    return f"{task.id} [{', '.join(filter(None, state))}] {task.subject}"
