"""`/diff`: what the session has changed in files, as a unified diff."""

from collections.abc import Iterator

from detent.sdk.diffs import Diff, FileDiff, diff_of
from detent.sdk.session import Session
from detent.surfaces.commands import Hear
from detent.surfaces.commands.undo import WHAT, named
from detent.surfaces.counting import counted
from detent.types.errors import BadInput

MOST_LINES = 2_000
"""Of all diffs together."""
USAGE = "/diff takes turn, turn N, session, or the number of a step"


async def run(session: Session, rest: str, hear: Hear) -> str:
    try:
        found = await diff_of(session, rest)
    except BadInput as error:
        is_ours = str(error).startswith("there is no step")
        raise BadInput(str(error) if is_ours else f"{USAGE}; not {rest!r}") from None
    return "\n".join(told(found, session.cwd))


def told(found: Diff, cwd: str) -> Iterator[str]:
    """A table of files, then the diffs, as far as there is room for them."""
    if not found.files:
        was = ": what it did was undone" if found.is_undone else ""
        yield f"Nothing has changed in {found.of}{was}."
        return
    yield headline(found)
    yield from (f"  {_row(file, cwd)}" for file in found.files)
    if found.left_out:
        yield f"  … and {counted(found.left_out, 'file')} more"
    room, cut = MOST_LINES, 0
    for file in found.files:
        lines = file.text.split("\n") if file.text else []
        if not lines:
            continue
        if room > 0:
            yield ""
            yield from lines[:room]
        cut += max(0, len(lines) - max(0, room))
        room -= len(lines)
    if cut:
        yield f"… {counted(cut, 'line')} more; `/diff STEP` shows less at a time"


def headline(found: Diff) -> str:
    added = sum(file.added for file in found.files)
    removed = sum(file.removed for file in found.files)
    number = counted(len(found.files) + found.left_out, "file")
    return f"{number} changed in {found.of}: +{added:,} -{removed:,}"


def _row(file: FileDiff, cwd: str) -> str:
    counts = f"  +{file.added:,} -{file.removed:,}" if file.text else ""
    note = f"  ({file.note})" if file.note else ""
    return f"{WHAT[file.what]} {named(file.path, cwd)}{counts}{note}".replace("\n", "\\n")
