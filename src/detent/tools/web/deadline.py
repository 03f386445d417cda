"""A clock for work in a thread, which nobody else can stop."""

import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")


class TooSlow(Exception):
    """The work takes more time than it is worth."""


class Deadline:
    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._at = time.monotonic() + seconds

    def check(self) -> None:
        if time.monotonic() > self._at:
            raise TooSlow(f"the page could not be read within {self._seconds:g} seconds")

    def watched(self, things: Iterable[T]) -> Iterator[T]:
        for thing in things:
            self.check()
            yield thing
