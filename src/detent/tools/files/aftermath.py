"""What is told about a file after it was changed: to programs, and to the model."""

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct

from detent.ports import Desk
from detent.tools.files.patches import Hunk
from detent.tools.files.texts import TextFile, legible
from detent.types.outcomes import Done, Outcome, done, with_context

ECHOED = 20_000
"""Longer content is not repeated in a result."""
PATCHED = 100_000
"""Characters of hunks in a result; those beyond are left out."""


class Change(Struct, frozen=True):
    path: str
    before: TextFile | None
    """None: there was no such file, or no text."""
    after: TextFile
    patch: Sequence[Hunk] = ()
    """Empty for a new file: it would only repeat the content."""


async def changed(text: str, change: Change, about: dict[str, Any], desk: Desk) -> Outcome:
    """`about` comes on top of what all changes have in common."""
    before = change.before.body if change.before else None
    data = {
        "filePath": change.path,
        **about,
        "originalFile": None if before is None or len(before) > ECHOED else legible(before),
        "structuredPatch": list(_echoed(change.patch)),
    }
    return await _with_faults(done(text, data), change, desk)


def _echoed(patch: Sequence[Hunk]) -> Iterator[dict[str, Any]]:
    room = PATCHED
    for hunk in patch:
        room -= sum(map(len, hunk.lines))
        if room < 0:
            return
        yield hunk.as_data()


async def _with_faults(outcome: Done, change: Change, desk: Desk) -> Outcome:
    """And what the change has made wrong, where a language server can tell."""
    before = change.before.body if change.before else ""
    said = await desk.shop.code.faults(change.path, before, change.after.body)
    return with_context(outcome, said) if said else outcome
