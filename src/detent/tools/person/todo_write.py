"""TodoWrite: the model's list of what is to do, kept in the log by its own results."""

from typing import Annotated, Literal

from msgspec import Meta, Struct, to_builtins

from detent.ports import Desk
from detent.tools.base import TypedTool
from detent.types.effects import Effect
from detent.types.outcomes import Outcome, done


class Todo(Struct, frozen=True, omit_defaults=True):
    content: Annotated[str, Meta(description="What is to do, as an instruction.", min_length=1)]
    status: Literal["pending", "in_progress", "completed"]
    activeForm: Annotated[
        str, Meta(description="The same while it is being done: `Running the tests`.")
    ] = ""


class TodoWriteArgs(Struct, frozen=True):
    todos: Annotated[list[Todo], Meta(description="The whole list, in order.")]


class TodoWrite(TypedTool[TodoWriteArgs]):
    name = "TodoWrite"
    aliases = ("todo_write", "TodoWriteTool")
    args = TodoWriteArgs

    def effects(self, args: TodoWriteArgs, cwd: str) -> tuple[Effect, ...]:
        return ()

    async def act(self, args: TodoWriteArgs, desk: Desk) -> Outcome:
        before = (desk.shop.last(self.name) or {}).get("newTodos", [])
        data = {"oldTodos": before, "newTodos": to_builtins(args.todos)}
        return done(_noted(args.todos), data)


TOOL = TodoWrite


def _noted(todos: list[Todo]) -> str:
    if not todos:
        return "Noted: the list is empty."
    completed = sum(todo.status == "completed" for todo in todos)
    if completed == len(todos):
        return f"Noted: all {completed} done."
    text = f"Noted: {completed} of {len(todos)} done"
    now = [todo.content for todo in todos if todo.status == "in_progress"]
    if not now:
        return f"{text}; none in progress."
    advice = " Better have one in progress at a time." if len(now) > 1 else ""
    return f"{text}; now: {'; '.join(now)}.{advice}"
