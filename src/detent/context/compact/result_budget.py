"""The results of one message together: the largest are shortened before anybody has read them.

So nothing that was sent changes. The whole text lies in a file, and the model is told where.
"""

from collections.abc import Callable, Sequence

from detent.context.bounds import kept_in, shortened
from detent.context.trims import words_of
from detent.types.events import CallEnded, Trim

MOST_TOGETHER = 100_000
"""Characters."""
PER_TOKEN_OF_WINDOW = 2
"""Characters: no message takes more than about half of a window."""
LEAST = 1_000
"""Characters that a result keeps in any case."""

KeepResult = Callable[[CallEnded, str], str]
"""Puts the text of a result away and gives the path of its file; empty when that failed."""


def budget_of(window: int, single: int) -> int:
    """`single` is what one result may have: who wants more of one gets it."""
    return min(max(MOST_TOGETHER, single), window * PER_TOKEN_OF_WINDOW)


def trims(fresh: Sequence[CallEnded], most: int, keep: KeepResult) -> tuple[Trim, ...]:
    sizes = [len(words_of(entry.outcome)) for entry in fresh]
    if sum(sizes) <= most:
        return ()
    level = max(level_of(sizes, most), LEAST)
    return tuple(
        Trim(entry.seq, _shortened(entry, level, keep))
        for entry, size in zip(fresh, sizes, strict=True)
        if size > level
    )


def level_of(sizes: Sequence[int], most: int) -> int:
    """What each may have so that all together have no more than `most`: small ones stay whole, and
    what they leave is shared out among the large ones."""
    left = most
    for number, size in enumerate(sorted(sizes)):
        share = left // (len(sizes) - number)
        if size > share:
            return share
        left -= size
    return max(sizes, default=0)


def _shortened(entry: CallEnded, most: int, keep: KeepResult) -> str:
    """What was shortened before has its file already."""
    words = words_of(entry.outcome)
    return shortened(words, most, lambda text: kept_in(text) or keep(entry, text))
