"""Measure detent against floors and peers: ``python bench/run.py --help``."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import contestants
import peers
import prepare
import report
from contestants import Contestant
from measure import Bench, Run
from model import Model
from scenarios import SCENARIOS

RESULTS = Path(__file__).resolve().parent / "results"
ROUNDS = {
    "startup": 15,
    "steps": 7,
    "growth": 5,
    "stream": 5,
    "parallel": 3,
    "early": 3,
    "flood": 2,
}
QUICK = {"startup": 5, "steps": 3, "growth": 1, "stream": 3, "parallel": 1, "early": 1, "flood": 1}
GIVE_UP_AFTER = 2  # failures of one contestant in one scenario


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, help="rounds of every scenario")
    parser.add_argument("--quick", action="store_true", help="few rounds, under a minute")
    parser.add_argument("--check", action="store_true", help="exit 1 if a figure is missed")
    parser.add_argument("--only", default="", help=f"some of {','.join(SCENARIOS)}")
    parser.add_argument("--who", default="", help="some of the contestants, by name")
    parser.add_argument("--detent", help="measure this command instead of a fresh installation")
    return parser.parse_args()


def plan(options: argparse.Namespace) -> dict[str, int]:
    """Rounds per scenario."""
    chosen = options.only.split(",") if options.only else list(SCENARIOS)
    unknown = set(chosen) - set(SCENARIOS)
    if unknown:
        sys.exit(f"unknown scenario: {', '.join(sorted(unknown))}")
    table = QUICK if options.quick else ROUNDS
    return {name: options.rounds or table[name] for name in SCENARIOS if name in chosen}


def gather(detent: str | None) -> tuple[list[Contestant], list[str]]:
    """The contestants, and notes on who is missing."""
    notes = []
    found = contestants.python_floors(prepare.floor_python()) + contestants.curl_floor()
    binary = prepare.c_binary()
    if binary:
        found.append(contestants.c_floor(binary))
    else:
        notes.append("floor-c skipped: no C compiler")
    installed = None if detent else prepare.detent_command()
    if detent:
        program, *rest = shlex.split(detent)
        found += contestants.detents(
            [str(Path(shutil.which(program) or program).absolute()), *rest]
        )
    elif installed:
        found += contestants.detents([str(installed)])
    else:
        notes.append("detent skipped: the project could not be installed")
    return found + peers.present(), notes


def play(bench: Bench, field: list[Contestant], rounds: dict[str, int]) -> report.Runs:
    """Round-robin, each round with another first: load and neighbours hit all alike."""
    runs: report.Runs = {}
    for scenario, count in rounds.items():
        players = [player for player in field if scenario in player.plays]
        for number in range(count):
            first = number % len(players)
            for player in players[first:] + players[:first]:
                of_pair = runs.setdefault((player.name, scenario), [])
                if sum(bool(run.failure) for run in of_pair) < GIVE_UP_AFTER:
                    progress(f"{scenario} {number + 1}/{count} {player.name}")
                    of_pair.append(tell(player, scenario, bench.run(player, scenario)))
    progress("")
    return runs


def tell(player: Contestant, scenario: str, run: Run) -> Run:
    if run.failure:
        progress("")
        print(f"{player.name}, {scenario}: {run.failure}\n{run.detail}", file=sys.stderr)
    return run


def versions(field: list[Contestant]) -> dict[str, str]:
    """Of everybody who is not a floor; only the number, since anything may be printed."""
    found = {}
    for player in field:
        if player.name.startswith("floor") or player.name == "detent-chat":
            continue
        command = [*player.program, "--version"]
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=30)
            number = re.search(r"\d+\.\d+[\w.+-]*", done.stdout)
            found[player.name] = number[0] if number else "unknown"
    return found


def progress(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def save(result: report.Report, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    document = json.dumps(result.data(), indent=1, ensure_ascii=False)
    (folder / "latest.json").write_text(document + "\n")
    (folder / "latest.md").write_text(result.document())


def main() -> int:
    options = arguments()
    rounds = plan(options)
    field, notes = gather(options.detent)
    if options.who:
        field = [player for player in field if player.name in options.who.split(",")]
    facts = {**report.facts(), **versions(field)}
    if os.getloadavg()[0] > (os.cpu_count() or 1):
        notes.append("the machine was busy at the start: trust ratios, not times")
    with Model() as model, tempfile.TemporaryDirectory() as scratch:
        bench = Bench(model, Path(scratch))
        for player in field:
            bench.run(player, "startup")  # warms caches; first-run work of a home is not measured
        runs = play(bench, field, rounds)
    names = [player.name for player in field]
    judged = [name for name in names if name.startswith("detent")]
    result = report.Report(facts, rounds, names, judged, notes, runs)
    partial = options.quick or options.only or options.who or options.detent or not judged
    save(result, RESULTS / "local" if partial else RESULTS)
    print(result.text())
    missed = result.missed() if judged else ["everything: detent was not measured"]
    for line in missed:
        print(f"MISSED {line}")
    return 1 if missed and options.check else 0


if __name__ == "__main__":
    sys.exit(main())
