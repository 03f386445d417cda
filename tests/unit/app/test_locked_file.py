"""A file that several runs change is whole at every moment, and no change is lost."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from detent.app import locked_file
from detent.app.locked_file import Busy, update_file


def test_a_new_file_gets_the_mode_and_an_old_one_keeps_its_own(tmp_path: Path) -> None:
    path = tmp_path / "a"
    update_file(str(path), lambda old: old + b"1", mode=0o600)
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"1", 0o600)
    path.chmod(0o640)
    update_file(str(path), lambda old: old + b"2", mode=0o600)
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"12", 0o640)
    assert os.listdir(tmp_path) == ["a"]


def test_a_change_that_fails_leaves_all_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    with pytest.raises(ZeroDivisionError):
        update_file(str(path), lambda old: bytes(1 // 0), mode=0o600)
    assert path.read_bytes() == b"old" and os.listdir(tmp_path) == ["a"]


def test_a_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"1")
    (tmp_path / "link").symlink_to("real")
    update_file(str(tmp_path / "link"), lambda old: old + b"2", mode=0o600)
    assert (tmp_path / "link").is_symlink() and (tmp_path / "real").read_bytes() == b"12"


def test_a_lock_that_stays_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locked_file, "PATIENCE", 0.0)
    (tmp_path / "a.lock").write_bytes(b"")
    with pytest.raises(Busy, match=r"remove .*a\.lock"):
        update_file(str(tmp_path / "a"), lambda old: old, mode=0o600)
    assert (tmp_path / "a.lock").exists(), "it is not ours to remove"


def test_no_change_of_many_is_lost(tmp_path: Path) -> None:
    path = str(tmp_path / "a")

    def add() -> None:
        for _ in range(5):
            update_file(path, lambda old: old + b"x", mode=0o600)

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Path(path).read_bytes() == b"x" * 20


def test_a_pipe_in_its_place_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "file")
    with pytest.raises(OSError, match="not a file"):
        update_file(str(tmp_path / "file"), lambda old: b"new", mode=0o600)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file"]
