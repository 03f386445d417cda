"""Both ways to run a program, and how to find what runs on this machine."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest

from detent.host import nursery as nurseries
from detent.host.local import LocalHost
from detent.host.nursery import Nursery

T = TypeVar("T")

LOUD = 10.0
"""How long a test waits for what must come; only a failure takes so long."""


@pytest.fixture
def directly(monkeypatch: pytest.MonkeyPatch) -> None:
    """A system where no nursery can be had: its interpreter says nothing."""
    monkeypatch.setattr(nurseries._OWN, "nursery", Nursery("/bin/false"))


@pytest.fixture(params=["kept", "direct"])
def way(request: pytest.FixtureRequest) -> str:
    """How programs are held; a test that asks for it is run for each."""
    if request.param == "direct":
        request.getfixturevalue("directly")
    return str(request.param)


def runs(pid: int) -> bool:
    """A process that is dead but not collected does not run."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def soon(condition: Callable[[], object], within: float = LOUD) -> bool:
    """Polls; False when it has not come true."""
    until = time.monotonic() + within
    while not condition():
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True


class Marked:
    """Processes that carry a mark in their environment, wherever they have gone."""

    def __init__(self) -> None:
        self.name = f"MARK_{os.urandom(6).hex()}"
        self.env = {"PATH": os.environ["PATH"], self.name: "1"}

    def pids(self) -> list[int]:
        return [int(name) for name in os.listdir("/proc") if name.isdigit() and self._has(name)]

    def _has(self, pid: str) -> bool:
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                return self.name.encode() in file.read() and runs(int(pid))
        except OSError:
            return False

    def are_gone(self, within: float = LOUD) -> bool:
        return soon(lambda: not self.pids(), within)


@pytest.fixture
def marked() -> Iterator[Marked]:
    mark = Marked()
    yield mark
    for pid in mark.pids():
        os.kill(pid, 9)


def open_descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


DAEMON = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork():
    os._exit(0)
os.setsid()
if os.fork():
    os._exit(0)
for descriptor in range(3):
    os.close(descriptor)
open(sys.argv[1], "x").close()
time.sleep(600)
"""
"""Leaves its parent, its group and its session, lets go of all pipes, and ignores SIGTERM."""

HORDE = """
trap '' TERM
python3 -c "$1" "$2.daemon" &
setsid sh -c 'trap "" TERM; touch "$1.session"; sleep 600; true' - "$2" &
(trap '' TERM; touch "$2.deaf"; sleep 600; true) &
while ! [ -e "$2.daemon" ] || ! [ -e "$2.session" ] || ! [ -e "$2.deaf" ]; do sleep 0.02; done
echo ready
"""


def horde(folder: Path, after: str) -> list[str]:
    """Everything that is hard to end; prints when it is complete, then does `after`."""
    return ["bash", "-c", HORDE + after, "-", DAEMON, str(folder / "mark")]


def with_host(story: Callable[[LocalHost], Awaitable[T]]) -> T:
    async def main() -> T:
        host = LocalHost()
        try:
            return await story(host)
        finally:
            await host.aclose()

    return asyncio.run(main())


class Pieces:
    """A sink that can be waited for."""

    def __init__(self) -> None:
        self.data = b""
        self._event = asyncio.Event()

    def __call__(self, piece: bytes) -> None:
        self.data += piece
        self._event.set()

    async def first(self) -> bytes:
        await asyncio.wait_for(self._event.wait(), 20)
        return self.data
