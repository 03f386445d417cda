"""One case: a story with a fault in it, gone on with as often as it takes, and what was wrong."""

from __future__ import annotations

import os
import random
import shutil
import sys
import tempfile
from collections.abc import Iterator
from errno import errorcode
from pathlib import Path
from typing import Any, NamedTuple

from . import forks
from .checks import Told, after_a_kill, entries_of, in_the_end, still_readable, told_by
from .checks import unsaved as unsaved_run
from .crews import ALL
from .faults import AFTER, BEFORE, HALF, HALVED, SYNCED, Layer, Point
from .playing import Ground, play, reporter
from .power import Disk, lose_power
from .stories import FILES, Story

NOT_SAVED = 1_000
"""As many requests as one likes may be in no log."""


class Case(NamedTuple):
    story: str
    points: tuple[Point, ...] = ()
    """The first is for the run itself, each other for going on with it."""
    after: float = 0.0
    """Killed from outside, after so many seconds."""
    power: str = ""
    """The level of durability with which the machine itself goes down at the first point."""
    seed: int = 0

    def __str__(self) -> str:
        faults = ", then ".join(map(_fault, self.points)) or f"killed after {self.after:.3f} s"
        return f"{self.story}: {faults}{self.power and f', power off ({self.power})'}"


def _fault(point: Point) -> str:
    if point.error:
        return f"{errorcode[point.error]} from write {point.at} on"
    return f"killed {point.how} operation {point.at}"


class Result(NamedTuple):
    complaints: tuple[str, ...]
    kills: int
    """How many of the points were reached."""
    orphans: int
    slowest: float
    """Seconds until the last of what a killed run had started was gone."""


def prepared(base: str) -> Ground:
    root = tempfile.mkdtemp(dir=base)
    for name in ("work", "user", "outside"):
        os.mkdir(f"{root}/{name}")
    for name, text in FILES.items():
        Path(root, "work", name).write_text(text)
    return Ground(root)


def operations(story: Story, base: str) -> list[str]:
    """What a run without a fault does, in order; its own checks must hold too."""
    ground = prepared(base)
    heard = f"{ground.root}/heard"

    def task() -> None:
        report = reporter(heard)
        Layer(hear=lambda one: one.name == SYNCED or report(did=one.name)).install()
        play(story, ground, again=False)
        report(loaded=sorted(sys.modules))

    died = forks.run(task)
    told = told_by(ground.reports)
    wrong = [*in_the_end(story, ground, told, 0), *died.orphans]
    if wrong or died.code:
        raise AssertionError(f"{story.name} without a fault: exit {died.code}, {wrong}")
    *did, loaded = told_by(heard).more
    forks.load(loaded["loaded"])
    shutil.rmtree(ground.root)
    return [one["did"] for one in did]


def points_of(did: list[str]) -> Iterator[Point]:
    for number, name in enumerate(did, start=1):
        yield Point(number, BEFORE)
        if name in HALVED:
            yield Point(number, HALF)
        yield Point(number, AFTER)


def run_case(case: Case, base: str) -> Result:
    """Its folder stays where something was wrong."""
    ground = prepared(base)
    trial = Trial(ALL[case.story], ground, case)
    if case.points and case.points[0].error:
        trial.without_a_disk()
    else:
        trial.killed()
    if trial.complaints:
        trial.complaints.append(f"see {ground.root}")
    else:
        shutil.rmtree(ground.root)
    return Result(tuple(trial.complaints), trial.kills, trial.orphans, trial.slowest)


class Trial:
    def __init__(self, story: Story, ground: Ground, case: Case) -> None:
        self._story, self._ground, self._case = story, ground, case
        self._disk = Disk(ground.home)
        self._more: dict[str, Any] = {}
        if case.power:
            self._more["settings"] = {**story.settings, "durability": case.power}
        self.complaints: list[str] = []
        self.kills = self.orphans = 0
        self.slowest = 0.0

    @property
    def told(self) -> Told:
        return told_by(self._ground.reports)

    def killed(self) -> None:
        """As often as there are points, then to the end."""
        case, again = self._case, False
        for point in (*case.points, *([Point()] if case.after else []), Point()):
            if self._run(point, again, 0.0 if again else case.after) == 0:
                break
            self.kills, again = self.kills + 1, True
            self.complaints += after_a_kill(self._ground, self.told, self.kills)
            if case.power and self.kills == 1:
                self._lose_power()
        is_certain = case.power in ("", "power")
        self.complaints += in_the_end(
            self._story, self._ground, self.told, self.kills, is_certain=is_certain
        )

    def _lose_power(self) -> None:
        before = list(entries_of(self._ground))
        lose_power(self._disk, self._ground.root, random.Random(self._case.seed))
        self.complaints += still_readable(before, list(entries_of(self._ground)))
        told = self.told
        told.forget(self._ground.reports)

    def without_a_disk(self) -> None:
        """It goes on, says so, and has no effect that is not in the log; then the disk is back."""
        if self._run(self._case.points[0], again=False) == 0:
            self.complaints += unsaved_run(self._story, self._ground, self.told)
        self.told.forget(self._ground.reports)
        self._run(Point(), again=True)
        # Tokens that were spent meanwhile are in no log.
        self.complaints += in_the_end(self._story, self._ground, self.told, NOT_SAVED)

    def _run(self, point: Point, again: bool, after: float = 0.0) -> int:
        def task() -> None:
            hear = self._disk.listener(self._ground.root) if self._case.power else None
            Layer(point, hear, under=self._ground.home).install()
            play(self._story, self._ground, again=again, **self._more)

        died = forks.run(task, kill_after=after)
        self.slowest = max(self.slowest, died.left)
        self.orphans += len(died.orphans)
        self.complaints += [f"I7: {command} outlived its agent" for command in died.orphans]
        if died.code not in (0, -9):
            self.complaints.append(f"exit {died.code}")
        return died.code
