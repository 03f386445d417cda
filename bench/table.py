"""A table of figures with goals: measured one by one, printed, and kept in ``results``."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from report import facts, markdown

RESULTS = Path(__file__).resolve().parent / "results"


@dataclass(frozen=True)
class Row:
    """One line of the table. Without a goal it is only told."""

    what: str
    found: float
    unit: str
    goal: float | None = None

    @property
    def is_met(self) -> bool:
        return self.goal is None or self.found <= self.goal

    @property
    def cells(self) -> list[str]:
        goal = "" if self.goal is None else f"≤ {self.goal:g} {self.unit}"
        met = "" if self.goal is None else "yes" if self.is_met else "NO"
        return [self.what, f"{self.found:.3g} {self.unit}", goal, met]


Figure = Callable[[Path], list[Row]]
"""Takes a folder to work in."""


def measure_all(title: str, about: str | None, figures: Mapping[str, Figure]) -> int:
    """The command line of such a bench; 1 when a goal is missed."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("figures", nargs="*", metavar="FIGURE", help=", ".join(figures))
    wanted = parser.parse_args().figures or list(figures)
    return told(title, figures, wanted)


def told(
    title: str, figures: Mapping[str, Figure], wanted: Sequence[str], *, is_kept: bool = True
) -> int:
    """Those that are wanted; the table is kept when these are all. 1 when a goal is missed."""
    rows: list[Row] = []
    for name in wanted:
        with tempfile.TemporaryDirectory() as folder:
            rows += figures[name](Path(folder))
    shown = markdown([["what", "measured", "to reach", "met?"], *(row.cells for row in rows)])
    print(shown)
    if is_kept and len(wanted) == len(figures):
        machine = "\n".join(f"- {key}: {value}" for key, value in facts().items())
        text = f"# {title}\n\n{machine}\n\n{shown}\n"
        (RESULTS / f"{title.lower()}.md").write_text(text, "utf-8")
    return 0 if all(row.is_met for row in rows) else 1
