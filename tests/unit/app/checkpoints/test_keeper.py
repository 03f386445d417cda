"""Checkpoints: what calls say they write, what commands do, and that no call fails for it."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from detent.app.checkpoints import keeper as module
from detent.app.checkpoints.candidates import changed_since, keep, kept_state
from detent.app.checkpoints.keeper import FileKeeper, may_do_anything
from detent.app.checkpoints.terms import Terms
from detent.app.checkpoints.tree import Tree
from detent.app.checkpoints.workspace import MirroredWorkspace
from detent.ports import Proposal
from detent.session.blobs import Blobs
from detent.types.content import Call
from detent.types.effects import Asks, Connects, Effect, Reads, Runs, Spawns, Writes
from detent.types.files import Change, FileState


class Desk:
    """A keeper, its folders, and what it said."""

    def __init__(self, folder: Path) -> None:
        self.root, self.home = folder / "work", folder / "home"
        self.root.mkdir()
        self.said: list[str] = []
        self.blobs = Blobs(str(self.home))
        self.keeper = self.another()

    def another(self, **terms: Any) -> FileKeeper:
        return FileKeeper(
            [str(self.root)], str(self.home), Terms(**terms), self.blobs, self.said.append
        )

    def proposal(self, *effects: Effect, call_id: str = "c") -> Proposal:
        return Proposal(Call(call_id, "T", "{}"), "T", {}, effects, str(self.root))

    async def call(self, act: Callable[[], object], *effects: Effect) -> tuple[Change, ...]:
        await self.keeper.before(self.proposal(*effects))
        act()
        return await self.keeper.after("c")


@pytest.fixture
def desk(tmp_path: Path) -> Any:
    desk = Desk(tmp_path)
    yield desk
    desk.keeper.close()


RUNS = Runs("make")


def plain(desk: Desk, changes: tuple[Change, ...]) -> dict[str, tuple[object, object]]:
    def of(state: FileState) -> object:
        return desk.blobs.get(state.digest).decode() if state.digest else state.kind

    return {
        os.path.relpath(each.path, desk.root): (of(each.before), of(each.after)) for each in changes
    }


def test_a_file_that_a_call_writes_is_kept_before_and_compared_after(desk: Desk) -> None:
    (desk.root / "a").write_text("one")

    async def run() -> None:
        kept = await desk.keeper.before(desk.proposal(Writes("a"), Writes(str(desk.root / "a"))))
        (state,) = kept.values()
        assert desk.blobs.get(state.digest) == b"one"
        (desk.root / "a").write_text("two")
        assert plain(desk, await desk.keeper.after("c")) == {"a": ("one", "two")}
        assert await desk.keeper.after("c") == (), "once per call"

    asyncio.run(run())
    assert not (desk.home / "mirrors").exists(), "no mirror is needed for that"


def test_folders_that_are_made_on_the_way_are_told(desk: Desk) -> None:
    def act() -> None:
        (desk.root / "x" / "y").mkdir(parents=True)
        (desk.root / "x" / "y" / "a").write_text("new")

    changes = asyncio.run(desk.call(act, Writes("x/y/a")))
    assert plain(desk, changes) == {
        "x": ("none", "folder"),
        "x/y": ("none", "folder"),
        "x/y/a": ("none", "new"),
    }


def test_a_link_and_what_it_leads_to_are_both_kept(desk: Desk) -> None:
    (desk.root / "real").write_text("one")
    (desk.root / "link").symlink_to("real")
    effects = (Writes(str(desk.root / "link")), Writes(str(desk.root / "real")))

    async def run() -> tuple[Change, ...]:
        kept = await desk.keeper.before(desk.proposal(*effects))
        assert kept[str(desk.root / "link")] == FileState("link", target="real")
        (desk.root / "real").write_text("two")
        return await desk.keeper.after("c")

    assert plain(desk, asyncio.run(run())) == {"real": ("one", "two")}


def test_a_file_behind_a_linked_folder_is_told_once_by_its_place(desk: Desk) -> None:
    (desk.root / "real").mkdir()
    (desk.root / "link").symlink_to("real")
    effects = (Writes(str(desk.root / "link" / "a")), Writes(str(desk.root / "real" / "a")))
    changes = asyncio.run(desk.call(lambda: (desk.root / "real" / "a").write_text("1"), *effects))
    assert plain(desk, changes) == {"real/a": ("none", "1")}


def test_a_call_that_changed_nothing_says_so(desk: Desk) -> None:
    (desk.root / "a").write_text("one")
    assert asyncio.run(desk.call(lambda: None, Writes("a"), Writes("b"))) == ()


def test_what_cannot_be_kept_is_said_once(desk: Desk) -> None:
    desk.keeper = desk.another(file_bytes=3)
    (desk.root / "a").write_text("much")

    async def run() -> None:
        for _ in range(2):
            (change,) = await desk.call(
                lambda: (desk.root / "a").write_text((desk.root / "a").read_text() + "more"),
                Writes("a"),
            )
            assert not change.before.digest

    asyncio.run(run())
    assert desk.said == [f"undo does not cover {desk.root}/a: it is too large or cannot be read"]


def test_a_command_and_what_it_declares_are_told_once(desk: Desk) -> None:
    (desk.root / "a").write_text("one")

    def act() -> None:
        (desk.root / "a").write_text("two")
        (desk.root / "b").write_text("new")

    changes = asyncio.run(desk.call(act, RUNS, Writes("a")))
    assert len(changes) == 2
    assert plain(desk, changes) == {"a": ("one", "two"), "b": ("none", "new")}


def test_many_changes_are_found_in_a_thread(desk: Desk) -> None:
    def act() -> None:
        for number in range(50):
            (desk.root / str(number)).write_text("1")

    async def run() -> None:
        for _ in range(2):
            await desk.call(lambda: None, RUNS)
        assert len(await desk.call(act, RUNS)) == 50

    asyncio.run(run())


@pytest.mark.parametrize(
    ("effects", "does_anything"),
    [
        ((RUNS,), True),
        ((Connects("*"),), True),
        ((Reads("a"), RUNS), True),
        ((Connects("h", only_asks=True),), False),
        ((Writes("a"), Reads("b"), Asks(), Spawns("x")), False),
    ],
)
def test_of_which_calls_nobody_knows_what_they_touch(
    desk: Desk, effects: tuple[Effect, ...], does_anything: bool
) -> None:
    assert may_do_anything(desk.proposal(*effects)) is does_anything


def test_no_call_fails_where_no_mirror_can_be(desk: Desk) -> None:
    desk.home.mkdir()
    (desk.home / "mirrors").write_text("in the way")

    async def run() -> None:
        for _ in range(2):
            assert await desk.call(lambda: (desk.root / "a").write_text("1"), RUNS) == ()

    asyncio.run(run())
    (said,) = desk.said
    assert said.startswith(f"undo does not cover what commands change in {desk.root} (")


@pytest.mark.parametrize("method", ["settle", "changes", "touched"])
def test_no_call_fails_for_a_fault_of_ours(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    def broken(*given: object) -> None:
        raise RuntimeError("a fault")

    async def run() -> None:
        await desk.call(lambda: None, RUNS)
        with monkeypatch.context() as patch:
            patch.setattr(MirroredWorkspace, method, broken)
            await desk.call(lambda: (desk.root / "a").write_text("1"), RUNS)
        changes = await desk.call(lambda: (desk.root / "a").write_text("2"), RUNS)
        assert "a" in plain(desk, changes)

    asyncio.run(run())
    assert "undo does not cover what commands change: a fault" in desk.said


def test_after_a_look_that_failed_everything_is_looked_at(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    (desk.root / "a").write_text("one")

    def broken(*given: object, **more: object) -> None:
        raise OSError(5, "Input/output error")

    async def run() -> None:
        await desk.call(lambda: None, RUNS)
        with monkeypatch.context() as patch:
            patch.setattr(Tree, "_look_at_name", broken)
            assert await desk.call(lambda: (desk.root / "a").write_text("two"), RUNS) == ()
        changes = await desk.call(lambda: (desk.root / "a").write_text("three"), RUNS)
        assert plain(desk, changes) == {"a": ("two", "three")}

    asyncio.run(run())


def test_a_command_that_is_cancelled_while_the_folder_is_read(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reading goes on; the next command waits for it."""
    entered, go_on, look = threading.Event(), threading.Event(), Tree.look
    looked: list[Tree] = []

    def slow(tree: Tree, *given: Any) -> Any:
        looked.append(tree)
        entered.set()
        assert go_on.wait(20)
        return look(tree, *given)

    monkeypatch.setattr(Tree, "look", slow)

    async def run() -> None:
        first = asyncio.ensure_future(desk.keeper.before(desk.proposal(RUNS)))
        await asyncio.to_thread(entered.wait, 20)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        second = asyncio.ensure_future(desk.keeper.before(desk.proposal(RUNS)))
        await asyncio.sleep(0)
        go_on.set()
        await second
        (desk.root / "a").write_text("1")
        assert plain(desk, await desk.keeper.after("c")) == {"a": ("none", "1")}
        assert len(set(looked)) == 1, "it was read once"

    asyncio.run(run())


