"""Whose hand it was: what the agents of a session have done to files, for those who come after."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable

from msgspec import Struct

from detent.session.blobs import Blobs, Missing
from detent.types.files import Change

LONGEST = 200_000
"""Bytes of a file of which a difference is told."""
MOST_LINES = 60
MOST_PATHS = 5_000
MOST_HANDS = 16
"""Of one path: the newest are remembered."""


class Touch(Struct, frozen=True, gc=False):
    by: str
    before: str
    after: str
    """Digests."""


class Told(Struct, frozen=True):
    text: str
    is_whole: bool = False
    """Whoever has read it knows the file as it is."""


class Hands:
    def __init__(self, blobs: Callable[[], Blobs | None]) -> None:
        self._blobs = blobs
        self._touches: dict[str, deque[Touch]] = {}

    def note(self, by: str, changes: Iterable[Change]) -> None:
        for change in changes:
            touches = self._touches.pop(change.path, None)  # to the end: it is the newest
            touches = deque(maxlen=MOST_HANDS) if touches is None else touches
            touches.append(Touch(by, change.before.digest, change.after.digest))
            self._touches[change.path] = touches
        while len(self._touches) > MOST_PATHS:
            del self._touches[next(iter(self._touches))]

    async def since(self, path: str, known: str, now: bytes, me: str) -> Told | None:
        """What others have made of a file since its bytes had this digest, or, where that is
        empty, since there was none; None: nothing."""
        others = [by for by in self._since(path, known) if by != me]
        if not others:
            return None
        names = list(dict.fromkeys(others))
        who = f"{' and '.join(names)} {'have' if len(names) > 1 else 'has'}"
        did = f"{who} changed {path} since you read it" if known else f"{who} made {path}"
        lines = await asyncio.to_thread(self._difference, known, now)
        if lines is None or len(lines) > MOST_LINES:
            cut = "" if lines is None else "\n".join(("", *lines[:MOST_LINES], "…"))
            return Told(f"{did}. Read it {'again' if known else 'first'}.{cut}")
        text = "\n".join((f"{did}:", *lines))
        return Told(f"{text}\nThat is all that has changed. Try again with this in mind.", True)

    def _since(self, path: str, known: str) -> list[str]:
        """Nobody, where it was never like that in the hands of any."""
        found: list[str] = []
        for touch in reversed(self._touches.get(path, ())):
            if touch.after == known:
                return found[::-1]
            found.append(touch.by)
            if touch.before == known:
                return found[::-1]
        return []

    def _difference(self, known: str, now: bytes) -> list[str] | None:
        """None where it cannot be told."""
        from difflib import unified_diff

        blobs = self._blobs()
        try:
            before = b"" if blobs is None or not known else blobs.get(known)
        except Missing:
            return None
        if blobs is None or max(len(before), len(now)) > LONGEST or b"\0" in before + now:
            return None
        try:
            old, new = before.decode().splitlines(), now.decode().splitlines()
        except UnicodeDecodeError:
            return None
        return [*unified_diff(old, new, lineterm="", n=2)][2:]
