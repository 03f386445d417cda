"""No result may flood the window: the head and the tail are kept, the whole lies in a file."""

from collections.abc import Callable

from msgspec.structs import replace

from detent.types.content import Text
from detent.types.outcomes import Cut, Done, Failed, Outcome

MOST_CHARACTERS = 30_000
MOST_WANTED = 150_000
"""Nobody gets more, whatever is set."""

_WHOLE = "; the whole is in "

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


def kept_in(text: str) -> str:
    """The path of the file that holds the whole of a shortened text; empty where there is none."""
    middle = text.find(_WHOLE)
    end = text.find(" …]", middle)
    return text[middle + len(_WHOLE) : end] if 0 <= middle < end else ""


def _whereabouts(path: str) -> str:
    return f"{_WHOLE}{path}" if path else ""


def harmless_line(text: str, most: int) -> str:
    """Words of others where one line is meant: bounded, and nothing in it that moves a cursor,
    hides, or closes what stands around it."""
    text = text[: most + 1]  # what is cut anyway need not be looked at
    if not text.isprintable():
        text = "".join(one if one.isprintable() else "?" for one in text)
    text = text.replace("</", "< /")
    return text if len(text) <= most else f"{text[: most - 1]}…"


def in_one_line(text: str, most: int) -> str:
    """Words of our own log, told in short."""
    flat = " ".join(text[: 8 * most].split())  # what is cut anyway need not be looked at
    return flat if len(flat) <= most else f"{flat[: most - 1]}…"
