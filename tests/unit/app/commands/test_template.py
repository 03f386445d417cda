"""The text of a command in pieces: what is said, and what is run."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from detent.app.commands.template import Run, pieces

TEXTS = st.lists(
    st.sampled_from(["```!", "```", "!`a`", " !`b c`", "x!`no`", "`", "!", "word", " ", "\n", ""])
).map("".join)


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("", []),
        ("plain", ["plain"]),
        ("!`git status`", [Run("git status")]),
        ("Now: !`git status` and so", ["Now: ", Run("git status"), " and so"]),
        ("a\n!`one`\n!`two`", ["a\n", Run("one"), "\n", Run("two")]),
        ("say wow!`x`", ["say wow!`x`"]),
        ("`!`x`", ["`!`x`"]),
        ("! `x`", ["! `x`"]),
        ("!`never\nclosed`", ["!`never\nclosed`"]),
        ("```!\na\nb\n```", [Run("a\nb")]),
        ("x\n```!\na\n```\ny", ["x\n", Run("a"), "\ny"]),
        ("```!\na\n```\n```!\nb\n```\n", [Run("a"), "\n", Run("b"), "\n"]),
        ("```\n!x\n```", ["```\n!x\n```"]),
        ("```!\nnever closed", ["```!\nnever closed"]),
        ("```!\n\n```", ["```!\n\n```"]),
    ],
)
def test_pieces(body: str, found: list[str | Run]) -> None:
    assert pieces(body) == found


@given(TEXTS)
def test_nothing_is_lost(body: str) -> None:
    """All that is not run stands there as it was, in its order."""
    rest = body
    for piece in pieces(body):
        text = piece if isinstance(piece, str) else piece.command
        assert text in rest
        rest = rest[rest.index(text) + len(text) :]
    assert not rest.strip("`\n \t")


def test_fences_that_nobody_closes_take_no_time() -> None:
    body = "```!\n" * 40_000
    assert pieces(body) == [body]
