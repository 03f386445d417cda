"""Calls of an answer that broke off have run. When the next answer repeats one, it does not."""

from collections.abc import Sequence

from detent.loop.limits import BROKEN_OFF
from detent.types.content import Call
from detent.types.events import CallEnded, Entry, Prompted, Replied
from detent.types.outcomes import Cut, Outcome, with_context

NOT_AGAIN = "[From the answer that broke off: the same call, not run a second time.]"


class Repeats:
    """Gives the outcome of each earlier call to one repetition at most."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._left = ran_before(entries)

    def take(self, call: Call) -> Outcome | None:
        for index, (earlier, outcome) in enumerate(self._left):
            if (earlier.name, earlier.arguments) == (call.name, call.arguments):
                del self._left[index]
                return with_context(outcome, NOT_AGAIN)
        return None


def ran_before(entries: Sequence[Entry]) -> list[tuple[Call, Outcome]]:
    """The calls of the last answer that came to their end, if that answer broke off."""
    calls = _broken_off(entries)
    if not calls:
        return []
    ids = {call.id for call in calls}
    ended = {
        entry.call_id: entry.outcome
        for entry in entries
        if isinstance(entry, CallEnded) and entry.call_id in ids
    }
    return [
        (call, ended[call.id])
        for call in calls
        if call.id in ended and not isinstance(ended[call.id], Cut)
    ]


def _broken_off(entries: Sequence[Entry]) -> list[Call]:
    for entry in reversed(entries):
        if isinstance(entry, Prompted):
            break
        if isinstance(entry, Replied):
            is_whole = entry.stop != BROKEN_OFF
            return [] if is_whole else [b for b in entry.content if isinstance(b, Call)]
    return []
