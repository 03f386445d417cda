"""The interpreter that runs us."""

import sys

from detent.sdk.health.record import Check, Place


async def look(place: Place) -> list[Check]:
    return [Check("python", "ok", f"{sys.version.split()[0]}, {sys.executable or 'embedded'}")]
