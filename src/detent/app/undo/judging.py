"""Whether a path may go back: only if it is as it was left."""

import os
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from detent.app.undo.present import NOTHING, read_in, state_of
from detent.app.undo.texts import difference, merged
from detent.host.beneath import folder_of
from detent.session.blobs import Blobs, Missing
from detent.session.undo import Move
from detent.types.files import FileState

CHANGED = "it was changed since"
BETWEEN = "it was changed by somebody else in between; it is back to that"
LATE = "a call that was cut off has changed it, or somebody since; --interrupted puts it back"
HALTS = {"between": BETWEEN, "late": LATE}
NOT_EMPTY = "it holds what is not from the session"
NOT_KEPT = "its content was not kept"
OUTSIDE = "it lies outside the workspace"
BENT = "a link has come to stand in its way"


class Left(Struct, frozen=True, omit_defaults=True):
    """A path that stays as it is."""

    path: str
    reason: str
    diff: tuple[str, ...] = ()
    """What was changed since, where that is text."""
    can_merge: bool = False
    """Its own changes and what is to be undone are in different lines."""


class Way(Struct, frozen=True):
    """A path that goes back."""

    path: str
    present: FileState
    target: FileState
    data: bytes | None = None
    """What it will hold, where no blob does: both changes in one."""
    is_back: bool = False
    """By an undo that was cut off: nothing is left to do but to tell it."""
    was: FileState | None = None
    """What it was before an undo that was cut off; None: what it is."""

    @property
    def leaves(self) -> bool:
        """What is there must go first."""
        if self.is_back or self.present.kind == "none":
            return False
        is_folder, was_folder = self.present.kind == "folder", self.target.kind == "folder"
        return self.target.kind == "none" or is_folder != was_folder

    @property
    def arrives(self) -> bool:
        if self.is_back or self.target.kind == "none":
            return False
        return not (self.present.kind == "folder" and self.target.kind == "folder")


def ways_of(
    moves: Sequence[Move], blobs: Blobs, roots: Sequence[str], *, is_again: bool, merges: bool
) -> list[Way | Left]:
    judge = _Judge(blobs, roots, is_again=is_again, merges=merges)
    found = [way for move in _once(moves) for way in judge.of(move)]
    return _emptied(found)


def _once(moves: Sequence[Move]) -> list[Move]:
    """A file that a call wrote by another name is told of by both: only where it is counts."""
    known = {move.path for move in moves}
    return [move for move in moves if (real := _real(move.path)) == move.path or real not in known]


def _real(path: str) -> str:
    return os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))


class _Judge:
    def __init__(self, blobs: Blobs, roots: Sequence[str], *, is_again: bool, merges: bool) -> None:
        self._blobs = blobs
        self._roots = roots
        self._is_again = is_again
        self._merges = merges

    def of(self, move: Move) -> list[Way | Left]:
        """Both where only a part of the way is free."""
        path = move.path
        if not any(path.startswith(root.rstrip("/") + "/") for root in self._roots):
            return [Left(path, OUTSIDE)]
        if os.path.normpath(path) != path:
            return [Left(path, OUTSIDE)]
        if move.is_dark:
            is_back = move.target == NOTHING and not os.path.lexists(path)
            return [] if is_back else [Left(path, NOT_KEPT)]
        try:
            way = self._way(move, state_of(path))
        except OSError as error:
            way = Left(path, error.strerror or str(error))
        further = [Left(path, HALTS[move.halt])] if move.halt and not isinstance(way, Left) else []
        return [*([way] if way is not None else []), *further]

    def _way(self, move: Move, present: FileState) -> Way | Left | None:
        if present == move.target:
            is_told = self._is_again and move.present != move.target
            return Way(move.path, move.present, move.target, is_back=True) if is_told else None
        if present != move.present and not (self._is_again and _is_between(move, present)):
            return self._changed(move, present)
        if "other" in (move.target.kind, present.kind):
            return Left(move.path, NOT_KEPT)
        if move.target.kind == "file":
            try:
                self._blobs.get(move.target.digest)
            except Missing as missing:
                return Left(move.path, str(missing))
        return Way(move.path, present, move.target, was=move.present)

    def _changed(self, move: Move, present: FileState) -> Way | Left:
        """Somebody else's work. Shown, and merged only where that is wanted and clean."""
        if {present.kind, move.present.kind} != {"file"}:
            return Left(move.path, CHANGED)
        try:
            base = self._blobs.get(move.present.digest)
            with folder_of(move.path) as (folder, name):
                mine = read_in(folder, name)
            is_file = move.target.kind == "file"
            both = merged(base, mine, self._blobs.get(move.target.digest)) if is_file else None
        except (Missing, OSError):
            return Left(move.path, CHANGED)
        if both is None or not self._merges:
            return Left(move.path, CHANGED, difference(base, mine), both is not None)
        from detent.session.blobs import digest_of

        target = replace(present, size=len(both), digest=digest_of(both))
        return Way(move.path, present, target, both)


def _is_between(move: Move, present: FileState) -> bool:
    """States that an undo goes through, where it was cut off there: gone and not yet made, and a
    folder before it has its mode."""
    if present == NOTHING:
        return True
    return present.kind == "folder" and "folder" in (move.present.kind, move.target.kind)


def _emptied(found: list[Way | Left]) -> list[Way | Left]:
    """A folder goes only when all that it holds goes before it."""
    going = {
        way.path
        for way in found
        if isinstance(way, Way) and (way.target.kind == "none" or way.is_back)
    }
    kept: list[Way | Left] = []
    deepest_first = sorted(found, key=lambda way: way.path, reverse=True)
    for way in deepest_first:
        if isinstance(way, Way) and way.leaves and way.present.kind == "folder":
            try:
                held = [f"{way.path}/{name}" for name in os.listdir(way.path)]
            except OSError:
                held = []
            if not going.issuperset(held):
                going.discard(way.path)
                kept.append(Left(way.path, NOT_EMPTY))
                continue
        kept.append(way)
    return kept[::-1]
