"""Memory files: how many are read, and which of them not as a whole."""

from detent.sdk.health.record import Check, Place
from detent.sdk.memory import Memory, memory_of

NOT_WHOLE = {
    "cut": ("is too long: only its beginning is read", "shorten it, or split it into rules"),
    "left out": ("is left out", "detent memory tells why"),
    "refused": ("may not be read", "detent memory tells why"),
    "unreadable": ("cannot be read", "look at who may read it"),
}


async def look(place: Place) -> list[Check]:
    if place.grounds is None:
        return [Check("memory", "warning", "not known: the settings cannot be read")]
    found = await memory_of(place.options)
    checks = [Check("memory", "ok", _told(found))]
    for piece in found.files:
        if said := NOT_WHOLE.get(piece.state):
            checks.append(Check("memory", "warning", f"{piece.path} {said[0]}", said[1]))
    checks += (Check("memory", "warning", notice) for notice in found.notices)
    return checks


def _told(found: Memory) -> str:
    read = [piece for piece in found.files if piece.state in ("loaded", "cut")]
    if read:
        files = "1 file" if len(read) == 1 else f"{len(read)} files"
        return f"{files}, {sum(piece.tokens for piece in read):,} tokens: detent memory lists them"
    if found.off:
        return f"none is read: {found.off}"
    return "no files here; detent init writes an AGENTS.md"
