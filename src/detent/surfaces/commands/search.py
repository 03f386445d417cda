"""`/search WORDS`: where they stand, in all sessions."""

import asyncio

from detent.sdk.session import Session
from detent.sdk.sessions import search_sessions
from detent.surfaces.commands import Hear
from detent.surfaces.commands.context_table import line_width
from detent.surfaces.tables.session_table import found
from detent.types.errors import BadInput


async def run(session: Session, rest: str, hear: Hear) -> str:
    if not rest:
        raise BadInput("/search takes the words to look for")
    environ = session.options.environ
    hits = await asyncio.to_thread(search_sessions, rest, environ=environ)
    if not hits:
        return "Nothing was found."
    lines = list(found(hits, line_width(), is_coloured=False))
    return "\n".join([*lines, "detent -r ID goes on with one of them."])
