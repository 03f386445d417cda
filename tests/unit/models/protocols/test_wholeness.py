"""A call may start when its arguments are whole, and not before."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from detent.models.protocols.wholeness import Wholeness

texts = st.text(st.sampled_from('{}[]"\\ ,:aü\n'), max_size=12)
values: st.SearchStrategy[Any] = st.recursive(
    st.integers() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(texts, values, min_size=1, max_size=4), st.booleans())
def test_an_object_is_whole_with_its_last_letter(given: dict[str, Any], ascii_only: bool) -> None:
    one = Wholeness()
    *before, last = json.dumps(given, ensure_ascii=ascii_only)
    assert not any(map(one.feed, before))
    assert one.feed(last)


@pytest.mark.parametrize("text", ["{}", "{ }", '{"a":1', "}", '{"a":}', '["{}"]', '"}"}', "{}{}"])
def test_what_is_no_object_with_something_in_it_is_never_whole(text: str) -> None:
    assert not Wholeness().feed(text)
    one = Wholeness()
    assert not any(map(one.feed, text))


def test_what_follows_a_whole_object_does_not_make_it_whole_again() -> None:
    one = Wholeness()
    assert one.feed('{"a":1} ') is True
    assert one.feed('{"b":1}') is False


def test_only_once_is_it_read_as_json() -> None:
    one = Wholeness()
    assert not one.feed("{bad}")
    assert not one.feed('{"a":1}')
