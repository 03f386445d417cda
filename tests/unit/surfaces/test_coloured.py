"""What a status line may do to a terminal: colour words, and nothing else."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as some

from detent.surfaces.wording.coloured import only_colours

RED, PLAIN = "\x1b[31m", "\x1b[0m"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("plain\nlines", "plain\nlines"),
        (f"{RED}red{PLAIN} not", f"{RED}red{PLAIN} not"),
        ("\x1b[1;38;2;1;2;3mdeep", f"\x1b[1;38;2;1;2;3mdeep{PLAIN}"),
        ("\x1b[4:3mcurly\x1b[m", "\x1b[4:3mcurly\x1b[m"),
        (f"{RED}red\nnext", f"{RED}red{PLAIN}\nnext"),
        ("\x1b]8;;https://h\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]8;;https://h\x07link\x1b]8;;\x07", "link"),
        ("\x1b]0;title\x07x", "x"),
        ("\x1b]0;title without an end", ""),
        ("\x1b[2J\x1b[1;1Hx\x1b[?25l\x1b[>4m\x1bc", "x"),
        ("\x1bPq secret\x1b\\x", "x"),
        ("a\rb\x07\x08\x9b31mc", "ab31mc"),
        ("\u202eesrever\u200b", "esrever"),
        ("\x1b[" + "1;" * 40 + "mx", "x"),
        ("日本 🎈", "日本 🎈"),
        ("a\tb", "a b"),
        ("\x1b", ""),
    ],
)
def test_only_colours_stay(text: str, left: str) -> None:
    assert only_colours(text) == left


PIECES = [
    "\x1b",
    "[",
    "]",
    "8;;",
    "31",
    "m",
    "\x1b[31m",
    "\x1b\\",
    "\x07",
    "\n",
    "x",
    "\x9b",
    "?",
    ";",
]


@given(some.lists(some.sampled_from(PIECES), max_size=20).map("".join) | some.text())
def test_whatever_comes_nothing_else_is_obeyed(text: str) -> None:
    left = only_colours(text)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", re.sub(r"\x1b\[[0-9;:]*m", "", left))
    assert only_colours(left) == left
