"""Head and tail of a stream, in fixed memory; all of it in a file."""

from __future__ import annotations

import errno
import io
import os
import tracemalloc
from pathlib import Path
from typing import Any, BinaryIO

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from detent.tools.shell.spill import Spill, sized
from detent.tools.shell.truncate import Kept, torn_end
from detent.tools.terminal import plain

NOTE = "[cut]"
MIDDLE = f"\n{NOTE}\n"

TEXTS = st.text(alphabet="aé€😀\n\x1b[m", max_size=60).map(str.encode)
CHUNKS = st.lists(st.binary(max_size=24) | TEXTS, max_size=12)


def fed(chunks: list[bytes], most: int) -> tuple[Kept, bytes]:
    """What was kept, and what overflowed."""
    rest = bytearray()
    kept = Kept(most, rest.extend)
    for chunk in chunks:
        kept.feed(chunk)
    return kept, bytes(rest)


def test_short_streams_are_whole() -> None:
    assert fed([b"hello ", b"world"], 20)[0].text(20) == "hello world"
    assert fed([], 20)[0].text(20) == ""


def test_the_middle_goes() -> None:
    kept, _ = fed([b"0123456789", b"-" * 1_000, b"abcdefghij"], 27)
    assert kept.text(27, NOTE) == "0123456789\n[cut]\nabcdefghij"


@given(CHUNKS, st.integers(1, 40), st.integers(0, 40))
@example([b"x" * 1_000], 10, 0)
@example(["€".encode() * 40], 39, 0)
@example([b"\x80" * 200], 20, 0)
@example(["😀".encode() * 9, b"\x80", "😀".encode() * 31], 40, 0)
def test_every_chunking_of_every_stream(chunks: list[bytes], most: int, less: int) -> None:
    data = b"".join(chunks)
    kept, rest = fed(chunks, most)
    asked = max(0, most - less)
    text, whole = kept.text(asked, NOTE), data.decode("utf-8", "replace")
    assert kept.seen == len(data)
    assert len(text) <= asked
    assert kept.exceeds(asked) == (len(whole) > asked)
    assert (rest or kept.held()) == data, "all of it is there: in memory, or overflowed"
    if len(whole) <= asked:
        assert text == plain(whole)
        return
    room = max(0, asked - len(MIDDLE))
    head, tail = room - room // 2, room // 2
    end = whole[len(whole) - tail :]
    assert text == f"{plain(whole[:head])}{MIDDLE}{plain(end)}"[:asked]


@given(st.lists(st.integers(1, 200_000), max_size=30))
def test_memory_does_not_grow_with_the_stream(sizes: list[int]) -> None:
    kept = Kept(3_000)
    for size in sizes:
        kept.feed(b"x" * size)
        assert kept.memory <= 12_000 + 3 * 6_004


def test_memory_of_the_smallest_bound() -> None:
    kept, _ = fed([b"x" * 1_000] * 100, 1)
    assert kept.memory < 100


def test_half_a_gigabyte_in_one_line(tmp_path: Path) -> None:
    """Discarded behind us, so that the test does not depend on a disk."""
    seen = 0

    def take(chunk: bytes) -> None:
        nonlocal seen
        seen += len(chunk)

    chunk = b"x" * 65_536
    tracemalloc.start()
    kept = Kept(30_000, take)
    for _ in range(7_630):
        kept.feed(chunk)
    text = kept.text()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert seen == kept.seen > 500_000_000
    assert len(text) <= 30_000
    assert peak < 2_000_000


@pytest.mark.parametrize("text", ["a", "é", "€", "😀"])
def test_torn_ends(text: str) -> None:
    data = text.encode()
    assert torn_end(b"ab" + data) == 0
    for size in range(1, len(data)):
        assert torn_end(b"ab" + data[:size]) == size
    assert torn_end(b"") == torn_end(b"\x80\x80\x80\x80") == 0


def spill_to(path: Path, most: int = 100) -> Spill:
    return Spill(lambda: open(path, "xb", buffering=0), most)  # type: ignore[arg-type,return-value]


def test_a_spill_holds_everything(tmp_path: Path) -> None:
    spill = spill_to(tmp_path / "out")
    assert not (tmp_path / "out").exists(), "made when it is needed"
    spill.feed(b"one ")
    spill.feed(b"two")
    spill.close()
    assert (tmp_path / "out").read_bytes() == b"one two"
    assert (
        spill.where(7) == f"the whole output (7 bytes) is in {tmp_path}/out: use Read or Grep on it"
    )


def test_a_spill_has_its_own_bound(tmp_path: Path) -> None:
    spill = spill_to(tmp_path / "out", 10)
    for _ in range(3):
        spill.feed(b"12345678")
    spill.close()
    assert (tmp_path / "out").read_bytes() == b"1234567812"
    said = spill.where(24)
    assert said.startswith("the first 10 bytes of 24 bytes are in ")
    assert said.endswith("the rest is lost: a file takes 10 bytes at most")


class Disk(io.RawIOBase):
    """Takes three bytes at a time, and is full after `room`."""

    name = "/full"

    def __init__(self, room: int) -> None:
        self.room, self.all = room, b""

    def write(self, data: Any) -> int:
        piece = bytes(data[: min(3, self.room - len(self.all))])
        if not piece:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self.all += piece
        return len(piece)


def as_file(disk: Disk) -> BinaryIO:
    return disk  # type: ignore[return-value]


def test_a_disk_that_takes_a_part_at_a_time() -> None:
    disk = Disk(100)
    spill = Spill(lambda: as_file(disk))
    spill.feed(b"0123456789")
    assert (disk.all, spill.fault) == (b"0123456789", "")


def test_a_full_disk_is_told_and_nothing_more_is_tried() -> None:
    disk = Disk(8)
    spill = Spill(lambda: as_file(disk))
    spill.feed(b"0123456789")
    disk.room = 100
    spill.feed(b"later")
    spill.close()
    assert disk.all == b"01234567", "no hole in the middle"
    assert spill.where(15) == (
        "the first 8 bytes of 15 bytes are in /full, the rest is lost: No space left on device"
    )


def test_a_file_that_cannot_be_made_is_told() -> None:
    def create() -> BinaryIO:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), "/x")

    spill = Spill(create)
    spill.feed(b"abc")
    spill.close()
    assert spill.where(3) == "the whole (3 bytes) could not be kept: Permission denied"


@pytest.mark.parametrize(
    ("count", "said"),
    [
        (999, "999 bytes"),
        (1_000, "1.0 KB"),
        (999_949, "999.9 KB"),
        (999_950, "1.0 MB"),
        (12_345_678, "12.3 MB"),
        (2_500_000_000, "2.5 GB"),
    ],
)
def test_sizes(count: int, said: str) -> None:
    assert sized(count) == said


def test_what_comes_after_the_end_is_not_kept_and_raises_nothing(tmp_path: Path) -> None:
    spill = Spill(lambda: open(tmp_path / "s", "xb", buffering=0))  # noqa: SIM115
    spill.feed(b"first")
    spill.close()
    spill.feed(b"late")
    assert (tmp_path / "s").read_bytes() == b"first" and not spill.fault
