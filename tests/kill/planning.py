"""Which cases there are: every point of every story, and beyond them as many as one likes."""

from __future__ import annotations

import errno
import random
from collections.abc import Iterator

from .cases import Case, points_of
from .faults import Point

KINDS = ("each", "again", "random", "power", "errors")
LONGEST = 0.12
"""Seconds that a run takes, about: later than that there is nothing to kill."""
SLOW = {"stubborn"}
"""Its programs are waited for: each of its points once is enough."""
ERRORS = (errno.ENOSPC, errno.EIO, errno.EROFS)
LEVELS = ("process", "power")


def each(did: dict[str, list[str]]) -> Iterator[Case]:
    """Every operation of every story: before, half-way and after."""
    for story, names in did.items():
        yield from (Case(story, (point,)) for point in points_of(names))


def chosen(kind: str, did: dict[str, list[str]], rng: random.Random) -> Iterator[Case]:
    """Without end: killed again while going on, at any moment, with the power, on a bad disk."""
    stories = sorted(set(did) - SLOW) or sorted(did)
    points = {story: list(points_of(names)) for story, names in did.items()}
    while True:
        story = rng.choice(stories)
        some = rng.choice(points[story])
        match kind:
            case "again":
                more = rng.choices(points[story], k=rng.choice((1, 1, 2)))
                yield Case(story, (some, *more))
            case "random":
                yield Case(story, after=rng.uniform(0.001, LONGEST))
            case "power":
                yield Case(story, (some,), power=rng.choice(LEVELS), seed=rng.randrange(1 << 30))
            case _:
                yield Case(story, (Point(some.at, error=rng.choice(ERRORS)),))


def cases(
    kinds: list[str], count: int, did: dict[str, list[str]], rng: random.Random
) -> Iterator[Case]:
    """All that can be listed; what is left of the count is shared by the other kinds."""
    if "each" in kinds:
        yield from each(did)
        count -= sum(1 for _ in each(did))
    endless = [chosen(kind, did, rng) for kind in kinds if kind != "each"]
    for number in range(max(count, 0) if endless else 0):
        yield next(endless[number % len(endless)])
