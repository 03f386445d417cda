"""Settings: the files there are, and what is wrong in them, with the line."""

import os

from detent.app.settings.sources import Where, places, read_file
from detent.sdk.health.key_lines import located
from detent.sdk.health.record import Check, Place
from detent.types.errors import BadInput

UNTRUSTED = "detent trust shows what this folder's files ask for, and asks you"


async def look(place: Place) -> list[Check]:
    files = [path for _, path in settings_files(place.where)]
    texts = {path: _text(path) for path in files}
    if place.grounds is None:
        return [Check("settings", "problem", located(place.fault, texts), "mend it in that file")]
    settings = place.grounds.settings
    count = "1 file" if len(files) == 1 else f"{len(files) or 'no'} files"
    found = [Check("settings", "ok", count)]
    for said in (*settings.notices, *settings.hints):
        advice = UNTRUSTED if "trust" in said else ""
        found.append(Check("settings", "warning", located(said, texts), advice))
    return found


def settings_files(where: Where) -> list[tuple[str, str]]:
    """Level and path of each that is there."""
    managed = (os.path.join(folder, "managed-settings.json") for folder in where.managed)
    known = [(one.name, one.path) for one in places(where)]
    known += [("managed", path) for path in managed]
    return [(level, path) for level, path in known if os.path.exists(path)]


def _text(path: str) -> bytes:
    try:
        return read_file(path)[0]
    except (OSError, BadInput):
        return b""
