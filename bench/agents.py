"""Subagents: how long groups of them take, and what each costs.

``python bench/agents.py [FIGURE …]`` prints the table and writes ``results/agents.md``; exit 1 when
a goal is missed. Everything is the installed command against a scripted server, but for the budget.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents_budget import overshoot
from detent.session.reading import read_log
from detent.testing import Call, Reply, Request, ServedScript, call, reply, script, serve
from detent.types.agents import AgentEnded, AgentStarted
from detent.types.events import Entry
from table import Figure, Row, measure_all

DETENT = Path(sys.executable).with_name("detent")
CHILDREN, SECOND = 20, 1.0
BREADTH, LEVELS = 5, 3
ALL: int = sum(BREADTH**level for level in range(1, LEVELS + 1))
READ = 20_000
"""Bytes of the file that an agent at work has read."""
KB = 1024.0
MOST = 120.0
"""Seconds that any of this may take."""


@dataclass(frozen=True)
class Ran:
    entries: tuple[Entry, ...]
    wall: float
    cpu: float


def agents(scenario: str, count: int) -> tuple[Call, ...]:
    return tuple(
        call("Agent", description=f"{scenario} {n}", prompt=f"SCENARIO:{scenario} {n}")
        for n in range(count)
    )


def environ(folder: Path, server: ServedScript) -> dict[str, str]:
    return {
        "PATH": os.defpath,
        "HOME": str(folder),
        "DETENT_HOME": str(folder / "home"),
        "ANTHROPIC_API_KEY": "bench",
        "ANTHROPIC_BASE_URL": server.url,
    }


@contextmanager
def begun(folder: Path, server: ServedScript) -> Iterator[subprocess.Popen[bytes]]:
    (folder / "work").mkdir(exist_ok=True)
    (folder / "work" / "a.txt").write_text("a line of a file\n" * (READ // 17))
    command = [str(DETENT), "-p", "SCENARIO:lead go", "--model", "claude-sonnet-4-5"]
    process = subprocess.Popen(
        command, cwd=folder / "work", env=environ(folder, server), stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def ran(folder: Path, scenarios: dict[str, list[Any]]) -> Ran:
    """The whole command."""
    folder.mkdir(exist_ok=True)
    with serve(script(scenarios=scenarios, pick="by_turn")) as server:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        since = time.perf_counter()
        with begun(folder, server) as process:
            _, errors = process.communicate(timeout=MOST)
        wall = time.perf_counter() - since
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if process.returncode or server.problems:
            raise SystemExit(f"{server.problems} {errors.decode()[-2000:]}")
    (log,) = (folder / "home" / "sessions").glob("*/*.jsonl")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Ran(tuple(read_log(str(log)).entries), wall, cpu)


def span(entries: tuple[Entry, ...]) -> float:
    """Seconds from the first beginning to the last end."""
    begun_at = [entry.at for entry in entries if isinstance(entry, AgentStarted)]
    ended_at = [entry.at for entry in entries if isinstance(entry, AgentEnded)]
    return max(ended_at) - min(begun_at)


def twenty(folder: Path) -> list[Row]:
    lead = [reply(*agents("kid", CHILDREN)), "done"]
    found = ran(folder, {"lead": lead, "kid": [reply("the answer", delay=SECOND)]})
    return [
        Row(f"{CHILDREN} children of {SECOND:g} s, from the first to the last", span(found.entries),
            "s", 1.5),
        Row("… the whole command", found.wall, "s"),
    ]  # fmt: skip


def diamond(folder: Path) -> list[Row]:
    """A, then B and C together, then D: three times half a second."""
    names = {"a": [], "b": ["a"], "c": ["a"], "d": ["b", "c"]}
    children = [
        {"name": name, "prompt": f"SCENARIO:kid {name}", "depends_on": needs}
        for name, needs in names.items()
    ]
    lead = [reply(call("delegate_agent", groups=[{"children": children}])), "done"]
    found = ran(folder, {"lead": lead, "kid": [reply("the answer", delay=0.5)]})
    return [Row("a diamond A, (B, C), D of 0.5 s each", span(found.entries), "s", 1.75)]


def nested(folder: Path) -> list[Row]:
    """All levels; the lowest have nothing more to ask."""
    scenarios: dict[str, list[Any]] = {"lead": [reply(*agents("level1", BREADTH)), "done"]}
    for level in range(1, LEVELS):
        scenarios[f"level{level}"] = [reply(*agents(f"level{level + 1}", BREADTH)), "done"]
    scenarios[f"level{LEVELS}"] = ["the answer"]
    alone = ran(folder / "alone", {"lead": ["done"]})
    found = ran(folder / "all", scenarios)
    count = len(list((folder / "all" / "home" / "sessions").glob("*/*/agents/*.jsonl")))
    each = (found.cpu - alone.cpu) / ALL
    return [
        Row(f"{LEVELS} levels of {BREADTH} each: agents that ended", count, ""),
        Row("… the whole command, without waiting for a model", found.wall, "s"),
        Row("… CPU per agent", each * 1000, "ms"),
    ]


def memory(folder: Path) -> list[Row]:
    idle = _grown(folder / "idle", _waiting)
    active = _grown(folder / "active", _at_work)
    return [
        Row("memory of an agent that waits for its first answer", idle, "MB", 1.0),
        Row(f"memory of one that has read {READ // 1000} kB, twice, and speaks", active, "MB", 3.0),
    ]


Lowest = Callable[[Callable[[], None], threading.Event], list[Any]]


def _waiting(arrived: Callable[[], None], hold: threading.Event) -> list[Any]:
    def held(request: Request) -> Reply:
        arrived()
        return reply("the answer", hold=hold)

    return [held]


def _at_work(arrived: Callable[[], None], hold: threading.Event) -> list[Any]:
    def held(request: Request) -> Reply:
        arrived()
        return reply("the", "answer", hold=hold, hold_after=1)

    read = [reply(call("Read", file_path="a.txt", offset=n, limit=1000)) for n in (1, 2)]
    return [*read, held]


def _grown(folder: Path, lowest: Lowest) -> float:
    """MB for each agent of the tree, over one of each level."""
    small = _resident(folder / "small", 1, lowest)
    large = _resident(folder / "large", BREADTH, lowest)
    return (large - small) / (ALL - LEVELS) / KB


def _resident(folder: Path, wide: int, lowest: Lowest) -> float:
    """kB of the command while all of the lowest level hang on the server."""
    folder.mkdir(parents=True)
    hold, all_there, arrived = threading.Event(), threading.Event(), [0]

    def count() -> None:
        arrived[0] += 1
        if arrived[0] == wide**LEVELS:
            all_there.set()

    scenarios: dict[str, list[Any]] = {"lead": [reply(*agents("level1", wide)), "done"]}
    for level in range(1, LEVELS):
        scenarios[f"level{level}"] = [reply(*agents(f"level{level + 1}", wide)), "done"]
    scenarios[f"level{LEVELS}"] = lowest(count, hold)
    plan = script(scenarios=scenarios, pick="by_turn")
    with serve(plan, record=False) as server, begun(folder, server) as process:
        if not all_there.wait(MOST):
            raise SystemExit(f"only {arrived[0]} came: {server.problems}")
        time.sleep(0.5)  # what comes behind the requests is over
        status = Path(f"/proc/{process.pid}/status").read_text()
        hold.set()
        process.communicate(timeout=MOST)
    return float(status.partition("VmRSS:")[2].split()[0])


FIGURES: dict[str, Figure] = {
    "twenty": twenty,
    "diamond": diamond,
    "nested": nested,
    "memory": memory,
    "budget": lambda folder: [Row(*overshoot(folder))],
}


if __name__ == "__main__":
    sys.exit(measure_all("Agents", __doc__, FIGURES))
