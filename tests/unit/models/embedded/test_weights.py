"""Whether the file is whole: its size always, its digest once."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from packages import WHOLE, weights

from detent.models.embedded import weights as module
from detent.models.embedded.weights import is_present, is_sound, stamp_of


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.gguf"
    path.write_bytes(WHOLE)
    return path


def test_the_digest_is_computed_once(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert is_sound(weights(), str(file))
    monkeypatch.setattr(module.hashlib, "file_digest", None)
    assert is_sound(weights(), str(file))


def test_a_file_that_changed_since_is_looked_at_again(file: Path) -> None:
    assert is_sound(weights(), str(file))
    file.write_bytes(WHOLE[:-1] + b"!")
    os.utime(file, (1, 1))
    assert is_present(weights(), str(file))
    assert not is_sound(weights(), str(file))


def test_another_size_needs_no_digest(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.write_bytes(WHOLE + b"!")
    monkeypatch.setattr(module.hashlib, "file_digest", None)
    assert not is_present(weights(), str(file))
    assert not is_sound(weights(), str(file))


def test_a_forged_stamp_of_other_weights_does_not_count(file: Path) -> None:
    file.write_bytes(WHOLE[:-1] + b"!")
    Path(stamp_of(str(file))).write_text("anything")
    assert not is_sound(weights(), str(file))


def test_no_file_is_neither(tmp_path: Path) -> None:
    assert not is_present(weights(), str(tmp_path / "none"))
    assert not is_sound(weights(), str(tmp_path / "none"))
