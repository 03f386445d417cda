"""What is told of stored sessions."""

from msgspec import Struct

from detent.session.facts import SessionCard
from detent.types.budget import Spent


class TurnView(Struct, frozen=True):
    entry: int
    """The number of its prompt."""
    at: float
    prompt: str
    answer: str
    """The last one."""
    steps: tuple[int, ...]
    """Which answers of the session are of this turn."""
    calls: int
    changed: tuple[str, ...]
    """Files, by path."""
    reason: str
    """Why it ended; empty where it did not."""
    error: str
    tokens: int
    is_rewound: bool


class Overview(Struct, frozen=True):
    card: SessionCard
    turns: tuple[TurnView, ...]
    changed: tuple[str, ...]
    """Files that some turn has changed, what was undone left out."""
    spent: Spent


class Deleted(Struct, frozen=True):
    sessions: tuple[str, ...]
    kept: dict[str, str]
    """Those that could not be deleted, and why."""
    freed: int = 0
    """Bytes."""
