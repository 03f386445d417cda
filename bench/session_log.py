"""What a record costs, what a blob costs, and what recording adds to a step."""

from __future__ import annotations

import asyncio
import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from model import Model
from scenarios import STEPS, Tool

Found = list[tuple[str, float, str, float | None]]

OVERHEAD_GOAL = 3.0
"""Per cent of a step."""
ROUNDS = 5


def records(folder: Path) -> Found:
    """A result of two thousand characters, written, and written and synced."""
    from detent.session.log import FileLog
    from detent.types.content import Text
    from detent.types.events import CallEnded
    from detent.types.outcomes import Done

    log = FileLog(str(folder / "sessions" / "p" / "s.jsonl"), time.time, home=str(folder))
    entry = CallEnded(call_id="c", name="Read", outcome=Done((Text("line of code\n" * 150),)))
    log.append(entry)
    log.sync()
    written = _median(lambda: log.append(entry), 2_000)

    def power() -> None:
        log.append(entry)
        log.sync()

    synced = _median(power, 100)
    log.close()
    return [
        ("a record, written (durability process)", written * 1000, "µs", None),
        ("a record, written and synced (durability power)", synced, "ms", None),
    ]


def blobs(folder: Path) -> Found:
    from detent.session.blobs import Blobs

    store = Blobs(str(folder))
    datas = iter([os.urandom(100_000) for _ in range(200)])
    new = _median(lambda: store.put(next(datas)), 200)
    same = os.urandom(100_000)
    digest = store.put(same)
    return [
        ("a new blob of 100 kB", new, "ms", None),
        ("a blob that is there already", _median(lambda: store.put(same), 200), "ms", None),
        ("a blob read and checked", _median(lambda: store.get(digest), 200), "ms", None),
    ]


def overhead(folder: Path) -> Found:
    """Of the same run, the time that the log takes beside the time of all else: two runs differ by
    more than that. A step is that of the other benches: a request to a server, a shell command."""
    found: dict[str, list[tuple[float, float]]] = {"process": [], "power": [], "taped": []}
    with Model() as model:
        for number in range(ROUNDS):
            for kind, runs in found.items():
                home = folder / f"{number}-{kind}"
                home.mkdir()
                model.script("steps", "messages", Tool())
                runs.append(asyncio.run(_run(home, kind, model.url)))
    taken, steps = _middle(found["process"])
    waited, _ = _middle(found["power"])
    taped = _middle(found["taped"])[1] - steps
    return [
        ("a step, all but its log", steps, "ms", None),
        ("its log, durability process", taken, "ms", None),
        ("its log, durability power", waited, "ms", None),
        ("--record, the bytes of requests of 100 kB", taped, "ms a step", None),
        ("recording, of a step without its log", taken / steps * 100, "%", OVERHEAD_GOAL),
    ]


def _middle(runs: list[tuple[float, float]]) -> tuple[float, float]:
    return sorted(runs, key=lambda run: run[0] / run[1])[len(runs) // 2]


async def _run(home: Path, kind: str, url: str) -> tuple[float, float]:
    """Milliseconds of a step that the log took, and the rest."""
    from detent.sdk.options import Options
    from detent.sdk.session import Session

    environ = {
        "ANTHROPIC_API_KEY": "k",
        "ANTHROPIC_BASE_URL": url,
        "DETENT_HOME": str(home / "state"),
        "HOME": str(home),
        "PATH": os.environ["PATH"],
    }
    options = Options(
        cwd=str(home),
        environ=environ,
        permission_mode="bypassPermissions",
        durability="power" if kind == "power" else "process",
        record=str(home / "tapes") if kind == "taped" else "",
    )
    async with Session(options) as session:
        log = _Watched(session)
        begun = time.perf_counter()
        summary = await session.run_turn("go")
        took = time.perf_counter() - begun
        assert summary.reason == "end_turn", summary.error
    each = 1000 / (STEPS + 1)
    return log.taken * each, (took - log.taken) * each


class _Watched:
    """How long whoever records something waits until it is appended and, if need be, synced."""

    def __init__(self, session: Any) -> None:
        self.taken = 0.0
        recorder, log = session._engine.recorder, session._engine.journal.log
        self._append, log.append = log.append, self.append
        if recorder._power is not None:
            self._settled, recorder._power.settled = recorder._power.settled, self.settled

    def append(self, entry: Any) -> Any:
        begun = time.perf_counter()
        try:
            return self._append(entry)
        finally:
            self.taken += time.perf_counter() - begun

    async def settled(self, entry: Any) -> str:
        begun = time.perf_counter()
        try:
            return str(await self._settled(entry))
        finally:
            self.taken += time.perf_counter() - begun


def _median(what: Callable[[], Any], times: int) -> float:
    """Milliseconds."""
    found = []
    for _ in range(times):
        begun = time.perf_counter()
        what()
        found.append((time.perf_counter() - begun) * 1000)
    return statistics.median(found)
