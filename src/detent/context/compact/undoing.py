"""Which shortenings of a session can be undone: all that still count."""

from collections.abc import Sequence

from detent.context.project import not_rewound
from detent.types.events import Compacted, Entry, Restored, Trimmed


def undoable(entries: Sequence[Entry], *, last: bool = False) -> tuple[int, ...]:
    """The compactions and trims, by number; with `last` the latest of them alone."""
    still = not_rewound(entries)
    undone = {seq for entry in still if isinstance(entry, Restored) for seq in entry.entries}
    found = [
        entry.seq
        for entry in still
        if isinstance(entry, Compacted | Trimmed) and entry.seq not in undone
    ]
    return tuple(found[-1:] if last else found)
