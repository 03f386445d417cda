"""A long day at the terminal: what is resident after 100,000 events and a gigabyte of output."""

from __future__ import annotations

import random
import time
from pathlib import Path

from measure import tree_size
from table import Row
from terminal_model import DONE, Model
from terminal_process import below, cpu_seconds, memory, peak
from terminal_pty import ENTER, READY, Missing, Pty, command, environ, percentile, press_keys, say

MOST_MB, MOST_CPU, MOST_MS = 150.0, 0.5, 16.0
CALLS = 10
"""Of each turn."""


def soak(folder: Path, events: int, output: int, size: int, presses: int) -> list[Row]:
    """`output` bytes in calls that print `size` each, and so much text that the deltas alone are
    `events`."""
    turns = output // (size * CALLS)
    each = -(-events // (turns * (CALLS + 1)))
    argv: list[str | Path] = [command(), "--dangerously-skip-permissions"]
    course: list[float] = []
    with Model() as model, Pty(argv, environ(folder, model.url), folder / "work") as term:
        term.frame(b"ALLOWS EVERYTHING")
        term.until_quiet()
        first, _ = memory(term.pid)
        begun = time.perf_counter()
        for number in range(turns):
            _turn(term, f"run {CALLS} {size} {each}")
            course.append(memory(term.pid)[0])
            say(f"  {number + 1}/{turns} turns: {course[-1]:.0f} MB")
        took = time.perf_counter() - begun
        resident, share = memory(term.pid)
        keys = press_keys(term, presses, random.Random(7))
        idle = _idle(term, 10.0)
        others = sum(memory(pid)[1] for pid in below(term.pid))
        highest = peak(term.pid)
    kept = tree_size(folder / "home")
    if kept < output:
        raise Missing(f"only {kept:,} bytes of {output:,} were kept: not all of it was printed")
    return [
        Row(f"resident after {events:,} events and {output / 1e9:g} GB of output", resident, "MB",
            MOST_MB),
        Row("… its share (PSS)", share, "MB"),
        Row("… at the most", highest, "MB", MOST_MB),
        Row("… at the start", first, "MB"),
        *(Row(f"… after {part} of 4 parts", course[len(course) * part // 4 - 1], "MB")
          for part in (1, 2, 3)),
        Row("… what each call has left there", (resident - first) * 1000 / (turns * CALLS), "kB"),
        Row("… what its helpers take together (PSS)", others, "MB"),
        Row("… the time of it all", took, "s"),
        Row(f"key → paint after it, 99th percentile of {presses}", percentile(keys, 0.99), "ms",
            MOST_MS),
        Row("processor at rest after it, over 10 s", idle, "%", MOST_CPU),
    ]  # fmt: skip


def _turn(term: Pty, prompt: str) -> None:
    """What was written is not kept, or it would be us who grow."""
    term.forget()
    term.type(f"{prompt}{ENTER}")
    term.frame(DONE)
    term.until_quiet()


def idle(folder: Path, seconds: float) -> list[Row]:
    with Model() as model, Pty([command()], environ(folder, model.url), folder / "work") as term:
        term.frame(READY)
        _turn(term, "say 100 0")
        term.rest(2.0)
        found = _idle(term, seconds)
        written = term.count
        term.rest(1.0)
        resident, _ = memory(term.pid)
        return [
            Row(f"processor at rest, over {seconds:g} s", found, "%", MOST_CPU),
            Row("… bytes written meanwhile, in a second", term.count - written, "bytes", 0),
            Row("resident after one turn", resident, "MB"),
        ]


def _idle(term: Pty, seconds: float) -> float:
    before, since = cpu_seconds(term.pid), time.perf_counter()
    term.rest(seconds)
    return (cpu_seconds(term.pid) - before) / (time.perf_counter() - since) * 100
