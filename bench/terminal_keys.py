"""From a key to the frame with it: in a short session, a long one, and while an answer comes."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from table import Row
from terminal_model import DONE, PROSE, Model
from terminal_process import memory
from terminal_pty import ENTER, READY, Pty, command, environ, percentile, press_keys

if TYPE_CHECKING:
    from detent.types.events import Entry

MOST_MS = 16.0
SESSION = "00000000-0000-4000-8000-000000000000"
ECHO = """
import asyncio, os, tty
tty.setraw(0)
seen = bytearray()
def heard():
    for byte in os.read(0, 100):
        if byte == 21:
            seen.clear()
        else:
            seen.append(byte)
    os.write(1, seen + b"\\x1b[?2026l")
async def main():
    asyncio.get_running_loop().add_reader(0, heard)
    os.write(1, b"there")
    await asyncio.sleep(1000)
asyncio.run(main())
"""
"""The least that a program on asyncio does with a key."""


def keys(folder: Path, presses: int, entries: int) -> list[Row]:
    detent, luck = command(), random.Random(7)
    with Model() as model:
        env, work = environ(folder, model.url), folder / "work"
        return [
            _floor(detent.with_name("python"), env, work, presses, luck),
            *_short(detent, env, work, presses, luck),
            *_flooded(detent, env, work, presses, luck),
            *_long(detent, env, folder, presses, luck, entries),
        ]


def _short(
    detent: Path, env: dict[str, str], work: Path, presses: int, luck: random.Random
) -> list[Row]:
    with Pty([detent], env, work) as term:
        term.frame(READY)
        term.type(f"say 5 0{ENTER}")
        term.frame(DONE)
        term.until_quiet()
        rows = _rows("at 10 events", press_keys(term, presses, luck))
        term.type(f"say {presses * 12} 10{ENTER}")
        term.frame(b"esc to interrupt")
        return rows + _rows("while an answer streams", press_keys(term, presses, luck))


def _flooded(
    detent: Path, env: dict[str, str], work: Path, presses: int, luck: random.Random
) -> list[Row]:
    with Pty([detent, "--dangerously-skip-permissions"], env, work) as term:
        term.frame(b"ALLOWS EVERYTHING")
        term.type(f"run 1 {10**15} 5{ENTER}")
        term.frame(b"yes")
        term.rest(0.5)
        return _rows("while a command prints all it can", press_keys(term, presses, luck))


def _long(
    detent: Path, env: dict[str, str], folder: Path, presses: int, luck: random.Random, count: int
) -> list[Row]:
    written = write_session(folder / "home", folder / "work", count)
    with Pty([detent, "--resume", SESSION], env, folder / "work") as term:
        opened = term.frame(READY) - term.began
        term.until_quiet(1.0)
        rows = _rows(f"at {written:,} entries", press_keys(term, presses, luck))
        resident, _ = memory(term.pid)
    return [*rows, Row("… until that session is open", opened, "s"),
            Row("… resident", resident, "MB")]  # fmt: skip


def _rows(where: str, times: Sequence[float]) -> list[Row]:
    return [
        Row(f"key → paint {where}, 99th percentile of {len(times)}", percentile(times, 0.99), "ms",
            MOST_MS),
        Row("… median", percentile(times, 0.5), "ms"),
        Row("… worst", max(times), "ms"),
    ]  # fmt: skip


def _floor(python: Path, env: dict[str, str], work: Path, presses: int, luck: random.Random) -> Row:
    with Pty([python, "-I", "-c", ECHO], env, work) as term:
        term.until(lambda: b"there" in term.seen, "a word")
        times = press_keys(term, presses // 2, luck)
    return Row("a program that only echoes: 99th percentile", percentile(times, 0.99), "ms")


def write_session(home: Path, work: Path, count: int) -> int:
    """How many entries it has."""
    from detent.session.log import FileLog
    from detent.session.store import Store

    path = Store(str(home)).path(str(work.resolve()), SESSION)
    log = FileLog(path, lambda: 1.0, home=str(home))
    for entry in _entries(str(work.resolve()), count):
        log.append(entry)
    log.close()
    return len(log.entries)


def _entries(work: str, count: int) -> Iterator[Entry]:
    from detent.types.content import Text
    from detent.types.events import Opened, Prompted, TurnEnded

    yield Opened(session=SESSION, cwd=work, version="0", format=2)
    step = turn = 0
    while 1 + turn * 62 < count:
        yield Prompted(turn=turn, content=(Text(f"go on, this is prompt {turn}"),))
        for _ in range(20):
            step += 1
            yield from _step(step)
        yield TurnEnded(turn=turn, reason="end_turn")
        turn += 1


def _step(step: int) -> Iterator[Entry]:
    """An answer with a call, and what came of it."""
    from detent.types.content import Call, Text
    from detent.types.effects import Reads
    from detent.types.events import CallEnded, CallStarted, Replied
    from detent.types.outcomes import Done
    from detent.types.usage import Usage
    from detent.types.verdicts import Allow

    path = f"/src/module_{step % 50}.py"
    call = Call(f"toolu_{step:08d}", "Read", json.dumps({"file_path": path}))
    yield Replied(
        turn=1,
        step=step,
        model="claude-sonnet-5-5",
        content=(Text(PROSE[: 50 + step % 300]), call),
        stop="tool_use",
        usage=Usage(50, 100, 900, 20),
        message_id=f"msg_{step:08d}",
    )
    yield CallStarted(
        call_id=call.id,
        name="Read",
        arguments=call.arguments,
        effects=(Reads(path),),
        verdict=Allow("default", "reads"),
    )
    yield CallEnded(call_id=call.id, name="Read", outcome=Done((Text(PROSE),)), ms=12)
