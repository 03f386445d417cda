"""The terminal: how soon, how quickly and how quietly it paints, and what it takes in the long run.

``python bench/terminal.py [--quick] [FIGURE …]`` prints the table and writes
``results/terminal.md``; exit 1 when a goal is missed. Everything is the installed command in a
pseudo-terminal, against a scripted model in another process.
"""

from __future__ import annotations

import argparse
import sys

from table import Figure, told
from terminal_keys import keys
from terminal_soak import idle, soak
from terminal_start import start
from terminal_stream import interrupt, stream

MEGA = 1_000_000

FIGURES: dict[str, Figure] = {
    "start": lambda folder: start(folder, 20),
    "keys": lambda folder: keys(folder, 400, 100_000),
    "stream": lambda folder: stream(folder, 2_000),
    "interrupt": lambda folder: interrupt(folder, 10),
    "idle": lambda folder: idle(folder, 10.0),
    "soak": lambda folder: soak(folder, 100_000, 1000 * MEGA, 5 * MEGA, 200),
}
QUICK: dict[str, Figure] = {
    "start": lambda folder: start(folder, 5),
    "keys": lambda folder: keys(folder, 60, 10_000),
    "stream": lambda folder: stream(folder, 300),
    "interrupt": lambda folder: interrupt(folder, 2),
    "idle": lambda folder: idle(folder, 2.0),
    "soak": lambda folder: soak(folder, 10_000, 100 * MEGA, 5 * MEGA, 50),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("figures", nargs="*", metavar="FIGURE", help=", ".join(FIGURES))
    parser.add_argument("--quick", action="store_true", help="less of everything; nothing is kept")
    given = parser.parse_args()
    figures = QUICK if given.quick else FIGURES
    return told("Terminal", figures, given.figures or list(figures), is_kept=not given.quick)


if __name__ == "__main__":
    sys.exit(main())
