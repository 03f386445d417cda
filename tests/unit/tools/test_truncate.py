"""Head and tail of a stream, in fixed memory."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from detent.tools.truncate import Kept


def fed(chunks: list[bytes], head: int = 10, tail: int = 10) -> Kept:
    kept = Kept(head, tail)
    for chunk in chunks:
        kept.feed(chunk)
    return kept


def test_short_streams_are_whole() -> None:
    assert fed([b"hello ", b"world"]).text() == "hello world"
    assert fed([]).text() == ""


def test_the_middle_goes() -> None:
    kept = fed([b"0123456789", b"-" * 1_000, b"abcdefghij"])
    assert kept.text() == "0123456789\n[... 1,000 bytes left out ...]\nabcdefghij"
    assert kept.dropped == 1_000


def test_no_character_is_torn_at_the_cuts() -> None:
    text = fed(["é€😀é€😀".encode() * 10], 10, 10).text()
    assert "\ufffd" not in text
    assert text.startswith("é€😀")


@given(st.lists(st.binary(max_size=64)), st.integers(1, 20), st.integers(1, 20))
def test_any_chunks(chunks: list[bytes], head: int, tail: int) -> None:
    kept, whole = fed(chunks, head, tail), b"".join(chunks)
    assert kept.seen == len(whole)
    assert kept.memory <= head + 2 * tail + tail
    assert kept.dropped == max(0, len(whole) - head - tail)
    if not kept.dropped:
        assert kept.text() == whole.decode("utf-8", "replace")


def test_one_endless_line_stays_small() -> None:
    kept = Kept()
    chunk = b"x" * 65_536
    for _ in range(2_000):
        kept.feed(chunk)
    assert kept.memory <= 60_000
