"""What a command changed, against the mirror: rules, bounds, and what the system does not tell."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from detent.app.checkpoints import workspace as module
from detent.app.checkpoints.reading import Reader
from detent.app.checkpoints.terms import Terms
from detent.app.checkpoints.workspace import MirroredWorkspace
from detent.host.watching import Watcher
from detent.session import mirror
from detent.session.blobs import Blobs
from detent.types.files import Change, FileState

Open = Callable[..., MirroredWorkspace]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


@pytest.fixture
def opened(tmp_path: Path, root: Path) -> Iterator[Open]:
    made: list[MirroredWorkspace] = []

    def opening(*more: Path, **terms: object) -> MirroredWorkspace:
        home = str(tmp_path / "home")
        roots = [str(root), *map(str, more)]
        found = MirroredWorkspace(roots, home, Terms(**terms), Blobs(home))  # type: ignore[arg-type]
        made.append(found)
        return found

    yield opening
    for workspace in made:
        workspace.close()


def after(workspace: MirroredWorkspace, act: Callable[[], object]) -> tuple[Change, ...]:
    workspace.settle(workspace.touched(), "call")
    act()
    return workspace.changes(workspace.touched())


def names(changes: tuple[Change, ...]) -> set[str]:
    return {os.path.basename(change.path) for change in changes}


def blind(workspace: MirroredWorkspace) -> None:
    for tree in workspace.trees:
        tree.stop_watching()


def test_a_change_has_the_bytes_of_before_and_after(
    root: Path, opened: Open, tmp_path: Path
) -> None:
    (root / "a").write_bytes(b"\x00old\xff")
    (root / "a").chmod(0o640)
    (change,) = after(opened(), lambda: (root / "a").write_bytes(b"new"))
    blobs = Blobs(str(tmp_path / "home"))
    assert change.path == str(root / "a")
    assert (change.before.mode, change.before.size) == (0o640, 5)
    assert blobs.get(change.before.digest) == b"\x00old\xff"
    assert blobs.get(change.after.digest) == b"new"


def test_what_others_did_before_is_not_told(root: Path, opened: Open) -> None:
    (root / "a").write_text("old")
    workspace = opened()
    (root / "a").write_text("by the user")
    (change,) = after(workspace, lambda: (root / "a").write_text("by the call"))
    assert change.before.size == len("by the user")


def test_nothing_is_told_of_bytes_that_are_the_same_again(root: Path, opened: Open) -> None:
    (root / "a").write_text("old")

    def act() -> None:
        (root / "a").write_text("new")
        (root / "a").write_text("old")
        os.utime(root / "a", (1, 1))
        (root / "b").write_text("gone before anybody looked")
        (root / "b").unlink()

    assert after(opened(), act) == ()


def test_a_gitignore_counts_as_it_was_before_the_call(root: Path, opened: Open) -> None:
    workspace = opened()

    def first() -> None:
        (root / ".gitignore").write_text("*.log\n")
        (root / "a.log").write_text("1")

    assert names(after(workspace, first)) == {".gitignore", "a.log"}
    assert names(after(workspace, lambda: (root / "a.log").write_text("2"))) == set()

    def second() -> None:
        (root / ".gitignore").unlink()
        (root / "b.log").write_text("1")

    assert names(after(workspace, second)) == {".gitignore"}
    assert names(after(workspace, lambda: (root / "b.log").write_text("2"))) == {"b.log"}


def test_a_folder_that_ignores_itself_is_not_told_of(root: Path, opened: Open) -> None:
    """As caches of tools do; the folder itself is."""

    def act() -> None:
        (root / "cache").mkdir()
        (root / "cache" / ".gitignore").write_text("*\n")
        (root / "cache" / "a").write_text("1")

    workspace = opened()
    assert names(after(workspace, act)) == {"cache"}
    assert after(workspace, lambda: (root / "cache" / "a").write_text("2")) == ()


def test_ignored_files_can_be_wanted(root: Path, opened: Open) -> None:
    (root / ".gitignore").write_text("*\n")
    (root / "node_modules").mkdir()

    def act() -> None:
        (root / "a").write_text("1")
        (root / "node_modules" / "b").write_text("1")

    assert names(after(opened(ignored=True), act)) == {"a"}


def test_git_and_generated_folders_are_left_out(root: Path, opened: Open) -> None:
    for name in (".git", "node_modules", "__pycache__", ".venv"):
        (root / name).mkdir()

    def act() -> None:
        for name in (".git", "node_modules", "__pycache__", ".venv"):
            (root / name / "a").write_text("1")

    assert after(opened(), act) == ()


def test_our_own_folder_is_left_out(tmp_path: Path, opened: Open) -> None:
    """A session in the folder that holds it."""
    workspace = opened(tmp_path)
    assert names(after(workspace, lambda: (tmp_path / "home" / "x").write_text("1"))) == set()
    assert names(after(workspace, lambda: (tmp_path / "y").write_text("1"))) == {"y"}


def test_a_folder_within_another_is_looked_at_once(root: Path, opened: Open) -> None:
    (root / "in").mkdir()
    workspace = opened(root / "in")
    assert len(workspace.trees) == 1
    assert len(after(workspace, lambda: (root / "in" / "a").write_text("1"))) == 1


def test_pipes_are_told_and_never_opened(root: Path, opened: Open) -> None:
    os.mkfifo(root / "old", 0o600)
    workspace = opened()

    def act() -> None:
        (root / "old").unlink()
        os.mkfifo(root / "new", 0o600)

    assert {c.path: (c.before.kind, c.after.kind) for c in after(workspace, act)} == {
        str(root / "old"): ("other", "none"),
        str(root / "new"): ("none", "other"),
    }


def test_names_that_are_no_text_are_said_not_to_be_covered(root: Path, opened: Open) -> None:
    (root / "a").write_text("1")

    def act() -> None:
        Path(os.fsdecode(os.fsencode(root) + b"/\xff")).write_text("1")
        os.symlink(b"\xff", os.fsencode(root) + b"/link")
        (root / "a").write_text("2")

    workspace = opened()
    assert names(after(workspace, act)) == {"a"}
    assert workspace.why_missed() == {
        "names that are not UTF-8",
        "links to names that are not UTF-8",
    }


def test_a_file_changed_by_its_name_elsewhere_is_seen(
    tmp_path: Path, root: Path, opened: Open
) -> None:
    """Nobody tells of the one when the other is written."""
    (root / "a").write_text("one")
    os.link(root / "a", tmp_path / "outside")
    workspace = opened()
    assert names(after(workspace, lambda: (tmp_path / "outside").write_text("two"))) == {"a"}
    (root / "b").write_text("one")
    assert names(after(workspace, lambda: os.link(root / "b", root / "c"))) == {"c"}
    assert names(after(workspace, lambda: (root / "c").write_text("two"))) == {"b", "c"}

    def at_once() -> None:
        os.link(root / "b", root / "d")
        (root / "d").write_text("three")

    assert names(after(workspace, at_once)) == {"b", "c", "d"}


def test_a_folder_in_place_of_another_is_another(root: Path, opened: Open) -> None:
    """Whether or not it gets the same number."""
    (root / "in").mkdir()
    (root / "in" / "a").write_text("1")

    def act() -> None:
        (root / "in" / "a").unlink()
        (root / "in").rmdir()
        (root / "in").mkdir()
        (root / "in" / "b").write_text("2")

    workspace = opened()
    assert names(after(workspace, act)) == {"a", "b"}
    assert names(after(workspace, lambda: (root / "in" / "b").write_text("3"))) == {"b"}


def test_the_root_itself_may_go_and_come_back(root: Path, opened: Open) -> None:
    (root / "a").write_text("1")
    workspace = opened()

    def act() -> None:
        root.rename(root.with_name("aside"))
        root.mkdir()
        (root / "b").write_text("2")

    assert names(after(workspace, act)) == {"a", "b"}
    assert names(after(workspace, lambda: (root / "b").write_text("3"))) == {"b"}


def test_after_too_many_events_everything_is_looked_at(
    root: Path, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = opened()
    drain = Watcher.drain

    def lossy(watcher: Watcher) -> object:
        touched = drain(watcher)
        touched.names.clear()
        touched.is_partial = True
        return touched

    monkeypatch.setattr(Watcher, "drain", lossy)
    assert names(after(workspace, lambda: (root / "a").write_text("1"))) == {"a"}


@pytest.mark.parametrize("number", [24, 28], ids=["EMFILE", "ENOSPC"])
def test_where_nothing_more_can_be_watched_everything_is_looked_at(
    root: Path, opened: Open, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    (root / "in").mkdir()
    watch = Watcher.watch

    def limited(watcher: Watcher, folder: str) -> None:
        if folder.endswith("/in"):
            raise OSError(number, "no more")
        watch(watcher, folder)

    monkeypatch.setattr(Watcher, "watch", limited)
    workspace = opened()
    assert not workspace.is_watched
    assert names(after(workspace, lambda: (root / "in" / "a").write_text("1"))) == {"a"}


def test_same_size_and_time_put_back_is_seen_without_a_watcher(root: Path, opened: Open) -> None:
    (root / "a").write_text("one")
    os.utime(root / "a", (1, 1))
    workspace = opened()
    blind(workspace)

    def act() -> None:
        (root / "a").write_text("two")
        os.utime(root / "a", (1, 1))

    assert names(after(workspace, act)) == {"a"}


def test_a_large_file_is_told_but_not_kept(root: Path, opened: Open) -> None:
    (root / "a").write_bytes(b"x" * 100)
    workspace = opened(file_bytes=10)
    (change,) = after(workspace, lambda: (root / "a").write_bytes(b"y" * 101))
    assert change.before == FileState("file", stat.S_IMODE((root / "a").stat().st_mode), 100)
    assert (change.after.size, change.after.digest) == (101, "")
    (why,) = workspace.why_missed()
    assert "files of more than" in why
    assert after(workspace, (root / "a").read_bytes) == ()


def test_a_file_that_outgrows_the_bound(root: Path, opened: Open) -> None:
    (root / "a").write_bytes(b"x")
    (change,) = after(opened(file_bytes=10), lambda: (root / "a").write_bytes(b"y" * 101))
    assert change.before.digest
    assert (change.after.size, change.after.digest) == (101, "")


def test_no_more_bytes_are_kept_than_wanted(root: Path, opened: Open) -> None:
    for name in "abcd":
        (root / name).write_bytes(name.encode() * 10)
    workspace = opened(bytes=25)

    def act() -> None:
        for name in "abcd":
            (root / name).unlink()

    assert sorted(bool(change.before.digest) for change in after(workspace, act)) == [
        False, False, True, True,
    ]  # fmt: skip
    assert any("more than" in why for why in workspace.why_missed())


def test_no_more_names_are_covered_than_wanted(root: Path, opened: Open) -> None:
    for folder in ("a", "b"):
        (root / folder).mkdir()
        for name in "xyz":
            (root / folder / name).write_text("1")
    workspace = opened(files=6)

    def act() -> None:
        for folder in ("a", "b"):
            (root / folder / "x").write_text("2")

    assert len(after(workspace, act)) == 1
    assert workspace.why_missed() == {f"more than 6 names in {root}"}


def test_time_that_is_up_is_said_and_nothing_is_made_up(root: Path, opened: Open) -> None:
    (root / "in").mkdir()
    (root / "in" / "a").write_text("1")
    opened().close()
    workspace = opened(seconds=0.0)
    blind(workspace)
    assert after(workspace, lambda: None) == ()
    (why,) = workspace.why_missed()
    assert "0 seconds" in why
    assert names(after(opened(), lambda: (root / "in" / "a").write_text("2"))) == {"a"}, "later on"


def test_of_what_a_look_did_not_come_to_nothing_is_said(
    root: Path, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "in").mkdir()
    (root / "in" / "a").write_text("1")
    workspace = opened()
    blind(workspace)
    workspace.settle(workspace.touched(), "call")
    monkeypatch.setattr(Reader, "is_late", True)
    assert workspace.changes(workspace.touched()) == ()


def test_bytes_that_were_written_again_are_still_known(
    root: Path, opened: Open, tmp_path: Path
) -> None:
    def write(*texts: str) -> None:
        for name, text in zip("ab", texts, strict=True):
            (root / name).write_text(text)

    write("first", "second")
    workspace = opened()
    assert after(workspace, lambda: write("first", "second")) == ()
    changes = after(workspace, lambda: write("third", "fourth"))
    blobs = Blobs(str(tmp_path / "home"))
    assert [blobs.get(change.before.digest) for change in changes] == [b"first", b"second"]


def test_no_endless_list_of_changes(
    root: Path, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_CHANGES", 2)
    workspace = opened()
    assert len(after(workspace, lambda: [(root / n).write_text("1") for n in "abc"])) == 2
    assert workspace.why_missed() == {"more than 2 changes by one call"}


def test_a_damaged_pack_gives_no_wrong_bytes(root: Path, opened: Open, tmp_path: Path) -> None:
    (root / "a").write_text("old")
    opened().close()
    (pack,) = tmp_path.glob("home/mirrors/*/pack-*")
    pack.write_bytes(b"???")
    os.utime(root / "a", (1, 1))
    os.utime(root / "a", (1, 1))
    workspace = opened()
    for tree in workspace.trees:
        tree.mirror.get = lambda seen: b"???"  # type: ignore[method-assign]
    (change,) = after(workspace, lambda: (root / "a").write_text("new"))
    assert (change.before.kind, change.before.digest) == ("file", "")
    assert any("damaged" in why for why in workspace.why_missed())
    workspace.close()
    fresh = opened()
    (change,) = after(fresh, lambda: (root / "a").write_text("newer"))
    assert Blobs(str(tmp_path / "home")).get(change.before.digest) == b"new"


def test_blobs_that_cannot_be_written_are_told_as_not_kept(
    root: Path, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "a").write_text("old")
    workspace = opened()

    def full(blobs: Blobs, data: bytes) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Blobs, "put", full)
    (change,) = after(workspace, lambda: (root / "a").write_text("new"))
    assert (change.before.digest, change.after.digest) == ("", "")
    assert workspace.why_missed()


def test_two_sessions_in_the_same_folder(root: Path, opened: Open, tmp_path: Path) -> None:
    (root / "a").write_text("one")
    first, second = opened(), opened()
    first.settle(first.touched(), "call")
    (change,) = after(second, lambda: (root / "a").write_text("two"))
    blobs = Blobs(str(tmp_path / "home"))
    assert (blobs.get(change.before.digest), blobs.get(change.after.digest)) == (b"one", b"two")
    (same,) = first.changes(first.touched())
    assert same == change
    first.close()
    third = opened()
    (change,) = after(third, lambda: (root / "a").write_text("three"))
    assert blobs.get(change.before.digest) == b"two"


def test_what_an_interrupted_call_left_is_found_by_the_next_session(
    root: Path, opened: Open, tmp_path: Path
) -> None:
    (root / "a").write_text("one")
    killed = opened()
    killed.settle(killed.touched(), "call_7")
    (root / "a").write_text("two")
    killed.changes(killed.touched())  # the agent dies before the log has it
    for tree in killed.trees:
        tree.close()
    killed.trees.clear()
    again = opened()
    (change,) = again.left_by("call_7")
    blobs = Blobs(str(tmp_path / "home"))
    assert (blobs.get(change.before.digest), blobs.get(change.after.digest)) == (b"one", b"two")
    assert again.left_by("call_8") == ()
    again.close()
    assert opened().left_by("call_7") == (), "it is told once, and ended sessions leave nothing"


def test_the_empty_folders_of_a_sandbox_are_no_changes(root: Path, opened: Open) -> None:
    workspace = opened()
    assert after(workspace, (root / ".claude").mkdir) == ()
    assert after(workspace, (root / ".claude").rmdir) == ()

    def act() -> None:
        (root / ".claude").mkdir()
        (root / ".claude" / "a").write_text("1")

    assert names(after(workspace, act)) == {".claude", "a"}


def test_a_new_session_goes_on_from_the_mirror(
    root: Path, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No file is read again that has not changed."""
    (root / "a").write_text("1")
    (root / "b").write_text("1")
    settle_time(root / "a", root / "b")
    opened().close()
    (root / "b").write_text("2")
    read: list[str] = []
    from detent.app.checkpoints import reading

    really = reading._read

    def noted(path: str, most: int) -> tuple[os.stat_result, bytes]:
        read.append(os.path.basename(path))
        return really(path, most)

    monkeypatch.setattr(reading, "_read", noted)
    opened()
    assert read == ["b"]


