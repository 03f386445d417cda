"""A workspace, something outside it, and a host whose confined commands each backend holds."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from detent.host.keeping.landlock import SCOPES_SINCE, version
from detent.host.local import LocalHost
from detent.host.sandbox.choosing import proven
from detent.host.sandbox.profile import Backend, Profile
from detent.host.sandbox.promises import Probe
from detent.host.sandbox.sandbox import Sandbox
from detent.ports import Finished


@cache
def why_not(backend: Backend) -> str:
    """Empty where it can be had. Only what is missing counts: not what does not hold."""
    if backend == "landlock":
        return "" if version() else "this kernel has no Landlock"
    if shutil.which("bwrap") is None:
        return "bubblewrap is not installed"
    probes: tuple[Probe, ...] = asyncio.run(proven("bwrap"))
    could_start = any(probe.held for probe in probes)
    return "" if could_start else f"bubblewrap cannot be used here: {probes[0].detail}"


def need(backend: Backend) -> None:
    if why := why_not(backend):
        pytest.skip(why)


def need_own_signals(cell: Cell) -> None:
    """Or a test would end whatever runs here."""
    if cell.backend == "landlock" and version() < SCOPES_SINCE:
        pytest.skip("the Landlock of this kernel does not hold signals")


@pytest.fixture(params=["landlock", "bwrap"])
def backend(request: pytest.FixtureRequest) -> Backend:
    need(request.param)
    return request.param  # type: ignore[no-any-return]


class Ran:
    def __init__(self, finished: Finished, output: str) -> None:
        self.code, self.output, self.sandbox = finished.exit_code, output, finished.sandbox


class Cell:
    """What a test needs of one sandbox."""

    def __init__(self, backend: Backend, ground: Path) -> None:
        self.backend = backend
        self.work, self.outside = ground / "work", ground / "outside"
        self.secret = ground / "secret"
        for folder in (self.work, self.outside, self.secret):
            folder.mkdir()
        (self.outside / "old").write_text("old")
        (self.secret / "key").write_text("the key")
        # The ground lies in /tmp: without this nothing of it could even be seen inside.
        self.profile = Profile(
            roots=(str(self.work),), readable=(str(ground),), denied_reads=(str(self.secret),)
        )

    def host(self, **changes: Any) -> LocalHost:
        return LocalHost(sandbox=Sandbox.unproven(self.backend, replace(self.profile, **changes)))

    def story(self, tell: Callable[[LocalHost], Any], **changes: Any) -> Any:
        async def main() -> Any:
            host = self.host(**changes)
            try:
                return await tell(host)
            finally:
                await host.aclose()

        return asyncio.run(main())

    def bash(self, *commands: str, **changes: Any) -> Ran:
        """One after the other in the same sandbox; what the last one did."""

        async def tell(host: LocalHost) -> Ran:
            return [await bash(host, command, str(self.work)) for command in commands][-1]

        ran: Ran = self.story(tell, **changes)
        assert ran.sandbox == self.backend
        return ran

    def python(self, code: str, *argv: str, **changes: Any) -> Ran:
        async def tell(host: LocalHost) -> Ran:
            return await run(host, ["python3", "-c", code, *argv], str(self.work))

        ran: Ran = self.story(tell, **changes)
        assert ran.sandbox == self.backend
        return ran


GUARD = "grep -q '^CapEff:.0*$' /proc/self/status && grep -q '^Seccomp:.2' /proc/self/status"
UNHELD = 99


async def bash(host: LocalHost, command: str, cwd: str, *, confined: bool = True) -> Ran:
    """Some commands here would do harm: should the sandbox ever not hold, nothing is tried."""
    guarded = f"{GUARD} || exit {UNHELD}; {command}" if confined else command
    ran = await run(host, ["bash", "-c", guarded], cwd, confined=confined)
    assert ran.code != UNHELD, "it was not held"
    return ran


async def run(host: LocalHost, argv: list[str], cwd: str, *, confined: bool = True) -> Ran:
    said: list[bytes] = []
    finished = await host.run(argv, cwd=cwd, timeout=30, output=said.append, confined=confined)
    return Ran(finished, b"".join(said).decode())


def holder(host: LocalHost) -> int:
    """The process that holds its sandbox."""
    assert host._sandbox is not None
    (nursery,) = host._sandbox._nurseries.values()
    return nursery._pid


@pytest.fixture
def cell(backend: Backend, tmp_path: Path) -> Cell:
    return Cell(backend, tmp_path)


@pytest.fixture
def bwrap(tmp_path: Path) -> Cell:
    """For what only a mount can do."""
    need("bwrap")
    return Cell("bwrap", tmp_path)


@pytest.fixture
def landlock(tmp_path: Path) -> Cell:
    need("landlock")
    return Cell("landlock", tmp_path)


@pytest.fixture(autouse=True)
def temporary(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Path]:
    """Neither a folder for temporary files nor a mount stays on this side."""
    folder, before = tmp_path_factory.mktemp("temporary"), Path("/proc/self/mounts").read_text()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert os.listdir(folder) == []
    assert Path("/proc/self/mounts").read_text() == before
