"""The embedded model at work: `make bench-small`.

Ten runs of the demo task and one of each repair, through the real loop, gate and tools. Every run
has a seed of its own, and the temperature is the one people get. We look at the files afterwards:
what the model claims counts for nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from detent.app.places import detent_home
from detent.models.embedded.engine import engine_for, free_cores
from detent.models.embedded.model import EmbeddedModel, Sampling, open_embedded
from detent.models.embedded.weights import QWEN, place_of
from detent.models.small.model import SmallModel
from detent.sdk.options import Options
from detent.sdk.session import Session
from detent.surfaces.cli.demo import prepare
from detent.surfaces.cli.demo_tasks import SMALL, TEST_COMMAND, Task
from detent.types.content import Text
from detent.types.events import CallStarted, Event, Replied, TurnEnded
from detent.types.messages import Request, User
from small_tasks import REPAIRS, Repair

RESULTS = Path(__file__).parent / "results" / "small_model.md"
MEND = f"`{TEST_COMMAND}` fails. Find out why, mend the program, and run the test until it passes."
TICK = 0.01
Lines = list[str]


class Run(NamedTuple):
    what: str
    seed: int
    good: bool
    calls: int
    answers: int
    seconds: float
    reason: str


def mending(repair: Repair) -> Task:
    return Task(
        scene="",
        prompt=MEND,
        files=((f"{repair.name}.py", repair.program), (f"test_{repair.name}.py", repair.test)),
        allowed=(f"Bash({TEST_COMMAND}:*)",),
        check=tuple(TEST_COMMAND.split()),
        good="",
        bad="",
    )


async def attempt(path: str, what: str, task: Task, seed: int) -> Run:
    inner = EmbeddedModel(path, sampling=Sampling(seed=seed))
    with tempfile.TemporaryDirectory(prefix="detent-bench-") as folder:
        prepare(folder, task)
        options = Options(
            model=SmallModel(inner),
            cwd=folder,
            permission_mode="acceptEdits",
            allowed_tools=task.allowed,
            persist=False,
            max_turns=20,
        )
        began = time.monotonic()
        async with Session(options) as session:
            events = [event async for event in session.send(task.prompt)]
        seconds = time.monotonic() - began
        run = Run(what, seed, task.holds(folder), *_counts(events), seconds, _reason(events))
    print(f"{'✓' if run.good else '✗'} {what} seed {seed}: {seconds:.0f} s", flush=True)
    return run


def _counts(events: list[Event]) -> tuple[int, int]:
    calls = sum(isinstance(event, CallStarted) for event in events)
    return calls, sum(isinstance(event, Replied) for event in events)


def _reason(events: list[Event]) -> str:
    return next(event.reason for event in events if isinstance(event, TurnEnded))


async def figures(path: str) -> Lines:
    """Load time, speed, memory, and how long the event loop was kept waiting meanwhile."""
    ticking = asyncio.create_task(_tick())
    await asyncio.sleep(TICK)
    began = time.monotonic()
    await engine_for(path).load()
    loaded = time.monotonic() - began
    await asyncio.sleep(2 * TICK)
    while_loading = _worst_lag()
    timings = await _timings(path)
    ticking.cancel()
    return [
        "| figure | value |",
        "| --- | --- |",
        f"| load | {loaded:.1f} s |",
        f"| reading a prompt | {timings['prompt_per_second']:.0f} tokens/s |",
        f"| writing | {timings['predicted_per_second']:.0f} tokens/s |",
        f"| memory of the process | {_memory():,} MB |",
        f"| longest wait of the event loop while loading, once | {while_loading:.0f} ms |",
        f"| longest wait of the event loop while reading and writing | {_worst_lag():.0f} ms |",
    ]


async def _timings(path: str) -> dict[str, float]:
    words = "The quick brown fox jumps over the lazy dog. " * 60
    request = Request((), [User((Text(f"{words}\nTell a story about it."),))])
    found: dict[str, float] = {}
    body = EmbeddedModel(path).body_of(request) | {"max_tokens": 60}
    async for chunk in engine_for(path).chat(body):
        found = chunk.get("timings") or found
    return found


_lags: list[float] = []


async def _tick() -> None:
    while True:
        before = time.monotonic()
        await asyncio.sleep(TICK)
        _lags.append(time.monotonic() - before - TICK)


def _worst_lag() -> float:
    """In milliseconds, since the last time it was asked for."""
    worst = 1000 * max(_lags)
    _lags.clear()
    return worst


def _memory() -> int:
    with open("/proc/self/status") as status:
        line = next(line for line in status if line.startswith("VmRSS"))
    return int(line.split()[1]) // 1024


def table(title: str, runs: list[Run]) -> Lines:
    if not runs:
        return []
    good = sum(run.good for run in runs)
    times = sorted(run.seconds for run in runs)
    return [
        f"## {title}: {good} of {len(runs)}",
        "",
        f"Median {times[len(times) // 2]:.0f} s, longest {times[-1]:.0f} s.",
        "",
        "| task | seed | done | answers | calls | seconds | ended |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        *(
            f"| {run.what} | {run.seed} | {'yes' if run.good else 'no'} | {run.answers} "
            f"| {run.calls} | {run.seconds:.0f} | {run.reason} |"
            for run in runs
        ),
        "",
    ]


def report(speed: Lines, demo: list[Run], repairs: list[Run], load: str) -> str:
    machine = f"{free_cores()} core(s) in use, {platform.machine()}, {platform.system()}"
    return "\n".join(
        [
            "# The embedded model",
            "",
            f"{QWEN.title}; {machine}; Python {platform.python_version()}; load average at the "
            f"start {load}. Temperature {Sampling().temperature}, another seed in each run. "
            "Done means that we checked the files, not that the model said so. One run of each.",
            "",
            *speed,
            "",
            *table(f"The demo task ({SMALL.prompt})", demo),
            *table("One-line repairs", repairs),
            f"The prompt of each repair: {MEND}",
            "",
        ]
    )


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--demo", type=int, default=10, help="runs of the demo task")
    parser.add_argument("--repairs", type=int, default=len(REPAIRS), help="how many repairs")
    parser.add_argument("--seed", type=int, default=1, help="the first seed")
    return parser.parse_args()


async def main(wanted: argparse.Namespace, home: str) -> int:
    open_embedded(home)  # says what is missing
    path = place_of(QWEN, home)
    load = f"{os.getloadavg()[0]:.1f}"
    speed = await figures(path)
    save(report(speed, [], [], load))
    demo: list[Run] = []
    repairs: list[Run] = []
    for n in range(wanted.demo):
        demo.append(await attempt(path, "demo", SMALL, wanted.seed + n))
        save(report(speed, demo, repairs, load))
    for n, repair in enumerate(REPAIRS[: wanted.repairs]):
        repairs.append(await attempt(path, repair.name, mending(repair), wanted.seed + n))
        save(report(speed, demo, repairs, load))
    return 0


def save(text: str) -> None:
    """After each run: they take long, and one that is stopped should not be lost."""
    RESULTS.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(asyncio.run(main(arguments(), detent_home(os.environ))))
