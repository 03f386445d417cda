"""What a session has going beside its conversation: commands, agents, tasks and to-dos."""

import asyncio
import os
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from detent.app.agents.tasks import SharedTasks
from detent.ports import Job
from detent.types.agents import Task

if TYPE_CHECKING:
    from detent.sdk.session import Session

__all__ = ["Job", "Tail", "Todo", "jobs_of", "shared_tasks", "tail_of", "todos_of"]

MOST_BYTES = 16_000


class Todo(Struct, frozen=True):
    text: str
    status: str
    """pending, in_progress or completed."""
    active: str = ""
    """What it is called while it is being done."""


class Tail(Struct, frozen=True):
    """The end of what a job has printed."""

    text: str
    is_cut: bool = False
    """There was more before it."""


def jobs_of(session: "Session") -> tuple[Job, ...]:
    """Commands in the background: of this run, and what is known of those of earlier ones."""
    return session._engine.shop.jobs.all() if session.entries else ()


async def tail_of(job: Job) -> Tail:
    """Raises OSError."""
    return await asyncio.to_thread(_tail, job.path)


def shared_tasks(session: "Session") -> tuple[Task, ...]:
    """The list that all agents of the session see."""
    return tuple(SharedTasks(lambda: session.entries, lambda entry: None).all())


def todos_of(session: "Session") -> tuple[Todo, ...]:
    """As the model has written them last, what was rewound left out."""
    data = session._engine.shop.last("TodoWrite") or {}
    given = data.get("newTodos")
    found = (_todo(one) for one in given) if isinstance(given, list) else ()
    return tuple(todo for todo in found if todo is not None)


def _todo(value: Any) -> Todo | None:
    match value:
        case {"content": str(text), "status": str(status)}:
            return Todo(text, status, str(value.get("activeForm") or ""))
        case _:
            return None


def _tail(path: str) -> Tail:
    with open(path, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - MOST_BYTES))
        data = file.read(MOST_BYTES)
    text = data.decode(errors="replace")
    if size > len(data):
        text = text.partition("\n")[2] or text
    return Tail(text, size > len(data))
