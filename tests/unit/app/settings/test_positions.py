"""Lines of entries, found in the text of a file."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from detent.app.settings.positions import Positions

ALLOW = ("permissions", "allow")


def lines(text: str, *path: str) -> list[int]:
    found = Positions(text.encode())
    numbers = []
    while line := found.line(path, len(numbers)):
        numbers.append(line)
    return numbers


def test_each_entry_has_its_own_line() -> None:
    text = '{\n "permissions": {\n  "allow": [\n   "A",\n   "A", "B"\n  ],\n  "deny": ["C"]\n }\n}'
    assert lines(text, *ALLOW) == [4, 5, 5]
    assert lines(text, "permissions", "deny") == [7]


def test_a_key_that_comes_again_counts_alone() -> None:
    text = '{"permissions": {"allow": ["A",\n"B"]},\n"permissions": {"deny": [\n"C"]}}'
    assert lines(text, *ALLOW) == []
    assert lines(text, "permissions", "deny") == [4]
    text = '{"permissions": {"allow": ["A"],\n"allow": ["B"]}}'
    assert lines(text, *ALLOW) == [2]


def test_what_looks_like_json_inside_a_text_does_not_count() -> None:
    text = '{"x": "\\"allow\\": [1,\\n2]{",\n"permissions": {"allow": ["a\\"]",\n"[{"]}}'
    assert lines(text, *ALLOW) == [2, 3]


def test_a_key_may_be_written_in_escapes() -> None:
    text = '{"permissions":\n{"\\u0061llow": ["A"]}}'
    assert lines(text, *ALLOW) == [2]


def test_what_is_not_there_has_no_line() -> None:
    assert lines("{}", *ALLOW) == [] and lines("[1]", *ALLOW) == []
    assert lines('{"permissions": {"allow": 5}}', *ALLOW) == []


leaves = st.none() | st.booleans() | st.integers() | st.text()
values = st.recursive(
    leaves, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20
)


@given(before=values, entries=st.lists(values), after=values)
def test_any_json_around_it_changes_nothing(before: Any, entries: list[Any], after: Any) -> None:
    """Written with an entry per line, wherever else there are lists and objects."""
    listed = ",\n".join(json.dumps(entry) for entry in entries)
    text = (
        f'{{"a": {json.dumps(before)},\n"permissions": {{"deny": {json.dumps(before)}, "allow": ['
        f'\n{listed}\n]}}, "z": {json.dumps(after)}}}'
    )
    found = Positions(text.encode())
    wanted = [3 + number for number in range(len(entries))]
    assert [found.line(ALLOW, number) for number in range(len(entries))] == wanted
    assert found.line(ALLOW, len(entries)) == 0


@pytest.mark.parametrize("depth", [600, 900])
def test_what_is_nested_deeply_is_no_trouble(depth: int) -> None:
    text = f'{{"a": {"[" * depth}{"]" * depth},\n"permissions": {{"allow": ["A"]}}}}'
    assert lines(text, *ALLOW) == [2]


def test_a_file_full_of_lists_is_read_in_one_pass() -> None:
    """Looking through all lists for each key would take minutes here."""
    many = ",".join(f'"a{number}": []' for number in range(100_000))
    assert lines(f'{{{many},\n"permissions": {{"allow": ["A"]}}}}', *ALLOW) == [2]
