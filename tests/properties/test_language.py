"""Frames and positions of the Language Server Protocol hold for every text and every split."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from detent.tools.language.frames import Frames, framed
from detent.tools.language.messages import Position
from detent.tools.language.positions import ENCODINGS, from_wire, to_wire

LINES = st.lists(
    st.text(st.characters(exclude_characters="\n\r", exclude_categories=["Cs"])), min_size=1
)


@given(bodies=st.lists(st.binary()), data=st.data(), greeting=st.sampled_from([b"", b"hello\n"]))
def test_frames_are_the_same_for_every_split(
    bodies: list[bytes], data: st.DataObject, greeting: bytes
) -> None:
    stream = greeting + b"".join(framed(body) for body in bodies)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)))))
    frames, found = Frames(), []
    for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        found += frames.feed(stream[start:end])
    assert found == bodies


@given(stream=st.binary(), data=st.data())
def test_rubbish_is_the_same_for_every_split(stream: bytes, data: st.DataObject) -> None:
    stream += framed(b"{}")
    cut = data.draw(st.integers(0, len(stream)))
    whole, split = Frames(), Frames()
    assert whole.feed(stream) == split.feed(stream[:cut]) + split.feed(stream[cut:])


@given(lines=LINES, data=st.data(), encoding=st.sampled_from(ENCODINGS))
def test_positions_there_and_back(lines: list[str], data: st.DataObject, encoding: str) -> None:
    line = data.draw(st.integers(1, len(lines)))
    character = data.draw(st.integers(1, len(lines[line - 1]) + 1))
    there = to_wire(lines, line, character, encoding)
    assert from_wire(lines, there, encoding) == (line, character)
    name = encoding if encoding == "utf-8" else f"{encoding}-le"
    width = {"utf-8": 1, "utf-16": 2, "utf-32": 4}[encoding]
    before = lines[line - 1][: character - 1]
    assert there == Position(line - 1, len(before.encode(name)) // width)
