"""`/memory`: the files that tell how to work here."""

from detent.sdk.memory import Memory
from detent.sdk.session import Session
from detent.surfaces.commands import Hear
from detent.surfaces.commands.memory_table import listed


async def run(session: Session, rest: str, hear: Hear) -> str:
    files = await session.memory()
    return "\n".join(listed(Memory(session.cwd, files, off=session.memory_off)))
