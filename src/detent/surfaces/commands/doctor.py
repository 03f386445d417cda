"""`/doctor`: whether everything here works that was asked for, tried out."""

from detent.sdk.doctor import examine
from detent.sdk.looking import options_around
from detent.sdk.session import Session
from detent.surfaces.commands import Hear
from detent.surfaces.tables.health_table import lines


async def run(session: Session, rest: str, hear: Hear) -> str:
    return "\n".join(lines(await examine(options_around(session))))
