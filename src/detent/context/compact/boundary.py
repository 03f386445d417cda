"""Where a compaction cuts: what it replaces, and what stays word for word."""

from collections.abc import Sequence

from msgspec import Struct

from detent.context.project import effective, not_rewound, project
from detent.types.content import Call
from detent.types.events import (
    CallEnded,
    CallStarted,
    Compacted,
    Entry,
    Prompted,
    Reminded,
    Replied,
)

WITH_THE_PROMPT = "prompt hook"
"""What a hook has added to a prompt is told once: it stays with it."""


class Boundary(Struct, frozen=True):
    keeps_from: int
    keeps: tuple[int, ...]
    """Entries before it that stay: the request at hand."""
    older: tuple[Entry, ...]
    """What the summary stands for, earlier summaries included."""
    kept: tuple[Entry, ...]
    """What is read beside the summary."""

    @property
    def lineage(self) -> tuple[int, ...]:
        """The compactions that end up inside, the oldest first."""
        found: dict[int, None] = {}
        for earlier in self._earlier:
            found |= dict.fromkeys((*earlier.lineage, earlier.seq))
        return tuple(found)

    @property
    def depth(self) -> int:
        return 1 + max((earlier.depth for earlier in self._earlier), default=0)

    @property
    def told_again(self) -> list[Reminded]:
        """What comes right back after the summary: files of memory, as they were read last."""
        files = {(e.source, e.path): e for e in self.older if isinstance(e, Reminded) and e.path}
        kept = {(e.source, e.path) for e in self.kept if isinstance(e, Reminded)}
        return [entry for key, entry in files.items() if key not in kept]

    @property
    def _earlier(self) -> list[Compacted]:
        return [entry for entry in self.older if isinstance(entry, Compacted)]


def boundary_of(entries: Sequence[Entry], keep: int) -> Boundary | None:
    """None when there is nothing old enough to leave out."""
    still = effective(entries)
    cut = keeps_from(still, keep)
    request = {entry.seq for entry in current_request(entries)}
    keeps = tuple(entry.seq for entry in still if entry.seq < cut and entry.seq in request)
    older: list[Entry] = []
    kept: list[Entry] = []
    for entry in still:
        stays = entry.seq >= cut or entry.seq in keeps
        (older if isinstance(entry, Compacted) or not stays else kept).append(entry)
    if not any(isinstance(entry, Replied | Prompted) for entry in older):
        return None
    return Boundary(cut, keeps, tuple(older), tuple(kept))


def keeps_from(entries: Sequence[Entry], keep: int) -> int:
    """Where the kept tail begins: at an answer, together with all its calls.

    Each answer and what follows it count as two messages. Calls may have started before their
    answer was whole, so their entries can lie before it.
    """
    places = [place for place, entry in enumerate(entries) if isinstance(entry, Replied)]
    kept = places[-max(1, keep // 2) :] if keep else []
    if not kept:
        return max((entry.seq for entry in entries), default=0) + 1
    first = entries[kept[0]]
    assert isinstance(first, Replied)
    ids = {block.id for block in first.content if isinstance(block, Call)}
    behind = places[len(places) - len(kept) - 1] + 1 if len(places) > len(kept) else 0
    early = [
        entry.seq
        for entry in entries[behind : kept[0]]
        if isinstance(entry, CallStarted | CallEnded) and entry.call_id in ids
    ]
    return min([first.seq, *early])


def current_request(entries: Sequence[Entry]) -> list[Prompted | Reminded]:
    """The prompt of the last turn, what was said while it ran, and what hooks added to these."""
    current: list[Prompted | Reminded] = []
    for entry in not_rewound(entries):
        if isinstance(entry, Prompted):
            current = [*current, entry] if entry.steered else [entry]
        elif isinstance(entry, Reminded) and entry.source == WITH_THE_PROMPT and current:
            current.append(entry)
    return current


def replaced_messages(entries: Sequence[Entry], compacted: Compacted) -> int:
    """How many messages fewer there are, the one with the summary not counted."""
    kept = [e for e in effective([*entries, compacted]) if not isinstance(e, Compacted)]
    spoken = (e for e in kept if isinstance(e, Prompted | Reminded | Replied))
    leads = isinstance(next(spoken, None), Replied)  # behind a message that is none of them
    return max(0, len(project(entries)) - len(project(kept)) + leads)
