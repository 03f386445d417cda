"""The log as it is read: whatever stands in it, and never all of it at once beside its entries."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

from detent.session import reading as reading_module
from detent.session.log import WHOLE, FileLog, frame
from detent.session.reading import read_log
from detent.types.events import Reminded, Switched

ONE, TWO = Switched(seq=1, model="a"), Switched(seq=2, model="b")


def test_lines_that_are_too_long_are_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever they are, and as one: the disk may have filled up with them."""
    monkeypatch.setattr(reading_module, "LONGEST", 200)
    path = tmp_path / "s.jsonl"
    path.write_bytes(frame(ONE) + b"\0" * 1_001 + b"\n" + b"x" * 400 + b"\n" + frame(TWO))
    reading = read_log(str(path))
    assert (reading.entries, reading.damaged, reading.torn) == ((ONE, TWO), 2, False)


def test_the_file_is_not_held_beside_its_entries(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    junk = b"\xff" * 1_000_000 + b"\n"
    path.write_bytes(frame(ONE) + junk * 30 + frame(TWO))
    read_log(str(path))
    tracemalloc.start()
    try:
        reading = read_log(str(path))
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (reading.entries, reading.damaged) == ((ONE, TWO), 30)
    assert most < 8_000_000


@pytest.mark.parametrize("content", [b"", b"\n", b"\n\n\n"])
def test_nothing_is_no_damage(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(content)
    reading = read_log(str(path))
    assert (reading.entries, reading.damaged, reading.torn) == ((), 0, False)


def test_a_record_that_lacks_only_its_newline_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(frame(ONE) + frame(TWO)[:-1])
    reading = read_log(str(path))
    assert (reading.entries, reading.damaged, reading.torn) == ((ONE, TWO), 0, True)


def test_blobs_are_found_where_the_log_lies(tmp_path: Path) -> None:
    log = FileLog(str(tmp_path / "sessions" / "p" / "s.jsonl"), lambda: 1.0, home=str(tmp_path))
    entry = log.append(Reminded(text="x" * WHOLE, source="s"))
    log.close()
    assert read_log(log.path).entries == (entry,)
    (tmp_path / "sessions" / "p").rename(tmp_path / "elsewhere")
    assert read_log(str(tmp_path / "elsewhere" / "s.jsonl")).damaged == 1


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_log(str(tmp_path / "none.jsonl"))
