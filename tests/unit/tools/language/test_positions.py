"""Where a name is, and what a server calls that place."""

from __future__ import annotations

import pytest

from detent.tools.language.messages import Position
from detent.tools.language.positions import from_wire, spot, to_wire, word_at

LINES = ["def é😀x():", "    return x.value + x", "", "value = 1"]


@pytest.mark.parametrize(("encoding", "offset"), [("utf-32", 6), ("utf-16", 7), ("utf-8", 10)])
def test_offsets_behind_wide_characters(encoding: str, offset: int) -> None:
    assert to_wire(LINES, 1, 7, encoding) == Position(0, offset)
    assert from_wire(LINES, Position(0, offset), encoding) == (1, 7)


def test_an_offset_inside_a_character_is_its_beginning() -> None:
    assert from_wire(LINES, Position(0, 6), "utf-16") == (1, 6)


def test_an_offset_behind_the_line_is_its_end() -> None:
    assert from_wire(LINES, Position(3, 99), "utf-16") == (4, 10)
    assert from_wire(LINES, Position(99, 3), "utf-16") == (100, 1)


@pytest.mark.parametrize(
    ("line", "character", "query", "place"),
    [
        (0, 0, "value", (2, 14)),
        (4, 0, "value", (4, 1)),
        (2, 22, "x", (2, 22)),
        (2, 12, "x", (2, 12)),
        (2, 20, "x", (2, 22)),
        (3, 1, "value", (4, 1)),
        (0, 0, "Some.value()", (2, 14)),
        (0, 0, "some::value", (2, 14)),
        (2, 3, "", (2, 3)),
        (4, 99, "", (4, 10)),
    ],
)
def test_what_a_model_means(line: int, character: int, query: str, place: tuple[int, int]) -> None:
    assert spot(LINES, line, character, query) == place


def test_part_of_a_word_is_not_the_word() -> None:
    with pytest.raises(LookupError, match="`val` does not occur"):
        spot(LINES, 0, 0, "val")


def test_the_word_at_a_place() -> None:
    assert word_at(LINES, 2, 14) == word_at(LINES, 2, 19) == "value"
    assert word_at(LINES, 3, 1) == ""
