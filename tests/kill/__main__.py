"""The kill matrix.

    PYTHONPATH=tests python -m kill --count 10000 --jobs 2

Prints what was wrong, and figures as one JSON object in the last line. Exits with 1 when something
was wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from . import forks
from .cases import Result, operations, run_case
from .command import CommandTrial
from .crews import ALL
from .planning import KINDS, cases

MEMORY = "/dev/shm"
Figures = dict[str, Any]
Trial = tuple[Callable[[], str], Callable[[], Result]]
"""What it is called, asked for when it is over; and the trial itself."""


def main() -> int:
    wanted = _arguments()
    figures = _shared(wanted) if wanted.jobs > 1 else _work(wanted)
    print(json.dumps(figures))
    return 1 if figures["bad"] else 0


def _work(wanted: argparse.Namespace) -> Figures:
    """Those cases that are our share. Where something was wrong the folders stay."""
    forks.settle()
    is_command = wanted.kinds == "command"
    base = tempfile.mkdtemp(prefix="kill-", dir=None if is_command else _fast())
    trials = _commands(wanted, base) if is_command else _trials(wanted, base)
    counted = Counted()
    try:
        _tried(trials, wanted, counted)
    finally:
        if not counted.bad:
            shutil.rmtree(base)
    return counted.figures()


def _tried(trials: Iterator[Trial], wanted: argparse.Namespace, counted: Counted) -> None:
    mine, of = map(int, wanted.share.split("/"))
    for number, (name, trial) in enumerate(trials):
        if number % of != mine - 1 or number % wanted.every:
            continue
        if wanted.minutes and counted.seconds > wanted.minutes * 60:
            break
        result = trial()
        for complaint in result.complaints:
            print(f"{name()}: {complaint}", flush=True)
        counted.add(result)


class Counted:
    def __init__(self) -> None:
        self._begun = time.monotonic()
        self.points = self.kills = self.bad = self.orphans = self.lost = self.doubled = 0
        self.slowest = 0.0

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._begun

    def add(self, result: Result) -> None:
        self.points += 1
        self.kills += result.kills
        self.bad += bool(result.complaints)
        self.orphans += result.orphans
        self.lost += sum(text.startswith("I2") for text in result.complaints)
        self.doubled += sum("happened 2" in text for text in result.complaints)
        self.slowest = max(self.slowest, result.slowest)

    def figures(self) -> Figures:
        """`slowest`: seconds until the last orphan of a killed run had gone."""
        named = {name: value for name, value in vars(self).items() if not name.startswith("_")}
        return {**named, "slowest": round(self.slowest, 3), "seconds": round(self.seconds, 1)}


def _fast() -> str | None:
    """In memory, where a sync costs nothing. A sandbox would hide it from commands."""
    return MEMORY if os.access(MEMORY, os.W_OK) else None


def _trials(wanted: argparse.Namespace, base: str) -> Iterator[Trial]:
    did = {name: operations(ALL[name], base) for name in wanted.stories or ALL}
    did = {name: operations(ALL[name], base) for name in did}  # as a warm one does
    rng = random.Random(wanted.seed)
    for case in cases(wanted.kinds.split(","), wanted.count, did, rng):
        yield case.__str__, partial(run_case, case, base)


def _commands(wanted: argparse.Namespace, base: str) -> Iterator[Trial]:
    for number in range(wanted.count):
        trial = CommandTrial(base, f"{wanted.seed}-{number}")
        yield partial("command {0.seed}:{0.fault}".format, trial), trial.run


def _shared(wanted: argparse.Namespace) -> Figures:
    """By several processes, each with a share."""
    given = ["--kinds", wanted.kinds, "--count", wanted.count, "--seed", wanted.seed,
             "--minutes", wanted.minutes, "--every", wanted.every, *wanted.stories]  # fmt: skip
    workers = [
        subprocess.Popen(
            [sys.executable, "-m", "kill", *map(str, given), "--share", f"{number}/{wanted.jobs}"],
            stdout=subprocess.PIPE, text=True,
        )
        for number in range(1, wanted.jobs + 1)
    ]  # fmt: skip
    total: Figures = {}
    for worker in workers:
        *complaints, last = worker.communicate()[0].splitlines()
        print(*complaints, sep="\n", end="\n" if complaints else "")
        for name, value in json.loads(last).items():
            join = max if name in ("slowest", "seconds") else sum
            total[name] = join((total.get(name, 0), value))
    return total


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m kill", description=__doc__)
    parser.add_argument("stories", nargs="*", help="all of them when none is named")
    parser.add_argument("--kinds", default=",".join(KINDS), help="of faults, with commas")
    parser.add_argument("--count", type=int, default=10_000, help="how many cases")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=0.0, help="no new case after that")
    parser.add_argument("--every", type=int, default=1, help="only each N-th case")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--share", default="1/1", help="of one process")
    return parser.parse_args()


if __name__ == "__main__":
    os.umask(0o077)
    sys.exit(main())
