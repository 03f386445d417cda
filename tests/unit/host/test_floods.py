"""Programs that never stop printing or forking: bounded, reported, and nothing left."""

from __future__ import annotations

import asyncio
import signal
import time
from pathlib import Path

import pytest

from detent.host.local import LocalHost
from detent.ports import Finished

from .conftest import Marked, open_descriptors

MEGABYTE = 1_000_000
LIMIT = "Ended: more than 512 processes at a time."


def resident() -> int:
    """Bytes of ours in memory: the kernel's count, not the interpreter's."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) * 1024
    raise AssertionError


class Counting:
    def __init__(self) -> None:
        self.total = self.lines = self.most = 0

    def __call__(self, piece: bytes) -> None:
        self.total += len(piece)
        self.lines += piece.count(b"\n")
        if not self.total % 16:
            self.most = max(self.most, resident())


def run(command: str, output: object = len, **options: object) -> Finished:
    async def main() -> Finished:
        host = LocalHost()
        settings = {"cwd": "/", "timeout": 40.0, "output": output, **options}
        try:
            return await host.run(["bash", "-c", command], **settings)  # type: ignore[arg-type]
        finally:
            await host.aclose()

    return asyncio.run(main())


@pytest.mark.parametrize(
    ("command", "total", "lines"),
    [
        ("yes 0123456 | head -c 200000000", 200 * MEGABYTE, 25 * MEGABYTE),
        ("head -c 50000000 /dev/zero | tr '\\0' x", 50 * MEGABYTE, 0),
    ],
    ids=["200 MB", "one line of 50 MB"],
)
@pytest.mark.usefixtures("way")
def test_a_flood_of_output_passes_in_bounded_memory(command: str, total: int, lines: int) -> None:
    run("true")
    before, count = resident(), Counting()
    assert run(command, count) == Finished(0)
    assert (count.total, count.lines) == (total, lines)
    assert max(count.most, resident()) - before < 20 * MEGABYTE


@pytest.mark.parametrize(
    "command",
    [
        "while :; do sleep 600 & done",
        # Twice as many every round, until there are two thousand.
        "f() { [ $1 = 9 ] || { f $(($1 + 1)) & f $(($1 + 1)) & }; sleep 600; }; f 0",
    ],
    ids=["a row", "a tree"],
)
def test_a_fork_loop_is_stopped_and_reported(command: str, marked: Marked) -> None:
    async def main() -> Finished:
        host = LocalHost()
        argv = ["bash", "-c", command]
        try:
            return await host.run(argv, cwd="/", timeout=40, output=len, env=marked.env)
        finally:
            assert marked.pids() == []
            await host.aclose()

    assert asyncio.run(main()) == Finished(-signal.SIGKILL, note=LIMIT)


def test_a_fork_loop_left_behind_is_stopped_as_well(marked: Marked) -> None:
    async def main() -> None:
        host = LocalHost()
        command = "(while :; do sleep 600 & done) >/dev/null 2>&1 & true"
        argv = ["bash", "-c", command]
        assert await host.run(argv, cwd="/", timeout=9, output=len, env=marked.env) == Finished(0)
        async with asyncio.timeout(30):
            while marked.pids():
                await asyncio.sleep(0.05)
        await host.aclose()

    asyncio.run(main())


def test_many_processes_below_the_limit_are_left_alone() -> None:
    command = "for i in $(seq 100); do sleep 1.2 & done; wait; echo done"
    pieces: list[bytes] = []
    assert run(command, pieces.append) == Finished(0)
    assert pieces == [b"done\n"]


@pytest.mark.usefixtures("way")
def test_output_held_open_by_a_grandchild_hangs_nobody(marked: Marked) -> None:
    before, started = open_descriptors(), time.monotonic()
    pieces: list[bytes] = []
    command = "(setsid sh -c 'sleep 600; true' &) ; echo done"
    assert run(command, pieces.append, env=marked.env) == Finished(0)
    assert pieces == [b"done\n"]
    assert time.monotonic() - started < 5
    assert open_descriptors() == before
