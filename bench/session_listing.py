"""What finding a session costs when there are 5,000: whole commands, as a person runs them."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from detent.session.log import frame
from detent.session.store import Store
from detent.types.content import Call, Text
from detent.types.effects import Runs
from detent.types.events import (
    CallEnded,
    CallStarted,
    Entry,
    Opened,
    Prompted,
    Replied,
    TurnEnded,
)
from detent.types.outcomes import done
from detent.types.usage import Usage
from detent.types.verdicts import Allow

SESSIONS, FOLDERS, TURNS = 5_000, 100, 4
RUNS = 9
LONG = 50_000_000
"""Bytes of one log among them."""
DETENT = Path(sys.executable).with_name("detent")
WORDS = (
    "parser", "retry", "budget", "socket", "terminal", "schema", "ledger", "window", "prompt",
    "folder", "branch", "commit", "sandbox", "timer", "header", "token", "cursor", "widget",
)  # fmt: skip

Found = tuple[str, float, str, float | None]


def listing(folder: Path) -> list[Found]:
    home = folder / "home"
    _store(home)
    first = _seconds(home, "sessions", "--all", runs=1)
    rows: list[Found] = [
        (f"index of {SESSIONS:,} sessions, made for the first time", first, "s", None),
        (
            f"list {SESSIONS:,} sessions, whole command",
            _seconds(home, "sessions", "--all") * 1000,
            "ms",
            200,
        ),
        (
            "search all of them for a rare word",
            _seconds(home, "sessions", "search", "needle0004711") * 1000,
            "ms",
            None,
        ),
        (
            "search all of them for two usual words",
            _seconds(home, "sessions", "search", "parser", "retry") * 1000,
            "ms",
            None,
        ),
    ]
    return rows + _grown(home)


def _grown(home: Path) -> list[Found]:
    """Only what is new is read, however long the log."""
    path = Path(Store(str(home)).path("/work/long", "long"))
    path.parent.mkdir(parents=True)
    with path.open("wb") as file:
        file.write(frame(Opened(seq=1, session="long", cwd="/work/long", version="bench")))
        seq = 1
        while file.tell() < LONG:
            for entry in _turn(seq, 7):
                file.write(frame(entry))
            seq += 5
    whole = _seconds(home, "sessions", "--all", runs=1) * 1000
    times = []
    for _ in range(RUNS):
        with path.open("ab") as file:
            for entry in _turn(seq, 8):
                file.write(frame(entry))
        seq += 5
        times.append(_seconds(home, "sessions", "--all", runs=1) * 1000)
    return [
        ("list, with a new log of 50 MB", whole, "ms", None),
        ("list, when that log has grown by a turn", statistics.median(times), "ms", 200),
    ]


def _store(home: Path) -> None:
    store = Store(str(home))
    for number in range(SESSIONS):
        cwd, session = f"/work/project-{number % FOLDERS}", f"{number:08x}-0000-4000-8000-{0:012}"
        path = store.path(cwd, session)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(b"".join(frame(entry) for entry in _entries(session, cwd, number)))


def _entries(session: str, cwd: str, number: int) -> Iterator[Entry]:
    yield Opened(seq=1, at=1.0 + number, session=session, cwd=cwd, version="bench")
    for turn in range(TURNS):
        yield from _turn(1 + turn * 5, number)


def _turn(seq: int, number: int) -> Iterator[Entry]:
    some = " ".join(WORDS[(number * 7 + n * n) % len(WORDS)] for n in range(40))
    call, at = Call("c1", "Bash", '{"command":"make check"}'), 1.0 + number
    yield Prompted(seq=seq + 1, at=at, turn=1, content=(Text(f"fix needle{number:07} {some}"),))
    yield Replied(
        seq=seq + 2, at=at, turn=1, step=1, model="bench", stop="tool_use",
        content=(Text(some), call), usage=Usage(1000, 100),
    )  # fmt: skip
    yield CallStarted(
        seq=seq + 3, at=at, call_id="c1", name="Bash", arguments=call.arguments,
        effects=(Runs("make check"),), verdict=Allow("rule"),
    )  # fmt: skip
    yield CallEnded(seq=seq + 4, at=at, call_id="c1", name="Bash", outcome=done(some * 4))
    yield TurnEnded(seq=seq + 5, at=at, turn=1, reason="end_turn")


def _seconds(home: Path, *words: str, runs: int = RUNS) -> float:
    times = []
    for _ in range(runs):
        begun = time.perf_counter()
        subprocess.run(
            [str(DETENT), *words],
            env={"PATH": os.environ["PATH"], "HOME": str(home), "DETENT_HOME": str(home)},
            stdout=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
            check=True,
        )
        times.append(time.perf_counter() - begun)
    return statistics.median(times)
