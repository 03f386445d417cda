"""A sliding window over turns: of old ones there remains what the user said and the last answer.

Calls go with their results, and the answers they were made in; the last answer begins with a line
that says how many there were.
"""

from collections import Counter
from collections.abc import Iterator

from detent.context.compact.view import Group, View, calls_of
from detent.types.content import Text, plain_text
from detent.types.events import Entry, Prompted, Replied, Trim

TURNS = 3
"""The latest ones stay whole."""
MOST_NAMES = 8


def trims(view: View) -> Iterator[Group]:
    """A group for each old turn, the oldest first."""
    for replies in old_turns(view.entries):
        working = [r for r in replies if _may_go(view, r)]
        if not working:
            continue
        gone = tuple(Trim(reply.seq) for reply in working if reply is not replies[-1])
        yield (*gone, *_last(replies[-1], _note(working), is_working=replies[-1] is working[-1]))


def old_turns(entries: list[Entry]) -> list[list[Replied]]:
    """The answers of each turn that lies outside the window."""
    turns: list[list[Replied]] = []
    for entry in entries:
        if isinstance(entry, Prompted) and not entry.steered:
            turns.append([])
        elif isinstance(entry, Replied) and turns:
            turns[-1].append(entry)
    return [replies for replies in turns[:-TURNS] if replies]


def _may_go(view: View, reply: Replied) -> bool:
    calls = calls_of(reply)
    return bool(calls) and not any(call.id in view.spared for call in calls)


def _last(reply: Replied, note: str, *, is_working: bool) -> Iterator[Trim]:
    """An answer that made calls and was the last one was cut short: its words stay."""
    if is_working:
        yield Trim(reply.seq, f"{note}\n\n{plain_text(reply.content)}".rstrip())
        return
    for number, block in enumerate(reply.content):
        if isinstance(block, Text):
            yield Trim(reply.seq, f"{note}\n\n{block.text}", number)
            return


def _note(working: list[Replied]) -> str:
    names = Counter(call.name for reply in working for call in calls_of(reply))
    what = ", ".join(f"{name} ×{count}" for name, count in names.most_common(MOST_NAMES))
    return f"[{names.total()} calls and their results are left out: {what}]"
