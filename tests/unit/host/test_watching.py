"""What the system tells of watched folders."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from detent.host import watching
from detent.host.watching import Watcher

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="inotify is of Linux")


@pytest.fixture
def watcher() -> Iterator[Watcher]:
    watcher = Watcher()
    yield watcher
    watcher.close()


def test_names_are_told_by_folder(watcher: Watcher, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "old").write_text("1")
    watcher.watch(str(tmp_path))
    watcher.watch(str(tmp_path / "in"))
    assert len(watcher.drain()) == 0
    (tmp_path / "new").write_text("1")
    (tmp_path / "old").chmod(0o600)
    (tmp_path / "in" / "ü").write_text("1")
    touched = watcher.drain()
    assert touched.names == {str(tmp_path): {"new", "old"}, str(tmp_path / "in"): {"ü"}}
    assert not touched.is_partial
    assert len(touched) == 3
    assert len(watcher.drain()) == 0, "each is told once"


def test_reading_touches_nothing(watcher: Watcher, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1")
    watcher.watch(str(tmp_path))
    (tmp_path / "a").read_text()
    os.listdir(tmp_path)
    assert len(watcher.drain()) == 0


def test_a_name_that_is_no_text_is_told_as_the_system_has_it(
    watcher: Watcher, tmp_path: Path
) -> None:
    watcher.watch(str(tmp_path))
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff")).write_text("1")
    assert watcher.drain().names == {str(tmp_path): {"\udcff"}}


def test_a_folder_that_has_gone_is_lost(watcher: Watcher, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    watcher.watch(str(folder))
    folder.rmdir()
    assert watcher.drain().lost == {str(folder)}
    folder.mkdir()
    (folder / "a").write_text("1")
    assert watcher.drain().names == {}, "another folder of the same name is not watched"


def test_a_folder_that_moved_is_told_of_by_its_new_name(watcher: Watcher, tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    old.mkdir()
    watcher.watch(str(old))
    old.rename(new)
    watcher.watch(str(new))
    watcher.forget(str(old))
    (new / "a").write_text("1")
    assert watcher.drain().names == {str(new): {"a"}}


def test_what_was_forgotten_is_not_told(watcher: Watcher, tmp_path: Path) -> None:
    watcher.watch(str(tmp_path))
    (tmp_path / "a").write_text("1")
    watcher.forget(str(tmp_path))
    (tmp_path / "b").write_text("1")
    touched = watcher.drain()
    assert (touched.names, touched.lost) == ({}, set())


def test_too_much_is_said(watcher: Watcher, tmp_path: Path) -> None:
    most = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    if most > 50_000:
        pytest.skip("it would take long")
    watcher.watch(str(tmp_path))
    for number in range(most // 2 + 10):  # two each
        (tmp_path / str(number % 7)).unlink(missing_ok=True)
        os.mknod(tmp_path / str(number % 7))
    assert watcher.drain().is_partial


def test_where_it_cannot_be_had_there_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, watcher: Watcher
) -> None:
    with pytest.raises(FileNotFoundError):
        watcher.watch(str(tmp_path / "none"))
    with pytest.raises(NotADirectoryError):
        (tmp_path / "a").write_text("1")
        watcher.watch(str(tmp_path / "a"))
    monkeypatch.setattr(watching.ctypes, "CDLL", lambda name, use_errno: object())
    with pytest.raises(OSError, match="no inotify"):
        Watcher()
