"""Calls of several agents overlap: every change is told once, and all of them, taken back in turn,
lead to where it began."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from tempfile import mkdtemp

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from detent.app.checkpoints import keeper as module
from detent.app.checkpoints.keeper import FileKeeper
from detent.app.checkpoints.terms import Terms
from detent.ports import Proposal
from detent.session.blobs import Blobs
from detent.types.content import Call
from detent.types.effects import Runs, Writes
from detent.types.files import Change, FileState

NAMES = ("a", "d/a", "d/e/b", "new/a", "new/b", "left-out")
FILES = st.sampled_from(NAMES)
DEEDS = st.one_of(
    st.tuples(st.just("edit begins"), st.integers(0, 2), FILES),
    st.tuples(st.just("command begins"), st.integers(0, 2), st.just("")),
    st.tuples(st.just("command writes"), st.integers(0, 2), FILES),
    st.tuples(st.just("command removes"), st.integers(0, 2), FILES),
    st.tuples(st.just("ends"), st.integers(0, 2), st.just("")),
)
"""What one of three agents does next."""


class World:
    def __init__(self, folder: str) -> None:
        self.root = os.path.join(folder, "work")
        os.makedirs(os.path.join(self.root, "d"))
        Path(self.root, ".gitignore").write_text("left-out\n")
        for name in ("a", "d/a"):
            Path(self.root, name).write_text(name)
        self.blobs = Blobs(os.path.join(folder, "home"))
        self.told: list[Change] = []
        self.keeper = FileKeeper(
            [self.root],
            os.path.join(folder, "home"),
            Terms(),
            self.blobs,
            lambda text: None,
            lambda key, changes: self.told.extend(changes),
        )
        self.running: dict[int, str] = {}
        self.written = 0

    async def do(self, what: str, agent: int, name: str) -> None:
        running = self.running.get(agent)
        match what:
            case "edit begins" if running is None and f"edit {name}" not in self.running.values():
                await self._begin(agent, f"edit {name}", Writes(name))
            case "command begins" if running is None:
                await self._begin(agent, "command", Runs("make"))
            case "command writes" if running == "command" and self._is_free(name):
                self._write(name)
            case "command removes" if running == "command" and self._is_free(name):
                self._remove(name)
            case "ends" if running is not None:
                del self.running[agent]
                if running.startswith("edit "):
                    self._write(running[5:])
                self.told += await self.keeper.after(str(agent))

    def _is_free(self, name: str) -> bool:
        """What is in no log cannot come of it: nobody looks at files that are left out."""
        return name != "left-out"

    async def _begin(self, agent: int, what: str, effect: Writes | Runs) -> None:
        self.running[agent] = what
        call = Call(str(agent), "T", "{}")
        await self.keeper.before(Proposal(call, "T", {}, (effect,), self.root))

    def _remove(self, name: str) -> None:
        if name == "d/a":
            shutil.rmtree(os.path.join(self.root, "d"), ignore_errors=True)
        Path(self.root, name).unlink(missing_ok=True)

    def _write(self, name: str) -> None:
        self.written += 1
        path = Path(self.root, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{name} {self.written}")

    def state(self) -> dict[str, tuple[str, bytes]]:
        found: dict[str, tuple[str, bytes]] = {}
        for folder, folders, files in os.walk(self.root):
            for name in folders:
                found[os.path.join(folder, name)] = "folder", b""
            for name in files:
                path = os.path.join(folder, name)
                found[path] = "file", Path(path).read_bytes()
        return found


def taken_back(
    now: dict[str, tuple[str, bytes]], told: Sequence[Change], blobs: Blobs
) -> dict[str, tuple[str, bytes]]:
    state = dict(now)
    for change in reversed(told):
        assert state.get(change.path) == _of(change.after, blobs), f"a gap: {change}"
        before = _of(change.before, blobs)
        state.pop(change.path, None)
        if before is not None:
            state[change.path] = before
    return state


def _of(state: FileState, blobs: Blobs) -> tuple[str, bytes] | None:
    if state.kind == "none":
        return None
    return state.kind, blobs.get(state.digest) if state.kind == "file" else b""


@settings(max_examples=60, deadline=None)
@given(st.lists(DEEDS, max_size=24), st.booleans())
@example([("edit begins", 0, "new/a"), ("edit begins", 1, "new/b")], False)
@example([("command begins", 0, ""), ("edit begins", 1, "a"), ("ends", 0, "")], False)
def test_what_overlapping_calls_change_is_told_once_and_whole(
    deeds: list[tuple[str, int, str]], in_threads: bool
) -> None:
    folder = os.path.realpath(mkdtemp())
    at_once, module.AT_ONCE = module.AT_ONCE, -1 if in_threads else module.AT_ONCE
    try:
        world = World(folder)
        first = world.state()

        async def run() -> None:
            for deed in [*deeds, *(("ends", agent, "") for agent in range(3))]:
                await world.do(*deed)

        asyncio.run(run())
        world.keeper.close()
        assert taken_back(world.state(), world.told, world.blobs) == first
    finally:
        module.AT_ONCE = at_once
        shutil.rmtree(folder)


@pytest.mark.parametrize("at_once", [-1, 8])
def test_calls_at_the_very_same_time_lose_nothing(
    at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not one after the other, as above: all begin and end together."""
    folder = os.path.realpath(mkdtemp())
    monkeypatch.setattr(module, "AT_ONCE", at_once)
    monkeypatch.setattr(module, "SMALL", at_once)
    try:
        world = World(folder)
        first = world.state()

        async def agent(number: int) -> None:
            for turn in range(4):
                is_command = (number + turn) % 2 == 0
                name = f"own-{number}-{turn}" if is_command else f"d/x{number}/file"
                await world._begin(number, "command", Runs("make") if is_command else Writes(name))
                await asyncio.sleep(0)
                world._write(name)
                world.told += await world.keeper.after(str(number))

        async def run() -> None:
            await asyncio.gather(*(agent(number) for number in range(6)))

        asyncio.run(run())
        world.keeper.close()
        assert taken_back(world.state(), world.told, world.blobs) == first
    finally:
        shutil.rmtree(folder)
