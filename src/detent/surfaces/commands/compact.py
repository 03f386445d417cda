"""`/compact [what to keep]`: the older conversation is told in short, now."""

from detent.sdk.session import Session
from detent.surfaces.commands import Hear
from detent.types.events import Event, Notice, Prompted

NOTHING = "There is nothing to compact yet."
IN_VAIN = "Nothing was compacted: a hook did not want it."


async def run(session: Session, instructions: str, hear: Hear) -> str:
    if not any(isinstance(entry, Prompted) for entry in session.entries):
        return NOTHING
    reasons: list[str] = []

    async def listen(event: Event) -> None:
        if isinstance(event, Notice) and event.level == "info":
            reasons.append(event.text)
        await hear(event)

    done = await session.compact(instructions, listen)
    if done is None:
        return f"Nothing was compacted: {reasons[-1]}." if reasons else IN_VAIN
    by = f"by {done.model}" if done.by == "model" and done.model else "without a model"
    sizes = f"{done.before_tokens:,} → {done.after_tokens:,} tokens"
    return f"Compacted: {sizes}, {by}. `detent uncompact` brings everything back."
