"""`/context`: what the next request holds, and what that takes."""

import asyncio

from detent.sdk.session import Session
from detent.surfaces.commands import Hear
from detent.surfaces.commands.context_table import printed, usual_width


async def run(session: Session, rest: str, hear: Hear) -> str:
    """In a thread: a long conversation takes its time."""
    ledger = await asyncio.to_thread(session.context)
    return "\n".join(printed(ledger, usual_width(), is_whole=False, is_coloured=False))
