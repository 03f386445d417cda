"""What an import found."""

from collections import Counter

from msgspec import Struct

from detent.types.events import Entry


class Unreadable(Exception):
    """Not a session that we understand; the message says why."""


class Found(Struct, frozen=True):
    """A session in a file that is not ours yet."""

    session: str
    cwd: str
    entries: tuple[Entry, ...]
    left_out: Counter[str] = Counter()
    """What was passed over, by what it is."""


def is_id(text: str) -> bool:
    """It becomes a file name, so only a UUID will do."""
    parts = text.split("-")
    is_hex = all(char in "0123456789abcdef" for part in parts for char in part)
    return [len(part) for part in parts] == [8, 4, 4, 4, 12] and is_hex
