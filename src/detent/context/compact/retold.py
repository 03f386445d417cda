"""Files that were told again after a compaction, once it is undone: the model reads them once."""

from collections.abc import Sequence

from detent.types.events import Compacted, Entry, Reminded, Restored


def without_twins(kept: list[Entry], entries: Sequence[Entry]) -> list[Entry]:
    """Told again the same, what came first stays: then the conversation begins as it did before the
    compaction. Else what came later. Only what was told before the undoing is looked at, so what
    has been sent since never changes."""
    compactions = {entry.seq for entry in entries if isinstance(entry, Compacted)}
    undone: dict[int, int] = {}
    for entry in entries:
        if isinstance(entry, Restored):
            for seq in compactions.intersection(entry.entries):
                undone.setdefault(seq, entry.seq)
    for compaction, at in sorted(undone.items()):
        gone = _twins(kept, compaction, at)
        kept = [entry for entry in kept if entry.seq not in gone]
    return kept


def _twins(kept: Sequence[Entry], compaction: int, undone_at: int) -> set[int]:
    before: dict[tuple[str, str], list[Reminded]] = {}
    again: dict[tuple[str, str], Reminded] = {}
    for entry in kept:
        if not isinstance(entry, Reminded) or not entry.path or entry.seq > undone_at:
            continue
        if entry.seq < compaction:
            before.setdefault((entry.source, entry.path), []).append(entry)
        else:
            again.setdefault((entry.source, entry.path), entry)
    gone: set[int] = set()
    for file, later in again.items():
        earlier = before.get(file, [])
        is_same = bool(earlier) and earlier[-1].text == later.text
        gone |= {later.seq} if is_same else {entry.seq for entry in earlier}
    return gone
