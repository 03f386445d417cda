"""Whether two patterns could name the same path, against trying all short names."""

from __future__ import annotations

import itertools
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from detent.gate.meeting import may_meet

NAMES = ["".join(chars) for n in range(4) for chars in itertools.product("ab", repeat=n)]
SIGNS = st.lists(st.sampled_from(["a", "b", "*", "?", "[a]"]), max_size=4).map("".join)


def matches(pattern: str, name: str) -> bool:
    regex = re.escape(pattern).replace(r"\*", ".*").replace(r"\?", ".").replace(r"\[a\]", "a")
    return re.fullmatch(regex, name) is not None


@given(SIGNS, SIGNS)
@example("*a", "a*")
@example("a?", "*b")
def test_names_meet_when_a_name_fits_both(one: str, other: str) -> None:
    if not one or not other or "**" in (one, other):
        return
    fits_both = any(matches(one, name) and matches(other, name) for name in NAMES if name)
    if fits_both:
        assert may_meet(one, other)
    elif len(re.sub(r"\[a\]", "a", one + other)) <= 4 and "*" not in one + other:
        assert not may_meet(one, other)
    assert may_meet(one, other) == may_meet(other, one)


@pytest.mark.parametrize(
    ("one", "other", "meet"),
    [
        ("/w/*.md", "/w/**/private/**", False),
        ("/w/*", "/w/**/private/**", True),
        ("/w/*/x", "/w/**/private/**", True),
        ("/w/pri*/x", "/w/private/**", True),
        ("/w/pub*/x", "/w/private/**", False),
        ("/w/**", "/w/a/b/c", True),
        ("/w/a", "/w/a/**", True),
        ("/w/[ab]x", "/w/cx", True),
        ("/w/[*]x", "/w/ax", False),
    ],
)
def test_paths(one: str, other: str, meet: bool) -> None:
    assert may_meet(one, other) is meet
