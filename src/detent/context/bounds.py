"""No result may flood the window: the head and the tail are kept, the whole lies in a file."""

from collections.abc import Callable

from msgspec.structs import replace

from detent.types.content import Text
from detent.types.outcomes import Cut, Done, Failed, Outcome

MOST_CHARACTERS = 30_000
MOST_WANTED = 150_000
"""Nobody gets more, whatever is set."""

Keep = Callable[[str], str]
"""Puts a text away and gives the path of its file; empty when that failed."""


def nowhere(text: str) -> str:
    return ""


def bounded(outcome: Outcome, keep: Keep = nowhere, most: int = MOST_CHARACTERS) -> Outcome:
    match outcome:
        case Done(content=content):
            if all(len(part.text) <= most for part in content if isinstance(part, Text)):
                return outcome
            cut = (
                Text(shortened(p.text, most, keep)) if isinstance(p, Text) else p for p in content
            )
            return replace(outcome, content=tuple(cut))
        case Failed(text=text) | Cut(text=text) if len(text) > most:
            return replace(outcome, text=shortened(text, most, keep))
        case _:
            return outcome


def shortened(text: str, most: int, keep: Keep = nowhere) -> str:
    """Never longer than `most`, the note included."""
    if len(text) <= most:
        return text
    path = keep(text)
    note = f"\n[… {len(text):,} characters in all, the middle is left out{_whereabouts(path)} …]\n"
    room = max(0, most - len(note))
    head, tail = room - room // 2, room // 2
    return (text[:head] + note + (text[-tail:] if tail else ""))[:most]


def _whereabouts(path: str) -> str:
    return f"; the whole is in {path}" if path else ""
