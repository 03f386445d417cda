"""MCP servers that files name: told of, for they are not started by this version."""

from detent.app.not_read import servers
from detent.sdk.health.record import Check, Place

LATER = "MCP is not part of this version: they are not started"


async def look(place: Place) -> list[Check]:
    if place.grounds is None:
        return [Check("mcp", "warning", "not known: the settings cannot be read")]
    found, faults = servers(place.grounds)
    by_file: dict[str, list[str]] = {}
    for one in found:
        by_file.setdefault(one.path, []).append(one.name)
    checks = [
        Check("mcp", "warning", f"{', '.join(names)} in {path}", LATER)
        for path, names in by_file.items()
    ]
    checks += [Check("mcp", "warning", fault, "mend it in that file") for fault in faults]
    return checks or [Check("mcp", "ok", "no servers are named (MCP is not part of this version)")]
