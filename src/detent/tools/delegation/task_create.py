"""TaskCreate: one more on the list that all agents of the session share."""

from typing import Annotated, Any

from msgspec import Meta, Struct

from detent.ports import Desk
from detent.tools.base import UNADVERTISED, TypedTool
from detent.tools.delegation.task_shapes import RENAMES, TaskId, data_of, tasks_of, with_plain_ids
from detent.types.effects import Effect
from detent.types.outcomes import Failed, Outcome, done


class TaskCreateArgs(Struct, frozen=True):
    subject: Annotated[str, Meta(description="What is to do, in a few words.", min_length=1)]
    description: Annotated[str, Meta(description="All that whoever does it must know.")] = ""
    activeForm: Annotated[str, UNADVERTISED] = ""
    blockedBy: Annotated[
        list[TaskId], Meta(description="Ids of tasks that must be completed before.")
    ] = []
    metadata: Annotated[dict[str, Any], UNADVERTISED] = {}


class TaskCreate(TypedTool[TaskCreateArgs]):
    name = "TaskCreate"
    aliases = ("task_create",)
    renames = RENAMES
    timeout = None  # hooks have their own
    args = TaskCreateArgs

    def adapt(self, given: dict[str, Any]) -> dict[str, Any]:
        return with_plain_ids(super().adapt(given))

    def effects(self, args: TaskCreateArgs, cwd: str) -> tuple[Effect, ...]:
        return ()

    async def act(self, args: TaskCreateArgs, desk: Desk) -> Outcome:
        try:
            task = await desk.shop.tasks.create(
                args.subject,
                by=desk.agent,
                description=args.description,
                active_form=args.activeForm,
                add_blocked_by=args.blockedBy,
                metadata=args.metadata,
            )
        except ValueError as error:
            return Failed(f"TaskCreate: {error}")
        data = data_of(task, tasks_of(desk))
        waits = f"; it waits for {', '.join(data['blockedBy'])}" if data["blockedBy"] else ""
        return done(f"Task {task.id} created{waits}.", {"task": data})


TOOL = TaskCreate
