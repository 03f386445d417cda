"""`/effort`: how much the model is asked to think; `/effort LEVEL` changes it."""

from detent.sdk.keyless import is_keyless
from detent.sdk.session import Session
from detent.surfaces.commands import Hear
from detent.types.errors import BadInput

LEVELS = ("low", "medium", "high", "xhigh", "max")
USUAL = ("default", "auto")
"""Words for leaving it to the settings."""
UNSAID = "what the provider does by itself"


async def run(session: Session, rest: str, hear: Hear) -> str:
    level = rest.lower()
    if not level:
        return f"Effort: {session.effort or UNSAID}."
    if level not in (*LEVELS, *USUAL):
        raise BadInput(f"/effort takes one of {', '.join(LEVELS)}, or default; not {rest!r}")
    await session.set_effort("" if level in USUAL else level)
    now = f"From the next turn on: {session.effort or UNSAID}."
    return f"{now} It ends with this run." if is_keyless(session.options) else now