def test_whoever_waits_long_is_told_why(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PATIENCE", 0.0)
    told, look = threading.Event(), Tree.look

    def slow(tree: Tree, *given: Any) -> Any:
        assert told.wait(20)
        return look(tree, *given)

    monkeypatch.setattr(Tree, "look", slow)
    desk.keeper._tell = lambda text: (desk.said.append(text), told.set())  # type: ignore[func-returns-value, assignment]
    asyncio.run(desk.call(lambda: None, RUNS))
    assert desk.said == [module.READING]


def test_what_an_interrupted_call_left(desk: Desk) -> None:
    """The files that it named, and what else is not as it was when it began."""
    (desk.root / "a").write_text("one")
    (desk.root / "b").write_text("one")

    async def run() -> None:
        kept = await desk.keeper.before(desk.proposal(RUNS, Writes("a")))
        (desk.root / "a").write_text("two")
        (desk.root / "b").write_text("two")
        assert desk.keeper._workspace is not None
        for tree in desk.keeper._workspace.trees:
            tree.close()  # as a kill does
        desk.keeper._workspace = None
        desk.keeper = desk.another()
        assert plain(desk, await desk.keeper.left_by("c", kept)) == {
            "a": ("one", "two"),
            "b": ("one", "two"),
        }
        assert await desk.keeper.left_by("other", {}) == ()

    asyncio.run(run())


def test_what_commands_left_that_ran_together_is_told_once(desk: Desk) -> None:
    """Also to a call of the session that an agent's command was working for."""
    told: list[tuple[str, list[str]]] = []

    def found(key: str, changes: tuple[Change, ...]) -> None:
        told.append((key, [os.path.basename(change.path) for change in changes]))

    async def run() -> None:
        desk.keeper._tell_found = found
        await desk.keeper.before(desk.proposal(RUNS), "agent/c1")
        (desk.root / "a").write_text("one")
        await desk.keeper.before(desk.proposal(RUNS), "agent/c2")
        (desk.root / "b").write_text("two")
        assert told == [("agent/c1", ["a"])], "the log knows it before the mirror does"
        assert desk.keeper._workspace is not None
        for tree in desk.keeper._workspace.trees:
            tree.close()  # as a kill does
        desk.keeper._workspace = None
        desk.keeper = desk.another()
        assert plain(desk, await desk.keeper.left_by("the call", {})) == {"b": ("none", "two")}
        assert await desk.keeper.left_by("another", {}) == ()

    asyncio.run(run())


def test_kept_states_of_every_kind(tmp_path: Path) -> None:
    blobs = Blobs(str(tmp_path / "home"))
    (tmp_path / "file").write_text("one")
    (tmp_path / "folder").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to("nowhere")
    os.mkfifo(tmp_path / "pipe", 0o600)
    names = ["file", "folder", "link", "pipe", "none", "file/below"]
    kept = keep([str(tmp_path / name) for name in names], blobs, 100)
    kinds = [kept[str(tmp_path / name)].kind for name in names]
    assert kinds == ["file", "folder", "link", "other", "none", "none"]
    assert keep(["/\udcff"], blobs, 100) == {}, "no name that the log cannot hold"
    assert changed_since(kept, lambda path: kept_state(path, blobs, 100)) == ()
    (tmp_path / "file").unlink()
    (tmp_path / "folder").chmod(0o755)
    changes = changed_since(kept, lambda path: kept_state(path, blobs, 100))
    assert [(os.path.basename(c.path), c.after.kind) for c in changes] == [
        ("file", "none"), ("folder", "folder"),
    ]  # fmt: skip
