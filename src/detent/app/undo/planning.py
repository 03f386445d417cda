"""What an undo is to take back, and what a session has done that could be."""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from detent.session.undo import (
    Deed,
    Move,
    cut_off,
    deeds_of,
    last_standing,
    moves_against,
    moves_since,
    redoable,
    standing,
    undone_since,
)
from detent.types.errors import BadInput
from detent.types.events import Entry, Replied
from detent.types.files import FileState

What = Literal["made", "changed", "removed", "mode"]


class Wish(Struct, frozen=True):
    """What is to be taken back: one of these, or the last step that stands."""

    step: int = 0
    """From this step on."""
    turn: bool = False
    """All of the last prompt."""
    since: int | None = None
    """Everything after this entry."""
    redo: bool = False
    late: bool = False
    """Also what a call that was cut off may have changed, or somebody since."""
    merges: bool = False
    """Where the user has changed other lines of a file, both changes count."""


class Plan(Struct, frozen=True):
    wish: Wish
    of: tuple[int, ...]
    moves: tuple[Move, ...]
    steps: tuple[int, ...]
    since: int
    is_again: bool = False
    """It was begun before, and cut off."""


class Touched(Struct, frozen=True):
    path: str
    what: What


class StepDone(Struct, frozen=True, omit_defaults=True):
    """A step that has changed files, as a listing shows it."""

    step: int
    prompt: int
    calls: tuple[str, ...]
    files: tuple[Touched, ...]
    is_undone: bool = False


def plan(entries: Sequence[Entry], wish: Wish) -> Plan | None:
    """None when there is nothing to take back. Raises BadInput for a step that never was."""
    answers = sum(isinstance(entry, Replied) for entry in entries)
    if wish.step > answers:
        raise BadInput(f"there is no step {wish.step}: the session has had {answers}")
    deeds = deeds_of(entries)
    found = _forward(deeds, wish) if wish.redo else _backward(deeds, wish)
    begun = cut_off(entries)
    if found is None or begun is None:
        return found
    return replace(found, is_again=bool(set(found.of).intersection(begun.of)))


def _forward(deeds: Sequence[Deed], wish: Wish) -> Plan | None:
    undo = redoable(deeds)
    if undo is None:
        return None
    return Plan(wish, (undo.seq,), moves_against(undo), _steps_of(deeds, undo.of), undo.seq)


def _backward(deeds: Sequence[Deed], wish: Wish) -> Plan | None:
    since = _back_to(deeds, wish)
    if since is None:
        return None
    of, stands = undone_since(deeds, since), standing(deeds)
    moves = moves_since(deeds, since, late=wish.late)
    if not of or not (moves or any(stands.get(one) for one in of)):
        return None
    return Plan(wish, of, moves, _steps_of(deeds, of), since)


def _back_to(deeds: Sequence[Deed], wish: Wish) -> int | None:
    """The entry to which the files go back."""
    if wish.since is not None:
        return wish.since
    last = last_standing(deeds)
    if wish.step:
        from_then_on = [d.seq for d in deeds if d.step >= wish.step and not d.is_undo]
    elif last is None:
        return None
    elif wish.turn:
        from_then_on = [d.seq for d in deeds if d.prompt >= last.prompt and not d.is_undo]
    else:
        from_then_on = [d.seq for d in deeds if d.step >= last.step and not d.is_undo]
    return min(from_then_on) - 1 if from_then_on else None


def _steps_of(deeds: Sequence[Deed], of: Sequence[int]) -> tuple[int, ...]:
    found: set[int] = set()
    for deed in deeds:
        if deed.seq in of:
            found |= set(_steps_of(deeds, deed.of)) if deed.is_undo else {deed.step}
    return tuple(sorted(found))


def listing(entries: Sequence[Entry]) -> tuple[StepDone, ...]:
    """The oldest first."""
    deeds = deeds_of(entries)
    stands = standing(deeds)
    steps: dict[int, list[Deed]] = {}
    for deed in deeds:
        if not deed.is_undo:
            steps.setdefault(deed.step, []).append(deed)
    return tuple(
        StepDone(
            step,
            calls[0].prompt,
            tuple(f"{call.name} {call.about}".strip() for call in calls),
            tuple(
                Touched(c.path, what_became(c.before, c.after))
                for call in calls
                for c in call.changes
            ),
            not any(stands[call.seq] for call in calls),
        )
        for step, calls in sorted(steps.items())
    )


def what_became(before: FileState, after: FileState) -> What:
    if before.kind == "none":
        return "made"
    if after.kind == "none":
        return "removed"
    same = (before.kind, before.digest, before.target) == (after.kind, after.digest, after.target)
    return "mode" if same else "changed"
