"""What a session has changed in files, as a diff; from its log, also while a turn runs."""

import asyncio
from typing import TYPE_CHECKING

from detent.app.diffing import Diff, FileDiff, diff
from detent.session.blobs import Blobs, Missing

if TYPE_CHECKING:
    from detent.sdk.session import Session

__all__ = ["Diff", "FileDiff", "diff_of"]


async def diff_of(session: "Session", which: str = "") -> Diff:
    """Of `turn`, `turn N`, `session` or the number of a step; empty is the last turn that has
    changed files. What was undone is not in it. Raises BadInput."""
    engine = session._engine
    entries, cwd = tuple(session.entries), engine.grounds.cwd
    blobs: Blobs = getattr(engine.journal.log, "blobs", None) or Blobs(engine.grounds.home)

    def read(digest: str) -> bytes | None:
        try:
            return blobs.get(digest)
        except Missing:
            return None

    return await asyncio.to_thread(diff, entries, which, cwd, read)
