"""Sandbox: what a confined command costs over a plain one, and what the first one waits for.

``python bench/sandbox.py`` prints the table and writes ``results/sandbox.md``; exit 1 on a miss.
Each command goes the whole way: the host, a keeper, ``bash -c true``. The ways take turns, each
round with another first, so that a busy moment hits all alike.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from report import facts, markdown

RESULTS = Path(__file__).resolve().parent / "results"
ROUNDS = 100
STARTS = 7
PLAIN = "plain"
LIMITS = {"landlock": 3.0, "bwrap": 20.0}
"""Milliseconds over a plain command, at the lower quartile."""
Times = dict[str, list[float]]


def hosts(work: str) -> dict[str, Any]:
    """One per way, with the masks that a session has."""
    from detent.host.local import LocalHost
    from detent.host.sandbox.profile import Profile
    from detent.host.sandbox.sandbox import Sandbox
    from detent.host.sandbox.secrets import secret_places

    profile = Profile(roots=(work,), denied_reads=secret_places(str(Path.home())))
    found = {
        name: LocalHost(sandbox=Sandbox.unproven(name, profile))  # type: ignore[arg-type]
        for name in LIMITS
    }
    return {PLAIN: LocalHost(), **found}


async def command(host: Any, name: str, work: str) -> float:
    """Milliseconds. It counts only if the sandbox really held it."""
    started = time.perf_counter()
    ended = await host.run(
        ["bash", "-c", "true"], cwd=work, timeout=30, output=len, confined=name != PLAIN
    )
    took = (time.perf_counter() - started) * 1000
    if ended.exit_code != 0 or ended.sandbox != ("" if name == PLAIN else name):
        raise RuntimeError(f"{name}: {ended}")
    return took


def turns(names: list[str], number: int) -> list[str]:
    first = number % len(names)
    return names[first:] + names[:first]


async def measure(work: str, rounds: int, names: list[str]) -> tuple[Times, Times]:
    """The first command of a session, and those after it."""
    first: Times = {name: [] for name in names}
    later: Times = {name: [] for name in names}
    for number in range(STARTS):
        found = hosts(work)
        for name in turns(names, number):
            first[name].append(await command(found[name], name, work))
        if number == STARTS - 1:
            for round_number in range(rounds):
                for name in turns(names, round_number):
                    later[name].append(await command(found[name], name, work))
        for host in found.values():
            await host.aclose()
    return first, later


async def usable() -> tuple[list[str], list[str]]:
    """Which ways there are here, and notes on those that there are not."""
    from detent.host.sandbox.choosing import proven
    from detent.host.sandbox.promises import holds, trouble

    names, notes = [PLAIN], []
    for name in LIMITS:
        probes = await proven(name)  # type: ignore[arg-type]
        if holds(probes):
            names.append(name)
        else:
            notes.append(f"{name} skipped: {trouble(probes)}")
    return names, notes


def quartile(values: list[float]) -> float:
    return statistics.quantiles(values, n=4)[0]


def table(first: Times, later: Times) -> tuple[str, bool]:
    """And whether all goals were met."""
    rows = [["way", "lower quartile", "median", "over plain", "to reach", "met?", "first command"]]
    met_all = True
    for name, values in later.items():
        extra = quartile(values) - quartile(later[PLAIN])
        limit = LIMITS.get(name)
        met = limit is None or extra <= limit
        met_all = met_all and met
        rows.append(
            [
                name,
                f"{quartile(values):.2f} ms",
                f"{statistics.median(values):.2f} ms",
                "" if limit is None else f"{extra:+.2f} ms",
                "" if limit is None else f"≤ {limit:g} ms",
                "" if limit is None else "yes" if met else "NO",
                f"{statistics.median(first[name]):.0f} ms",
            ]
        )
    return markdown(rows), met_all


def about(machine: Mapping[str, object], rounds: int) -> str:
    lines = "\n".join(f"- {key}: {value}" for key, value in machine.items())
    return (
        f"# Sandbox\n\n{lines}\n- rounds: {rounds}\n\n`bash -c true` through the host, the ways in "
        f"turns in one process. The first command starts what all others use: median of {STARTS} "
        "sessions, without the trial of the promises, which happens once per start of a machine."
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    rounds = parser.parse_args().rounds
    machine = facts()
    names, notes = asyncio.run(usable())
    with tempfile.TemporaryDirectory() as work:
        first, later = asyncio.run(measure(work, rounds, names))
    shown, met = table(first, later)
    remarks = "\n".join(f"- {note}" for note in notes)
    text = "\n\n".join(part for part in (about(machine, rounds), shown, remarks) if part)
    (RESULTS / "sandbox.md").write_text(f"{text}\n", encoding="utf-8")
    print(shown, remarks, sep="\n")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