def settle_time(*paths: Path) -> None:
    """Until their times can be told from those of a later change."""
    import time

    from detent.app.checkpoints.reading import FINE

    newest = max(path.stat().st_ctime_ns for path in paths)
    while time.time_ns() - newest <= FINE:
        os.sched_yield()


def test_a_mirror_does_not_grow_with_every_change(
    tmp_path: Path, root: Path, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mirror, "SPARE", 1000)
    (root / "b").write_text("same")
    workspace = opened()
    for number in range(50):
        (root / "a").write_bytes(b"%d" % number * 1000)
        (change,) = after(workspace, lambda: (root / "a").write_text("short"))
        assert Blobs(str(tmp_path / "home")).get(change.before.digest) == b"%d" % number * 1000
    (pack,) = (tmp_path / "home" / "mirrors").glob("*/pack-*")
    assert pack.stat().st_size < 10_000


def test_what_many_people_share_is_not_mirrored(
    tmp_path: Path, root: Path, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The whole machine, all home folders, a folder for temporary files."""
    monkeypatch.setenv("HOME", str(root / "me"))
    (root / "me").mkdir()
    workspace = opened(Path("/"), root / "me")
    assert [tree.root for tree in workspace.trees] == [str(root / "me")]
    assert len(workspace.why_missed()) == 2
    monkeypatch.setenv("HOME", str(tmp_path))
    root.chmod(0o1777)
    assert opened().trees == []


def test_of_a_home_folder_what_programs_keep_there_is_left_out(
    root: Path, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(root))
    (root / ".browser").mkdir()

    def act() -> None:
        (root / ".browser" / "history").write_text("1")
        (root / ".profile").write_text("1")
        (root / "notes").write_text("1")

    assert names(after(opened(), act)) == {".profile", "notes"}


def test_a_disk_without_room_is_not_filled(
    root: Path, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mirror.Mirror, "room", lambda self: 10)
    (root / "large").write_text("x" * 11)
    (root / "small").write_text("x")

    def act() -> None:
        (root / "large").write_text("y")
        (root / "small").write_text("y")

    workspace = opened()
    kept = {os.path.basename(c.path): bool(c.before.digest) for c in after(workspace, act)}
    assert kept == {"large": False, "small": True}
    assert workspace.why_missed() == {"the bytes of files for which the disk has no room"}
