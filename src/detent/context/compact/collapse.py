"""Superseded views: where the same is seen again later, the earlier one says so in a line.

What is sent changes, what is stored does not.
"""

from collections.abc import Iterator

from detent.context.compact.view import Group, View
from detent.context.trims import words_of
from detent.types.codec import arguments_object
from detent.types.effects import Reads, Writes
from detent.types.events import CallEnded, CallStarted, Trim
from detent.types.outcomes import Done

SHORT = 300
"""Characters: what is no longer stays."""
READING = "Read"
PARTS = ("offset", "limit", "pages")
"""Arguments by which only a part is read: such a view stands for no other."""


def trims(view: View) -> Iterator[Group]:
    """The oldest first."""
    later = _Later()
    notes: list[tuple[CallEnded, str]] = []
    for entry in reversed(view.entries):
        if isinstance(entry, CallEnded) and (started := view.started.get(entry.call_id)):
            if note := later.note(started, entry):
                notes.append((entry, note))
            later.see(started, entry)
    old = {entry.seq for entry in view.before(view.keep)}
    for entry, note in reversed(notes):
        if entry.seq in old and len(words_of(entry.outcome)) > SHORT:
            yield (Trim(entry.seq, note),)


class _Later:
    """What came after the call that is looked at."""

    def __init__(self) -> None:
        self._read: set[str] = set()
        self._written: set[str] = set()
        self._same: set[tuple[str, str, str]] = set()

    def note(self, started: CallStarted, ended: CallEnded) -> str:
        """Why the result need not be kept; empty when nothing stands for it."""
        if _key(started, ended) in self._same:
            return "[the same call gave the same result again, see below]"
        if started.name != READING or not isinstance(ended.outcome, Done):
            return ""
        path = _path(started)
        if path and path in self._written:
            return f"[{path} as it was before it was changed, see below]"
        return f"[{path} was read again, see below]" if path and path in self._read else ""

    def see(self, started: CallStarted, ended: CallEnded) -> None:
        self._same.add(_key(started, ended))
        if not isinstance(ended.outcome, Done):
            return
        self._written |= {e.path for e in started.effects if isinstance(e, Writes)}
        if started.name == READING and not _is_part(started):
            self._read.add(_path(started))


def _path(started: CallStarted) -> str:
    return next((effect.path for effect in started.effects if isinstance(effect, Reads)), "")


def _is_part(started: CallStarted) -> bool:
    given = arguments_object(started.arguments) or {}
    return any(given.get(name) for name in PARTS)


def _key(started: CallStarted, ended: CallEnded) -> tuple[str, str, str]:
    return started.name, started.arguments, words_of(ended.outcome)
