"""Sessions: what the log costs while it is written, and what an old one costs to open.

``python bench/sessions.py [FIGURE …]`` prints the table and writes ``results/sessions.md``; exit 1
when a goal is missed. A figure is a function that gives rows; add it to ``FIGURES``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from session_listing import listing
from session_log import blobs, overhead, records
from session_replay import replay
from session_resume import resume
from session_undo import undo
from table import Figure, Row, measure_all

Measured = Callable[[Path], list[tuple[str, float, str, float | None]]]
"""What was measured, how much, in what unit, and the goal."""


def rows(measured: Measured) -> Figure:
    return lambda folder: [Row(*found) for found in measured(folder)]


FIGURES = {
    "records": rows(records),
    "blobs": rows(blobs),
    "overhead": rows(overhead),
    "resume": rows(resume),
    "listing": rows(listing),
    "undo": rows(undo),
    "replay": rows(replay),
}


if __name__ == "__main__":
    sys.exit(measure_all("Sessions", __doc__, FIGURES))
