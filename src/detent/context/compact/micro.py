"""Oversized results keep their head and their tail.

When the window is nearly full this reaches up to the last message, which no request has held yet.
"""

from collections.abc import Iterator

from detent.context.bounds import kept_in, shortened
from detent.context.compact.view import Group, View
from detent.context.trims import words_of
from detent.types.events import CallEnded, Trim

OVERSIZED, LEFT = 4_000, 2_000
"""Characters."""


def trims(view: View) -> Iterator[Group]:
    for entry in view.before(2 if view.is_critical else max(view.keep, 2)):
        if not isinstance(entry, CallEnded):
            continue
        words = words_of(entry.outcome)
        if len(words) > OVERSIZED:
            yield (Trim(entry.seq, shortened(words, LEFT, kept_in)),)
