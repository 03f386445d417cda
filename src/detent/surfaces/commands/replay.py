"""`/replay`: the session once more, from its log alone; is all the same?"""

import asyncio

from detent.sdk.replay import replay
from detent.sdk.session import Session
from detent.surfaces.commands import Hear
from detent.surfaces.tables.replay_table import told
from detent.surfaces.wording.shown import visible
from detent.types.errors import BadInput


async def run(session: Session, rest: str, hear: Hear) -> str:
    """In a thread: the loop that runs there is another one."""
    if not session.path or not session.entries:
        raise BadInput("there is nothing to replay: nothing was said, or the session is not saved")
    report = await asyncio.to_thread(replay, session.path)
    return "\n".join(map(visible, told(report)))
