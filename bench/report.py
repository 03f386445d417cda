"""From runs to tables. Nothing here names the host, a user or an absolute path."""

from __future__ import annotations

import datetime
import os
import platform
import statistics
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from figures import FIGURES, REFERENCE, Figure
from measure import Run

# (contestant, scenario) -> its runs in the order of the rounds
Runs = dict[tuple[str, str], list[Run]]
DASH = "\u2013"


@dataclass(frozen=True)
class Stat:
    """``spread`` is (worst - best) / median: how far to trust the median."""

    median: float
    best: float
    worst: float
    spread: float
    runs: int


@dataclass(frozen=True)
class Verdict:
    figure: str
    contestant: str
    floor: float | None
    value: float | None
    ratio: float | None
    to_reach: str
    met: bool | None


def values(runs: Runs, name: str, figure: Figure) -> list[float | None]:
    """One per round, None where the run did not count."""
    return [run.figures.get(figure.key) for run in runs.get((name, figure.scenario), [])]


def stat(runs: Runs, name: str, figure: Figure) -> Stat | None:
    known = [value for value in values(runs, name, figure) if value is not None]
    if not known:
        return None
    middle = statistics.median(known)
    spread = (max(known) - min(known)) / abs(middle) if middle else 0.0
    best, worst = round(min(known), 4), round(max(known), 4)
    return Stat(round(middle, 4), best, worst, round(spread, 3), len(known))


def ratio(runs: Runs, name: str, figure: Figure) -> float | None:
    """Median of the ratios within each round, so that a busy minute hits both sides."""
    pairs = zip(values(runs, name, figure), values(runs, REFERENCE, figure), strict=False)
    ratios = [mine / floor for mine, floor in pairs if mine is not None and floor and floor > 0]
    return round(statistics.median(ratios), 3) if ratios else None


def judge(runs: Runs, name: str, figure: Figure) -> Verdict:
    mine, floor = stat(runs, name, figure), stat(runs, REFERENCE, figure)
    quotient = ratio(runs, name, figure)
    measured = quotient if figure.relative else mine.median if mine else None
    met = None if figure.limit is None else measured is not None and measured <= figure.limit
    return Verdict(
        figure.key,
        name,
        floor.median if floor else None,
        mine.median if mine else None,
        quotient,
        figure.goal(),
        met,
    )


def markdown(rows: list[list[str]]) -> str:
    """A table whose columns also line up on a terminal; the first row is the head."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [
        "| " + " | ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) + " |"
        for row in rows
    ]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)


def verdict_table(runs: Runs, name: str, figures: Iterable[Figure]) -> str:
    rows = [["figure", REFERENCE, name, "ratio", "to reach", "met?"]]
    for figure in figures:
        verdict = judge(runs, name, figure)
        rows.append(
            [
                figure.title,
                DASH if verdict.floor is None else figure.show(verdict.floor),
                DASH if verdict.value is None else figure.show(verdict.value),
                DASH if verdict.ratio is None else f"{verdict.ratio:.2f}",
                verdict.to_reach,
                {True: "yes", False: "NO", None: ""}[verdict.met],
            ]
        )
    return markdown(rows)


def overview_table(runs: Runs, names: list[str], figures: Iterable[Figure]) -> str:
    """Median (best) of every contestant."""
    rows = [["figure", *names]]
    for figure in figures:
        cells = []
        for name in names:
            found = stat(runs, name, figure)
            cell = (
                f"{figure.show(found.median)} ({found.best:.{figure.digits}f})" if found else DASH
            )
            cells.append(cell)
        rows.append([figure.title, *cells])
    return markdown(rows)


def failures(runs: Runs) -> list[str]:
    """Runs that do not count, and why."""
    lines = []
    for (name, scenario), of_pair in runs.items():
        for reason, times in Counter(run.failure for run in of_pair if run.failure).items():
            lines.append(f"{name}, {scenario}: {reason} ({times} of {len(of_pair)} runs)")
    return lines


def facts() -> dict[str, object]:
    model = "unknown"
    info = Path("/proc/cpuinfo")
    if info.exists():
        named = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        model = named[0].partition(":")[2].strip() if named else model
    return {
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "cpu": model,
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {'.'.join(platform.release().split('.')[:2])}",
        "python": platform.python_version(),
        "load": round(os.getloadavg()[0], 2),
    }


@dataclass(frozen=True)
class Report:
    """One invocation of the benchmark."""

    facts: dict[str, object]
    rounds: dict[str, int]
    names: list[str]
    judged: list[str]
    notes: list[str]
    runs: Runs

    @property
    def figures(self) -> list[Figure]:
        return [figure for figure in FIGURES if figure.scenario in self.rounds]

    def verdicts(self) -> list[Verdict]:
        return [judge(self.runs, name, figure) for name in self.judged for figure in self.figures]

    def missed(self) -> list[str]:
        titles = {figure.key: figure.title for figure in FIGURES}
        missed = [verdict for verdict in self.verdicts() if verdict.met is False]
        return [f"{verdict.contestant}: {titles[verdict.figure]}" for verdict in missed]

    def text(self) -> str:
        parts = [verdict_table(self.runs, name, self.figures) for name in self.judged]
        parts.append("All contestants, median (best):")
        parts.append(overview_table(self.runs, self.names, self.figures))
        remarks = [*self.notes, *(f"not counted: {line}" for line in failures(self.runs))]
        if remarks:
            parts.append("\n".join(f"- {line}" for line in remarks))
        return "\n\n".join(parts)

    def document(self) -> str:
        machine = "\n".join(f"- {key}: {value}" for key, value in self.facts.items())
        rounds = ", ".join(f"{name} {count}" for name, count in self.rounds.items())
        return f"# Benchmark\n\n{machine}\n- rounds: {rounds}\n\n{self.text()}\n"

    def data(self) -> dict[str, Any]:
        stats: dict[str, dict[str, Any]] = {}
        for name in self.names:
            found = {figure.key: stat(self.runs, name, figure) for figure in self.figures}
            stats[name] = {key: asdict(value) for key, value in found.items() if value}
        return {
            "facts": self.facts,
            "rounds": self.rounds,
            "reference": REFERENCE,
            "contestants": stats,
            "verdicts": [asdict(verdict) for verdict in self.verdicts()],
            "notes": self.notes,
            "not_counted": failures(self.runs),
        }
