"""Naming a session as it begins."""

from collections.abc import Sequence

from detent.types.events import Entry
from detent.types.running import Named

LONGEST = 80


def newly_named(name: str, entries: Sequence[Entry]) -> Named | None:
    """None where it has that name, or nothing is left of it: a program may have made it up, and a
    run must not fail for it."""
    clean = "".join(char if char.isprintable() else " " for char in name)
    clean = " ".join(clean.split())[:LONGEST].rstrip()
    last = next((one.name for one in reversed(entries) if isinstance(one, Named)), "")
    return Named(name=clean) if clean and clean != last else None
