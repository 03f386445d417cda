"""TaskUpdate: claims, completes or changes a shared task."""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import asdict

from detent.ports import Desk
from detent.tools.base import UNADVERTISED, TypedTool
from detent.tools.delegation.task_rules import NEXT, freed_by
from detent.tools.delegation.task_shapes import (
    RENAMES,
    TaskId,
    data_of,
    line_of,
    tasks_of,
    with_plain_ids,
)
from detent.types.effects import Effect
from detent.types.outcomes import Failed, Outcome, done

WISHES = {
    "subject": "subject",
    "description": "description",
    "activeForm": "active_form",
    "status": "status",
    "owner": "owner",
    "addBlocks": "add_blocks",
    "addBlockedBy": "add_blocked_by",
    "metadata": "metadata",
}
"""Arguments, and what the list calls them."""


class TaskUpdateArgs(Struct, frozen=True, omit_defaults=True):
    taskId: Annotated[
        str, Meta(description="Its id; `next` claims the next that is ready.", min_length=1)
    ]
    status: (
        Annotated[
            Literal["pending", "in_progress", "completed", "deleted"],
            Meta(description="`in_progress` claims it."),
        ]
        | UnsetType
    ) = UNSET
    owner: (
        Annotated[str, Meta(description="An agent; you unless given. Empty gives it back.")]
        | UnsetType
    ) = UNSET
    addBlocks: (
        Annotated[list[TaskId], Meta(description="Ids of tasks that wait for this one.")]
        | UnsetType
    ) = UNSET
    addBlockedBy: (
        Annotated[list[TaskId], Meta(description="Ids of tasks that this one waits for.")]
        | UnsetType
    ) = UNSET
    subject: (
        Annotated[str, Meta(description="Instead of the old one.", min_length=1)] | UnsetType
    ) = UNSET
    description: Annotated[str, Meta(description="Likewise.")] | UnsetType = UNSET
    activeForm: Annotated[str, UNADVERTISED] | UnsetType = UNSET
    metadata: Annotated[dict[str, Any], UNADVERTISED] | UnsetType = UNSET


class TaskUpdate(TypedTool[TaskUpdateArgs]):
    name = "TaskUpdate"
    aliases = ("task_update",)
    renames = RENAMES
    timeout = None  # hooks have their own
    args = TaskUpdateArgs

    def adapt(self, given: dict[str, Any]) -> dict[str, Any]:
        return with_plain_ids(super().adapt(given))

    def effects(self, args: TaskUpdateArgs, cwd: str) -> tuple[Effect, ...]:
        return ()

    async def act(self, args: TaskUpdateArgs, desk: Desk) -> Outcome:
        given = asdict(args)
        wishes = {WISHES[name]: given[name] for name in WISHES if given[name] is not UNSET}
        try:
            task = await desk.shop.tasks.change(args.taskId, desk.agent, **wishes)
        except ValueError as error:
            return Failed(f"TaskUpdate: {error}")
        tasks = tasks_of(desk) | {task.id: task}
        freed = freed_by(task, tasks)
        lines = [line_of(task, tasks), task.description if args.taskId == NEXT else ""]
        if freed:
            lines.append(f"Ready now: {', '.join(freed)}.")
        data = {
            "success": True,
            "taskId": task.id,
            "updatedFields": [name for name in WISHES if given[name] is not UNSET],
            "task": data_of(task, tasks),
            "ready": freed,
        }
        return done("\n".join(filter(None, lines)), data)


TOOL = TaskUpdate
