"""Names that may be meant by a few letters: those that hold them in this order, the best first."""

import heapq
from collections.abc import Iterator, Sequence

SLICE = 2_000
"""Names that are looked at in one go: then keys are heard again."""


def matches(typed: str, names: Sequence[str], most: int) -> Iterator[list[str] | None]:
    """None after each slice; at last the best of all."""
    letters = typed.lower()
    found: list[tuple[float, str]] = []
    for start in range(0, len(names), SLICE):
        for name in names[start : start + SLICE]:
            if (width := _width(letters, name.lower())) is not None:
                found.append((_score(typed, name, width), name))
        if len(found) > 50 * most:
            found = heapq.nsmallest(most, found)
        yield None
    yield [name for _, name in heapq.nsmallest(most, found)]


def best(typed: str, names: Sequence[str], most: int) -> list[str]:
    """All in one go, for few names."""
    *_, found = matches(typed, names, most)
    return found or []


def _width(letters: str, name: str) -> int | None:
    """From the first of the letters to the last, each as early as it can be; None where one is
    missing. One walk: a pattern would try every way there is."""
    first = at = -1
    for letter in letters:
        at = name.find(letter, at + 1)
        if at < 0:
            return None
        first = at if first < 0 else first
    return at - first + 1 if letters else 0


def _score(typed: str, name: str, width: int) -> float:
    """The smaller the better: letters close together, in the last part, at its beginning."""
    base = name.rstrip("/").rpartition("/")[2]
    spread = width - len(typed)
    score = spread * 4.0 + len(name) * 0.1 + name.count("/")
    lowered, wanted = base.casefold(), typed.casefold()
    if lowered.startswith(wanted):
        score -= 40
    elif wanted in lowered:
        score -= 25
    elif wanted in name.casefold():
        score -= 15
    return score
