"""Names that may be meant by a few letters: those that hold them in this order, the best first."""

import heapq
import re
from collections.abc import Iterator, Sequence

SLICE = 2_000
"""Names that are looked at in one go: then keys are heard again."""


def matches(typed: str, names: Sequence[str], most: int) -> Iterator[list[str] | None]:
    """None after each slice; at last the best of all."""
    pattern = re.compile(".*?".join(map(re.escape, typed)), re.IGNORECASE)
    found: list[tuple[float, str]] = []
    for start in range(0, len(names), SLICE):
        for name in names[start : start + SLICE]:
            if (hit := pattern.search(name)) is not None:
                found.append((_score(typed, name, hit), name))
        if len(found) > 50 * most:
            found = heapq.nsmallest(most, found)
        yield None
    yield [name for _, name in heapq.nsmallest(most, found)]


def best(typed: str, names: Sequence[str], most: int) -> list[str]:
    """All in one go, for few names."""
    *_, found = matches(typed, names, most)
    return found or []


def _score(typed: str, name: str, hit: "re.Match[str]") -> float:
    """The smaller the better: letters close together, in the last part, at its beginning."""
    base = name.rstrip("/").rpartition("/")[2]
    spread = hit.end() - hit.start() - len(typed)
    score = spread * 4.0 + len(name) * 0.1 + name.count("/")
    lowered, wanted = base.casefold(), typed.casefold()
    if lowered.startswith(wanted):
        score -= 40
    elif wanted in lowered:
        score -= 25
    elif wanted in name.casefold():
        score -= 15
    return score
