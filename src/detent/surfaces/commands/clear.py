"""`/clear`: the chat begins anew. The session stays the same one: a surface that can open another
does that instead."""

from detent.sdk.session import Session
from detent.surfaces.commands import Hear
from detent.surfaces.counting import counted


async def run(session: Session, rest: str, hear: Hear) -> str:
    points = session.points()
    if not points:
        return "There is nothing to clear: nothing was said."
    done = await session.rewind(points[0].number, "chat")
    return (
        f"The chat is empty: {counted(done.messages, 'message')} fewer. Files stay as they are. "
        "The log keeps every word, and /redo takes it back until the next prompt."
    )
