"""What it takes to go on with a session of 50 MB: the whole of `detent -p -c`, answer and all."""

from __future__ import annotations

import json
import os
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from child import run_child

if TYPE_CHECKING:
    from detent.types.events import Entry

SIZE = 50_000_000
SECONDS, MEGABYTES = 1.0, 150.0
DETENT = Path(sys.executable).with_name("detent")
WORDS = [line.strip() for line in Path(__file__).read_text("utf-8").splitlines() if line.strip()]
ENVIRON = ("PATH", "LANG")


def resume(folder: Path) -> list[tuple[str, float, str, float | None]]:
    rows: list[tuple[str, float, str, float | None]] = []
    for name, every in (("with compactions", 400), ("never compacted", 0)):
        place = folder / name.replace(" ", "-")
        work = place / "work"
        work.mkdir(parents=True)
        entries = write_session(place / "state", work, SIZE, every)
        wall, rss = _go_on(place, work)
        what = f"going on with a session of 50 MB, {entries:,} entries, {name}"
        rows.append((what, wall, "s", SECONDS))
        rows.append((f"… and the memory it takes, {name}", rss, "MB", MEGABYTES))
    return rows


def _go_on(place: Path, work: Path) -> tuple[float, float]:
    """Seconds from the launch to the first request, and what the process took in all. The best of
    three: the file is in the page cache, as that of a session just left."""
    from detent.testing import script, serve

    best = (float("inf"), float("inf"))
    for _ in range(3):
        asked: list[int] = []

        def answer(request: object, asked: list[int] = asked) -> str:
            asked.append(time.monotonic_ns())
            return "ok"

        with serve(script(*[answer] * 20)) as server:
            env = {name: os.environ[name] for name in ENVIRON if name in os.environ}
            env |= {
                "ANTHROPIC_API_KEY": "k",
                "ANTHROPIC_BASE_URL": server.url,
                "DETENT_HOME": str(place / "state"),
                "HOME": str(place),
            }
            command = [str(DETENT), "-p", "go on", "-c", "--output-format", "json"]
            ran = run_child(command, env, work, 60, place / "stderr")
        result = json.loads(ran.stdout or b"{}").get("result")
        assert result == "ok", (ran.stdout[-500:], ran.stderr[-2000:])
        best = min(best, ((asked[0] - ran.started_ns) / 1e9, ran.rss_mb))
    return best


def write_session(home: Path, work: Path, size: int, compacted_every: int) -> int:
    """How many entries it has."""
    from detent.session.log import FileLog
    from detent.session.store import Store

    path = Store(str(home)).path(str(work.resolve()), "00000000-0000-4000-8000-000000000000")
    log = FileLog(path, lambda: 1.0, home=str(home))
    for entry in _entries(str(work), compacted_every):
        log.append(entry)
        if len(log.entries) % 100 == 0 and os.path.getsize(path) > size:
            break
    log.close()
    return len(log.entries)


def _entries(work: str, compacted_every: int) -> Iterator[Entry]:
    from detent.types.content import Text
    from detent.types.events import Compacted, Opened, Prompted, TurnEnded

    luck = random.Random(7)
    yield Opened(session="00000000-0000-4000-8000-000000000000", cwd=work, version="0", format=2)
    step, seq = 0, 1
    while True:
        yield Prompted(turn=step, content=(Text(_prose(luck, 300)),))
        seq += 1
        for _ in range(20):
            step += 1
            for entry in _step(luck, step):
                yield entry
                seq += 1
            if compacted_every and step % compacted_every == 0:
                yield Compacted(summary=_prose(luck, 8_000), keeps_from=seq - 30)
                seq += 1
        yield TurnEnded(turn=step, reason="end_turn")
        seq += 1


def _step(luck: random.Random, step: int) -> Iterator[Entry]:
    """An answer with a call, and what came of it: mostly some kilobytes of code."""
    from detent.types.content import Call, Text
    from detent.types.effects import Reads
    from detent.types.events import CallEnded, CallStarted, Replied
    from detent.types.outcomes import Done
    from detent.types.usage import Usage
    from detent.types.verdicts import Allow

    call = Call(f"toolu_{step:08d}", "Read", json.dumps({"file_path": f"/src/module_{step}.py"}))
    yield Replied(
        turn=1,
        step=step,
        model="claude-sonnet-5-5",
        content=(Text(_prose(luck, 200)), call),
        stop="tool_use",
        usage=Usage(50, 100, 90_000, 2_000),
        message_id=f"msg_{step:08d}",
    )
    effects = (Reads(f"/src/module_{step}.py"),)
    yield CallStarted(
        call_id=call.id,
        name="Read",
        arguments=call.arguments,
        effects=effects,
        verdict=Allow("default", "reads"),
    )
    text = _prose(luck, luck.choice((200, 1_000, 4_000, 15_000)))
    yield CallEnded(call_id=call.id, name="Read", outcome=Done((Text(text),)), ms=12)


def _prose(luck: random.Random, length: int) -> str:
    """Lines of this very file: code as a tool would show it."""
    lines: list[str] = []
    while length > 0:
        lines.append(luck.choice(WORDS))
        length -= len(lines[-1]) + 1
    return "\n".join(lines)
