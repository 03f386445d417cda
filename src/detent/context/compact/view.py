"""What a stage sees of the conversation, and how much of what it proposes is taken."""

from collections import Counter
from collections.abc import Iterable

from msgspec import Struct

from detent.context.compact.boundary import keeps_from
from detent.context.tokens import Family, estimate, of_blocks
from detent.context.trims import shorter
from detent.types.content import Call
from detent.types.events import CallEnded, CallStarted, Entry, Replied, Trim

PERSONS = ("AskUserQuestion", "ExitPlanMode")
"""Calls in which the user has spoken: never shortened, whatever the stage."""
LAST_COUNTS = ("TodoWrite",)
"""Calls of which the last one says how things stand."""

Group = tuple[Trim, ...]
"""Trims that make sense only together."""


class View:
    """The entries as they read now."""

    def __init__(
        self,
        entries: list[Entry],
        keep: int,
        *,
        is_critical: bool = False,
        family: Family = "claude",
    ) -> None:
        self.family: Family = family
        self.entries = entries
        self.keep = keep
        self.is_critical = is_critical
        """The window is nearly full: what is recent may be shortened as well."""
        self.started = {e.call_id: e for e in entries if isinstance(e, CallStarted)}
        self.ended = {e.call_id: e for e in reversed(entries) if isinstance(e, CallEnded)}
        self.spared = self._spared()
        """Calls that stay as they are."""

    def before(self, keep: int) -> list[Entry]:
        """All but the latest messages, and what must stay as it is."""
        tail = keeps_from(self.entries, keep)
        return [e for e in self.entries if e.seq < tail and not self._is_spared(e)]

    def _is_spared(self, entry: Entry) -> bool:
        return isinstance(entry, CallEnded) and entry.call_id in self.spared

    def _spared(self) -> set[str]:
        """An id that comes twice, in a damaged log, cannot be told from its twin."""
        calls = [call for entry in self.entries for call in calls_of(entry)]
        last = {call.name: call.id for call in calls if call.name in LAST_COUNTS}
        twice = {name for name, count in Counter(call.id for call in calls).items() if count > 1}
        return {call.id for call in calls if call.name in PERSONS} | set(last.values()) | twice


def calls_of(entry: Entry) -> list[Call]:
    if not isinstance(entry, Replied):
        return []
    return [block for block in entry.content if isinstance(block, Call)]


class Choice(Struct, frozen=True):
    trims: Group
    saved: int
    """Tokens, estimated."""


def chosen(view: View, proposed: Iterable[Group], need: int) -> Choice:
    """As many as it takes, in the order in which they are proposed; none that saves nothing."""
    entries = {entry.seq: entry for entry in view.entries}
    taken: list[Trim] = []
    saved = 0
    for group in proposed:
        if saved >= need:
            break
        saving = sum(_saving(view, entries[trim.entry], trim) for trim in group)
        if saving > 0:
            taken += group
            saved += saving
    return Choice(tuple(taken), saved)


def _saving(view: View, entry: Entry, trim: Trim) -> int:
    after = shorter(entry, trim)
    if trim.block >= 0 and isinstance(entry, Replied) and isinstance(after, Replied):
        place = slice(trim.block, trim.block + 1)  # the rest of a long answer is not looked at
        before, left = (of_blocks(e.content[place], view.family) for e in (entry, after))
        return before - left
    lost = [view.ended[call.id] for call in calls_of(entry) if call.id in view.ended]
    return sum(estimate(e, view.family) for e in (entry, *lost)) - estimate(after, view.family)
