"""Events out of bytes, in linear time and bounded memory."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from detent.models.sse import MOST_PENDING, EventSplitter
from detent.types.errors import ModelFailure


@given(
    st.lists(st.sampled_from(["data: a", "data:b", ": c", "event: d", ""]), max_size=20),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.integers(1, 9),
)
def test_any_split_and_any_line_end_give_the_same(lines: list[str], end: str, size: int) -> None:
    data = end.join([*lines, "data: last", "", ""]).encode()
    whole, pieces = EventSplitter(), EventSplitter()
    wanted = whole.feed(end.join([*lines, "data: last", "", ""]).replace(end, "\n").encode())
    got = [e for at in range(0, len(data), size) for e in pieces.feed(data[at : at + size])]
    assert [*got, *pieces.finish()] == [*wanted, *whole.finish()]
    assert wanted[-1].endswith(b"last")


def test_an_event_of_many_lines_does_not_take_ever_longer() -> None:
    """Joining what waits at every line would copy gigabytes here."""
    splitter, piece = EventSplitter(), b"data: " + b"x" * 4000 + b"\n"
    began = time.process_time()
    for _ in range(7_000):
        assert splitter.feed(piece) == []
    (event,) = splitter.feed(b"\n")
    assert len(event) == 7_000 * 4001 - 1
    assert time.process_time() - began < 2


def test_an_event_without_end_is_refused() -> None:
    splitter = EventSplitter()
    with pytest.raises(ModelFailure, match="endless event"):
        for _ in range(MOST_PENDING // 1_000_000 + 1):
            splitter.feed(b"x\n" * 500_000)
