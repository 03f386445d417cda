"""An undo, from the wish to the record: planned, written down, done, and written down again.

The first entry says that it has begun, the second what came of it. Cut off in between it is told,
and doing it again finishes it: every file is either back or as it was.
"""

import os
from collections.abc import Callable, Sequence
from typing import Literal

from msgspec import Struct

from detent.app.undo.applying import Applied, apply, preview
from detent.app.undo.judging import Left
from detent.app.undo.planning import Plan, Touched, Wish, plan, what_became
from detent.app.undo.uncovered import uncovered
from detent.session.blobs import Blobs
from detent.types.errors import BadInput
from detent.types.events import Entry, Reminded
from detent.types.files import Change, Undone

SOURCE = "undo"
MOST_NAMED = 12
UNDONE = "The user has put back files that you had changed"
REDONE = "The user has restored your changes to files"


class Report(Struct, frozen=True, omit_defaults=True):
    session: str
    did: Literal["undo", "redo"]
    steps: tuple[int, ...]
    """Those that no longer stand, or stand again."""
    files: tuple[Touched, ...]
    left: tuple[Left, ...]
    """As they are: somebody has changed them since, or they could not be brought back."""
    uncovered: tuple[str, ...] = ()
    is_preview: bool = False
    was_cut_off: bool = False
    """An earlier try was."""
    trouble: str = ""
    """It was done, but could not be written down."""

    @property
    def is_nothing(self) -> bool:
        return not self.steps and not self.files and not self.left


class Ground(Struct, frozen=True):
    """What an undo stands on: a session that nobody else writes, and its folder."""

    session: str
    entries: Callable[[], Sequence[Entry]]
    record: Callable[[Entry], None]
    trouble: Callable[[], str]
    blobs: Blobs
    roots: tuple[str, ...]
    cwd: str


def look(ground: Ground, wish: Wish) -> Report:
    """What would come of it. Touches nothing."""
    planned = plan(ground.entries(), wish)
    if planned is None:
        return _nothing(ground, wish)
    applied = preview(
        planned.moves, ground.blobs, ground.roots, is_again=planned.is_again, merges=wish.merges
    )
    return _report(ground, planned, applied, is_preview=True)


def begin(ground: Ground, wish: Wish) -> Plan | Report:
    """Written down before anything is touched; a report where nothing will be. Raises BadInput
    where it cannot be written down."""
    planned = plan(ground.entries(), wish)
    if planned is None:
        return _nothing(ground, wish)
    expected = look(ground, wish)
    if not expected.files and expected.left:
        return expected
    ground.record(Undone(of=planned.of, begun=True))
    if trouble := ground.trouble():
        raise BadInput(f"nothing was put back: {trouble}")
    return planned


def work(ground: Ground, planned: Plan) -> Applied:
    """Blocks."""
    return apply(
        planned.moves,
        ground.blobs,
        ground.roots,
        is_again=planned.is_again,
        merges=planned.wish.merges,
    )


def end(ground: Ground, planned: Plan, applied: Applied, *, tells: bool = True) -> Report:
    left = tuple(dict.fromkeys(one.path for one in applied.left))
    came_to_nothing = bool(left) and not applied.changes
    of = () if came_to_nothing else planned.of
    ground.record(Undone(of=of, changes=applied.changes, left=left))
    if applied.changes and tells:
        ground.record(reminder(applied.changes, ground.cwd, is_redo=planned.wish.redo))
    return _report(ground, planned, applied)


def undo(ground: Ground, wish: Wish) -> Report:
    """All of it, in one go; blocks."""
    planned = begin(ground, wish)
    if isinstance(planned, Report):
        return planned
    return end(ground, planned, work(ground, planned))


def reminder(changes: Sequence[Change], cwd: str, *, is_redo: bool) -> Reminded:
    """The model must not go on as if its files were as it left them."""
    what = REDONE if is_redo else UNDONE
    text = f"[{what}: {named(changes, cwd)}. Read them again before you edit them.]"
    return Reminded(text=text, source=SOURCE)


def named(changes: Sequence[Change], cwd: str) -> str:
    files = [change for change in changes if not _is_folder(change)]
    paths = [os.path.relpath(change.path, cwd) for change in files or changes]
    more = f" and {len(paths) - MOST_NAMED} more" if len(paths) > MOST_NAMED else ""
    return ", ".join(paths[:MOST_NAMED]) + more


def _is_folder(change: Change) -> bool:
    return "folder" in (change.before.kind, change.after.kind)


def _nothing(ground: Ground, wish: Wish) -> Report:
    return Report(ground.session, "redo" if wish.redo else "undo", (), (), ())


def _report(ground: Ground, planned: Plan, applied: Applied, *, is_preview: bool = False) -> Report:
    is_redo = planned.wish.redo
    beyond = () if is_redo else uncovered(ground.entries(), planned.since, ground.roots)
    return Report(
        ground.session,
        "redo" if is_redo else "undo",
        planned.steps,
        tuple(Touched(c.path, what_became(c.before, c.after)) for c in applied.changes),
        applied.left,
        beyond,
        is_preview,
        planned.is_again,
        "" if is_preview else ground.trouble(),
    )
