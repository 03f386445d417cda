"""Going back to a prompt: the conversation, the files, or both; and forward again."""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from detent.app.undo.doing import SOURCE, Ground, Report, begin, end, look, named, work
from detent.app.undo.planning import Wish
from detent.context.project import not_rewound, project
from detent.session.undo import deeds_of, redoable, standing
from detent.types.content import own_words, plain_text
from detent.types.errors import BadInput
from detent.types.events import Entry, Prompted, Reminded, Restored, Rewound
from detent.types.files import Change

Part = Literal["chat", "files", "both"]
STAY = "The conversation went back to this point, but these files stay as you changed them later"


class Point(Struct, frozen=True):
    """A prompt that one can go back to: before it was said."""

    number: int
    """Prompts are counted from 1; those that were taken back keep their numbers."""
    seq: int
    text: str
    at: float
    files: int
    """How many have been changed since, by calls that stand."""


class Rewinding(Struct, frozen=True, omit_defaults=True):
    point: Point
    part: Part
    messages: int = 0
    """How many the conversation loses."""
    files: Report | None = None
    is_preview: bool = False


class Redone(Struct, frozen=True, omit_defaults=True):
    files: Report | None = None
    messages: int = 0
    """How many the conversation has got back."""


def points(entries: Sequence[Entry]) -> tuple[Point, ...]:
    """The oldest first."""
    counting = {entry.seq for entry in not_rewound(entries)}
    deeds = deeds_of(entries)
    stands = standing(deeds)
    changed = [(d.seq, c.path) for d in deeds if stands.get(d.seq) for c in d.changes]
    found: list[Point] = []
    number = 0
    for entry in entries:
        if isinstance(entry, Prompted) and not entry.steered:
            number += 1
            if entry.seq in counting:
                files = len({path for seq, path in changed if seq > entry.seq})
                typed = "\n".join(own_words(entry.content)) or plain_text(entry.content)
                text = " ".join(typed.split())
                found.append(Point(number, entry.seq, text, entry.at, files))
    return tuple(found)


def point_of(entries: Sequence[Entry], number: int) -> Point:
    """Raises BadInput."""
    known = points(entries)
    found = next((point for point in known if point.number == number), None)
    if found is None:
        there = ", ".join(str(point.number) for point in known)
        there = f"there is: {there}" if known else "nothing was said yet"
        raise BadInput(f"there is no prompt {number} to go back to; {there}")
    return found


def look_back(ground: Ground, number: int, part: Part) -> Rewinding:
    """What would come of it. Touches nothing."""
    entries = ground.entries()
    point = point_of(entries, number)
    files = look(ground, Wish(since=point.seq)) if part != "chat" else None
    lost = _lost(entries, point) if part != "files" else 0
    return Rewinding(point, part, lost, files, is_preview=True)


def rewind(ground: Ground, number: int, part: Part) -> Rewinding:
    """Blocks. The files go first: if that is cut off, nothing of the conversation is lost."""
    entries = list(ground.entries())
    point = point_of(entries, number)
    files: Report | None = None
    undone = 0
    if part != "chat":
        planned = begin(ground, Wish(since=point.seq))
        if isinstance(planned, Report):
            files = planned
        else:
            files = end(ground, planned, work(ground, planned), tells=part == "files")
            undone = ground.entries()[-1].seq
    if part == "files":
        return Rewinding(point, part, 0, files)
    lost = _lost(entries, point)
    go_back(ground, point.seq - 1, undone)
    return Rewinding(point, part, lost, files)


def go_back(ground: Ground, to: int, undone: int = 0) -> None:
    """The conversation alone. Of files that stay changed its model is told: it does not know."""
    ground.record(Rewound(to=to, asked=True, undone=undone))
    if trouble := ground.trouble():
        raise BadInput(f"the conversation stays as it is: {trouble}")
    deeds = deeds_of(ground.entries())
    stands = standing(deeds)
    later = [d for d in deeds if d.seq > to and stands.get(d.seq)]
    last: dict[str, Change] = {change.path: change for d in later for change in d.changes}
    if last:
        text = f"[{STAY}: {named(tuple(last.values()), ground.cwd)}.]"
        ground.record(Reminded(text=text, source=SOURCE))


def redo(ground: Ground) -> Redone:
    """What was taken back last, files or conversation or both at once. Blocks."""
    entries = list(ground.entries())
    rewound, undo = restorable(entries), redoable(deeds_of(entries))
    if rewound is None or (undo is not None and undo.seq > rewound.seq):
        return Redone(_redo_files(ground))
    is_both = undo is not None and undo.seq == rewound.undone
    files = _redo_files(ground, tells=False) if is_both else None
    before = len(project(entries))
    ground.record(Restored(entries=(rewound.seq,)))
    return Redone(files, max(0, len(project(ground.entries())) - before))


def _redo_files(ground: Ground, *, tells: bool = True) -> Report:
    planned = begin(ground, Wish(redo=True))
    if isinstance(planned, Report):
        return planned
    return end(ground, planned, work(ground, planned), tells=tells)


def restorable(entries: Sequence[Entry]) -> Rewound | None:
    """The last rewind that a person wanted, as long as nothing was said since."""
    void = {seq for entry in entries if isinstance(entry, Restored) for seq in entry.entries}
    for entry in reversed(entries):
        if isinstance(entry, Prompted):
            return None
        if isinstance(entry, Rewound) and entry.asked and entry.seq not in void:
            return entry
    return None


def _lost(entries: Sequence[Entry], point: Point) -> int:
    then = [entry for entry in not_rewound(entries) if entry.seq < point.seq]
    return max(0, len(project(entries)) - len(project(then)))
