"""What an agent that was killed had not finished writing goes; what is being written stays."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from detent.host.files import write_file
from detent.host.partials import hold, partial_name, sweep_partials


def test_what_nobody_holds_is_removed_and_nothing_else(tmp_path: Path) -> None:
    left, held = tmp_path / partial_name(), tmp_path / partial_name()
    others = [tmp_path / name for name in ("a.txt", ".detent-notes.tmp", f"x{partial_name()}")]
    for path in (left, held, *others):
        path.touch()
    descriptor = os.open(held, os.O_WRONLY)
    try:
        hold(descriptor)
        sweep_partials(str(tmp_path))
        assert sorted(tmp_path.iterdir()) == sorted([held, *others])
    finally:
        os.close(descriptor)
    sweep_partials(str(tmp_path))
    assert not held.exists()


def test_a_link_of_such_a_name_is_not_followed(tmp_path: Path) -> None:
    link = tmp_path / partial_name()
    link.symlink_to(tmp_path / "target")
    sweep_partials(str(tmp_path))
    assert link.is_symlink()


def test_a_folder_that_is_not_there_is_no_matter(tmp_path: Path) -> None:
    sweep_partials(str(tmp_path / "none"))


def test_a_file_is_held_until_it_is_in_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody who sweeps at the worst moment takes nothing away from one who writes."""
    replace = os.replace

    def swept(*args: object, **named: object) -> None:
        sweep_partials(str(tmp_path))
        replace(*args, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "replace", swept)
    (tmp_path / "a.txt").write_text("old")
    write_file(str(tmp_path / "a.txt"), b"new")
    assert (tmp_path / "a.txt").read_bytes() == b"new"
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]
