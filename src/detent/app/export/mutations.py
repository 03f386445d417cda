"""What became of each message after it was said, by what the log says. Pure.

A message is what an entry put into the conversation. A mutation is an entry that changed how it
reads, and its serial is the number of that entry: so numbering goes on by itself in a session that
is resumed, whoever reads the log.
"""

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from detent.context.project import not_rewound
from detent.types.content import Call
from detent.types.events import (
    CallEnded,
    Compacted,
    Entry,
    Prompted,
    Reminded,
    Replied,
    Restored,
    Rewound,
    Trimmed,
    Withheld,
)

MOST_KEPT = 8
"""Of one message; the totals count all of them."""
Said = Prompted | Reminded | Replied | CallEnded | Compacted


class Mutation(Struct, frozen=True, omit_defaults=True):
    serial: int
    kind: str
    """added, trimmed, compacted, withheld, rewound (and taken back since), restored"""
    at: float = 0.0
    detail: str = ""


class History(Struct, frozen=True):
    """Of one message."""

    mutations: tuple[Mutation, ...]
    """The last ones."""
    totals: dict[str, int]
    last_mutation_serial: int


def messages_of(entries: Sequence[Entry]) -> list[Said]:
    """What was said and not rewound, also where a summary stands for it now."""
    return [entry for entry in not_rewound(entries) if isinstance(entry, Said)]


def histories(entries: Sequence[Entry]) -> dict[int, History]:
    """By the number of the message's entry. What was rewound has vanished."""
    counted = not_rewound(entries)
    said = {entry.seq: [_added(entry)] for entry in counted if isinstance(entry, Said)}
    touched: dict[int, tuple[int, ...]] = {}
    """What each entry that shortened something has changed."""
    for entry in entries:
        kind, detail, seqs = _changes(entry, said, touched, counted)
        touched[entry.seq] = seqs = tuple(dict.fromkeys(seqs))
        for seq in seqs:
            if seq in said and seq < entry.seq:
                said[seq].append(Mutation(entry.seq, kind, entry.at, detail))
    return {seq: _history(found) for seq, found in said.items()}


def serial_of(found: Iterable[History]) -> int:
    """Where a session that is resumed goes on counting: behind the last of all messages."""
    return max((history.last_mutation_serial for history in found), default=0)


def _changes(
    entry: Entry,
    said: dict[int, list[Mutation]],
    touched: dict[int, tuple[int, ...]],
    counted: Sequence[Entry],
) -> tuple[str, str, tuple[int, ...]]:
    match entry:
        case Trimmed(trims=trims, stage=stage):
            named = [trim.entry for trim in trims]
            whole = {trim.entry for trim in trims if trim.block < 0}
            return "trimmed", stage, (*named, *_results(counted, whole))
        case Compacted(trigger=trigger):
            return "compacted", trigger, tuple(_replaced(entry, said, counted))
        case Withheld(entries=seqs, reason=reason):
            return "withheld", reason, seqs
        case Rewound(to=to):  # whoever is still here was brought back
            return "rewound", "", tuple(seq for seq in said if to < seq < entry.seq)
        case Restored(entries=seqs):
            return "restored", "", tuple(seq for one in seqs for seq in touched.get(one, ()))
        case _:
            return "", "", ()


def _replaced(
    entry: Compacted, said: dict[int, list[Mutation]], counted: Sequence[Entry]
) -> Iterator[int]:
    summaries = {one.seq for one in counted if isinstance(one, Compacted)}
    for seq in said:
        is_old = seq < entry.keeps_from or seq in summaries
        if is_old and seq < entry.seq and seq not in entry.keeps:
            yield seq


def _results(counted: Sequence[Entry], whole: set[int]) -> Iterator[int]:
    """An answer that is left out takes the results of its calls with it."""
    calls = {
        block.id
        for entry in (counted if whole else ())
        if isinstance(entry, Replied) and entry.seq in whole
        for block in entry.content
        if isinstance(block, Call)
    }
    for entry in counted if calls else ():
        if isinstance(entry, CallEnded) and entry.call_id in calls and entry.seq not in whole:
            yield entry.seq


def _added(entry: Said) -> Mutation:
    return Mutation(entry.seq, "added", entry.at)


def _history(found: list[Mutation]) -> History:
    totals: dict[str, int] = {}
    for mutation in found:
        totals[mutation.kind] = totals.get(mutation.kind, 0) + 1
    return History(tuple(found[-MOST_KEPT:]), totals, found[-1].serial)
