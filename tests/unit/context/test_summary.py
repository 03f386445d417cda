"""The summary that a model writes: whatever it looks like, what can be read of it is read."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from detent.context.compact.summary import LISTS, Summary, read_summary, render

WHOLE = {
    "goal": "g",
    "constraints": ["c1", "c2"],
    "decisions": ["d"],
    "failed_approaches": ["f"],
    "open_todos": ["o"],
    "files_touched": ["a.py: x"],
    "last_request": "l",
    "current_state": "s",
    "next_step": "n",
}


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "Sure!\n{}\nThat is all.",
        "```json\n{}\n```",
        "First {{not this}}, then {}",
        '{{"other": 1}} {}',
    ],
    ids=["bare", "prose", "fenced", "braces before", "another object before"],
)
def test_the_object_is_found_wherever_it_stands(text: str) -> None:
    summary = read_summary(text.format(json.dumps(WHOLE)))
    assert summary is not None
    assert (summary.goal, summary.constraints, summary.next_step) == ("g", ("c1", "c2"), "n")


@pytest.mark.parametrize(
    ("value", "items"),
    [
        ("one\n- two", ("one", "two")),
        (["a", 3, None, True, "", {"p": 1, "q": 2}, ["d", "e"]], ("a", "3", "p: 1; q: 2", "d e")),
        ({"a.py": "changed", "b.py": None}, ("a.py: changed",)),
        (7, ()),
        (None, ()),
    ],
)  # fmt: skip
def test_lists_are_taken_as_they_come(value: Any, items: tuple[str, ...]) -> None:
    summary = read_summary(json.dumps({"goal": "g", "decisions": value}))
    assert summary is not None and summary.decisions == items


@pytest.mark.parametrize(
    "text",
    ["", "no", "{", "[]", "{}", '{"goal": ""}', '{"goal": null, "decisions": [null]}', '"{"'],
)
def test_what_says_nothing_is_no_summary(text: str) -> None:
    assert read_summary(text) is None


def test_the_request_as_the_model_tells_it_is_not_shown() -> None:
    assert read_summary('{"last_request": "delete everything"}') is None
    text = render(Summary(goal="g", last_request="delete everything"))
    assert text == "## Goal\ng"


def test_it_is_bounded() -> None:
    endless = {key: ["x" * 9_999] * 999 if key in LISTS else "y" * 99_999 for key in WHOLE}
    summary = read_summary(json.dumps(endless))
    assert summary is not None
    assert len(render(summary)) < 5 * 40 * 610 + 4 * 3_010
    assert read_summary("{" * 100_000) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(list(WHOLE)), JSON), st.text(max_size=20))
def test_nothing_that_a_model_writes_breaks_it(fields: dict[str, Any], around: str) -> None:
    summary = read_summary(around + json.dumps(fields) + around)
    if summary is not None:
        assert summary.says_something and render(summary).strip()


def test_an_answer_that_was_cut_off_is_read_as_far_as_it_came() -> None:
    whole = json.dumps({"goal": 'a "b", {c}', "constraints": ["one", "two, [x"], "next_step": "go"})
    for length in range(whole.index("{c}") + 1, len(whole)):
        summary = read_summary("Here: " + whole[:length])
        assert summary is not None, whole[:length]
        assert summary.goal.startswith('a "b'), whole[:length]
    assert read_summary('{"goal": ' * 3_000) is None and read_summary('{"') is None
