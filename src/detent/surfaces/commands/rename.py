"""`/rename NAME`: what the session is called from now on."""

from detent.sdk.keyless import is_keyless
from detent.sdk.session import Session
from detent.surfaces.commands import Hear
from detent.surfaces.tables.widths import one_line
from detent.types.errors import BadInput


async def run(session: Session, rest: str, hear: Hear) -> str:
    if not rest:
        raise BadInput("/rename takes the new name")
    if is_keyless(session.options) and not session.entries:
        raise BadInput("there is no session to name: nothing was said yet (--name gives one)")
    await session.rename(rest)
    name = one_line(session.name)
    return f'The session is called {name} now; detent -r "{name}" goes on with it.'
