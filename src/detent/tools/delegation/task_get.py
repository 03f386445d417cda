"""TaskGet: one shared task, with all that is known of it."""

from typing import Annotated, Any

from msgspec import Meta, Struct

from detent.ports import Desk
from detent.tools.base import TypedTool
from detent.tools.delegation.task_rules import task_of
from detent.tools.delegation.task_shapes import RENAMES, data_of, line_of, tasks_of, with_plain_ids
from detent.types.codec import encode
from detent.types.effects import Effect
from detent.types.outcomes import Failed, Outcome, done


class TaskGetArgs(Struct, frozen=True):
    taskId: Annotated[str, Meta(description="Its id.", min_length=1)]


class TaskGet(TypedTool[TaskGetArgs]):
    name = "TaskGet"
    aliases = ("task_get",)
    renames = RENAMES
    args = TaskGetArgs

    def adapt(self, given: dict[str, Any]) -> dict[str, Any]:
        return with_plain_ids(super().adapt(given))

    def effects(self, args: TaskGetArgs, cwd: str) -> tuple[Effect, ...]:
        return ()

    async def act(self, args: TaskGetArgs, desk: Desk) -> Outcome:
        tasks = tasks_of(desk)
        try:
            task = task_of(args.taskId, tasks)
        except ValueError as error:
            return Failed(f"TaskGet: {error}")
        data = data_of(task, tasks)
        lines = [line_of(task, tasks), task.description]
        if data["blocks"]:
            lines.append(f"Others wait for it: {', '.join(data['blocks'])}.")
        if task.metadata:
            lines.append(encode(task.metadata).decode())
        return done("\n".join(filter(None, lines)), {"task": data})


TOOL = TaskGet
