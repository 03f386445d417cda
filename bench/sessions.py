"""Sessions: what the log costs while it is written, and what an old one costs to open.

``python bench/sessions.py [FIGURE …]`` prints the table and writes ``results/sessions.md``; exit 1
when a goal is missed. A figure is a function that gives rows; add it to ``FIGURES``.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from report import facts, markdown
from session_listing import listing
from session_log import blobs, overhead, records
from session_replay import replay
from session_resume import resume
from session_undo import undo

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


Figure = Callable[[Path], list[tuple[str, float, str, float | None]]]
"""Takes a folder to work in; gives what was measured, how much, in what unit, and the goal."""

FIGURES: dict[str, Figure] = {
    "records": records,
    "blobs": blobs,
    "overhead": overhead,
    "resume": resume,
    "listing": listing,
    "undo": undo,
    "replay": replay,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("figures", nargs="*", metavar="FIGURE", help=", ".join(FIGURES))
    wanted = parser.parse_args().figures or list(FIGURES)
    rows: list[Row] = []
    for name in wanted:
        with tempfile.TemporaryDirectory() as folder:
            rows += [Row(*found) for found in FIGURES[name](Path(folder))]
    shown = markdown([["what", "measured", "to reach", "met?"], *(row.cells for row in rows)])
    print(shown)
    if len(wanted) == len(FIGURES):
        machine = "\n".join(f"- {key}: {value}" for key, value in facts().items())
        (RESULTS / "sessions.md").write_text(f"# Sessions\n\n{machine}\n\n{shown}\n", "utf-8")
    return 0 if all(row.is_met for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
