"""`/todos`: what is to do, as the model keeps it."""

from collections.abc import Iterator, Sequence

from detent.sdk.background import Todo, todos_of
from detent.sdk.session import Session
from detent.surfaces.commands import Hear
from detent.surfaces.tables.widths import one_line

MARKS = {"completed": "[x]", "in_progress": "[>]", "pending": "[ ]"}


async def run(session: Session, rest: str, hear: Hear) -> str:
    return "\n".join(listed(todos_of(session)))


def listed(todos: Sequence[Todo]) -> Iterator[str]:
    if not todos:
        yield "The list is empty."
        return
    for todo in todos:
        yield f"{MARKS.get(todo.status, '[?]')} {one_line(todo.text)}"
    done = sum(todo.status == "completed" for todo in todos)
    yield f"{done} of {len(todos)} done."
