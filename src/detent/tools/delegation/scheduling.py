"""When each child of a plan begins, or that it never will. Pure: who runs them says what ended.

A child begins the moment that all it needs is done, whatever else still runs. What fails does not
end what runs: it keeps those from beginning that need it, and all others of a group that has had
more failures than it may.
"""

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from detent.tools.delegation.graph import Plan, PlannedChild

Standing = Literal["waiting", "due", "running", "completed", "failed", "skipped"]
"""`due`: nothing is in its way but that there may be no place."""


UNENDED = ("waiting", "due", "running")


class Due(Struct, frozen=True):
    """What follows from what has ended."""

    begin: tuple[int, ...] = ()
    skip: tuple[tuple[int, str], ...] = ()
    """With the reason."""
    over: tuple[int, ...] = ()
    """Groups of which no child is left."""


class Tally:
    """What came of a group so far."""

    def __init__(self, size: int) -> None:
        self.open = size
        self.completed = 0
        self.failed: list[int] = []
        self.skipped: list[int] = []
        self.batches = 0
        self.largest_batch = 0
        self._batch = (-1, 0)
        """The moment of the last one, and how many began then."""
        self.is_told = False

    def begin(self, moment: int) -> None:
        last, size = self._batch
        self.batches += moment != last
        self._batch = (moment, size + 1 if moment == last else 1)
        self.largest_batch = max(self.largest_batch, self._batch[1])

    @property
    def lost(self) -> int:
        return len(self.failed) + len(self.skipped)


class Schedule:
    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self.standing: list[Standing] = ["waiting"] * len(plan.children)
        self.tallies = [Tally(len(group.children)) for group in plan.groups]
        self._moment = 0
        """It lasts until a child ends: what begins in one is a batch."""
        self._causes: dict[int, str] = {}
        """Of each child that came to nothing: what was first not done."""

    def ended(self, index: int, completed: bool) -> None:
        """Also of one that had ended before the plan was taken up again."""
        child = self._plan.children[index]
        tally = self.tallies[child.group]
        tally.open -= 1
        self._moment += 1
        if completed:
            self.standing[index] = "completed"
            tally.completed += 1
        else:
            self.standing[index] = "failed"
            tally.failed.append(index)
            self._causes[index] = f"`{child.name}` failed"

    def due(self) -> Due:
        """Every child is given once, and counts as due or skipped from then on."""
        begin: list[int] = []
        skip: list[tuple[int, str]] = []
        for index in self._plan.order:  # what is skipped counts for all behind it at once
            if self.standing[index] != "waiting":
                continue
            child = self._plan.children[index]
            if found := self._hindrance(child):
                skip.append((index, self._skip(child, *found)))
            elif not self._waits(child):
                begin.append(index)
        for index in begin:
            self.standing[index] = "due"
        return Due(tuple(sorted(begin)), tuple(sorted(skip)), tuple(self._over()))

    def _waits(self, child: PlannedChild) -> bool:
        return (
            any(self.standing[need] != "completed" for need in child.needs)
            or any(self.tallies[group].open for group in child.needs_groups)
            or (child.after is not None and self.standing[child.after] in UNENDED)
        )

    def begin(self, index: int) -> str:
        """One that is due has a place now. Why it does not begin any more; empty: it does."""
        child = self._plan.children[index]
        if self.standing[index] == "running":  # it tries a second time
            return ""
        if found := self._halted(child):
            return self._skip(child, *found)
        self.standing[index] = "running"
        self.tallies[child.group].begin(self._moment)
        return ""

    def _hindrance(self, child: PlannedChild) -> tuple[str, str] | None:
        """Why it can never begin, and what is at the root of that."""
        for need in child.needs:
            if cause := self._causes.get(need, ""):
                name, how = self._plan.children[need].name, self.standing[need]
                told = "failed" if how == "failed" else f"was skipped ({cause})"
                return f"its dependency `{name}` {told}", cause
        for number in child.needs_groups:
            group, tally = self._plan.groups[number], self.tallies[number]
            if tally.lost > group.tolerates:
                cause = self._causes[min((*tally.failed, *tally.skipped), key=self._rank)]
                return f"its dependency, group `{group.name}`, was not done ({cause})", cause
        return self._halted(child)

    def _rank(self, index: int) -> tuple[bool, int]:
        return self.standing[index] == "skipped", index

    def _halted(self, child: PlannedChild) -> tuple[str, str] | None:
        group, failed = self._plan.groups[child.group], self.tallies[child.group].failed
        if group.halts_after is not None and len(failed) > group.halts_after:
            return _halt(f"group `{group.name}`", self._names(failed))
        failed = [index for tally in self.tallies for index in tally.failed]
        if self._plan.halts_after is not None and len(failed) > self._plan.halts_after:
            return _halt("the call", self._names(failed))
        return None

    def _names(self, indices: Iterable[int]) -> str:
        return ", ".join(f"`{self._plan.children[index].name}`" for index in sorted(indices))

    def _skip(self, child: PlannedChild, reason: str, cause: str) -> str:
        tally = self.tallies[child.group]
        self.standing[child.index] = "skipped"
        self._causes[child.index] = cause
        tally.open -= 1
        tally.skipped.append(child.index)
        return reason

    def _over(self) -> Iterable[int]:
        for number, tally in enumerate(self.tallies):
            if not tally.open and not tally.is_told:
                tally.is_told = True
                yield number


def _halt(who: str, failed: str) -> tuple[str, str]:
    return f"{who} was halted: {failed} failed", f"{failed} failed"
