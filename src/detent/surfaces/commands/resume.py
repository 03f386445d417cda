"""`/resume`: the sessions that one can go on with. A surface with a picker shows that instead."""

import asyncio

from detent.sdk.session import Session
from detent.sdk.sessions import sessions_of
from detent.surfaces.commands import Hear
from detent.surfaces.commands.context_table import line_width
from detent.surfaces.counting import counted
from detent.surfaces.tables.session_table import listed
from detent.types.errors import BadInput

MOST = 30


async def run(session: Session, rest: str, hear: Hear) -> str:
    if rest not in ("", "all"):
        raise BadInput(f"/resume takes nothing, or all; not {rest!r}")
    everywhere, environ = rest == "all", session.options.environ
    cards = await asyncio.to_thread(
        sessions_of, session.cwd, everywhere=everywhere, environ=environ
    )
    if not cards:
        return "No sessions yet." if everywhere else "No sessions here yet."
    lines = list(listed(cards[:MOST], line_width(), everywhere=everywhere))
    if len(cards) > MOST:
        lines.append(f"… and {counted(len(cards) - MOST, 'session')} more: detent sessions")
    return "\n".join([*lines, "detent -r ID goes on with one of them."])
