"""What of a session is told in short by now, and how."""

from collections.abc import Sequence

from msgspec import Struct

from detent.app.looking import entries_of
from detent.app.options import Options
from detent.context.compact.undoing import undoable
from detent.context.project import effective
from detent.types.events import Compacted, Entry, Trimmed


class StageTotal(Struct, frozen=True):
    stage: str
    trims: int
    """Results and answers that read shorter."""
    saved: int
    """Tokens, as far as they are known."""


class Shortened(Struct, frozen=True):
    session: str
    compacted: Compacted | None
    """The summary that the model reads."""
    stages: tuple[StageTotal, ...]


def shortened(options: Options, session: str = "") -> Shortened:
    """Of a stored session, the newest of the folder by default. Raises BadInput."""
    opened, entries = entries_of(options, session)
    read = effective(entries)
    compacted = next((entry for entry in read if isinstance(entry, Compacted)), None)
    return Shortened(opened.session, compacted, _stages(entries, {entry.seq for entry in read}))


def _stages(entries: Sequence[Entry], read: set[int]) -> tuple[StageTotal, ...]:
    """Only what can be read: the rest is part of the summary."""
    counts = set(undoable(entries))
    totals: dict[str, StageTotal] = {}
    for entry in entries:
        if not isinstance(entry, Trimmed) or entry.seq not in counts:
            continue
        trims = sum(trim.entry in read for trim in entry.trims)
        if trims:
            known = totals.get(entry.stage, StageTotal(entry.stage, 0, 0))
            saved = max(0, entry.before_tokens - entry.after_tokens)
            totals[entry.stage] = StageTotal(entry.stage, known.trims + trims, known.saved + saved)
    return tuple(totals.values())
