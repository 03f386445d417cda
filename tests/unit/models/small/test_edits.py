"""From what a small model writes to an exact replacement."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from detent.models.small.edits import (
    Shown,
    difference,
    editable,
    from_line,
    from_rewrite,
    line_form,
    shown_files,
)
from detent.models.small.story import Asked, Step

LINES = ("def add(a, b):", "    return a - b", "", "def sub(a, b):", "    return a - b")
FILE = Shown("calc.py", LINES, True)


def apply(lines: tuple[str, ...], old: str, new: str) -> list[str]:
    text = "\n".join(lines)
    assert text.count(old) == 1, "the Edit tool would refuse it"
    return text.replace(old, new).split("\n")


def read(path: str, *lines: str, head: str = "") -> Step:
    body = "\n".join(f"{number:>6}\t{line}" for number, line in enumerate(lines, 1))
    return Step("Read", {"file_path": path, "limit": 150}, head + body, False)


def test_a_rewrite_becomes_the_lines_that_differ() -> None:
    answer = (
        "The sign is wrong.\n```python\n" + "\n".join(LINES).replace("-", "+", 1) + "\n```\nOk."
    )
    change = from_rewrite(FILE, answer)
    assert change is not None
    assert apply(LINES, change.old, change.new)[1] == "    return a + b"
    assert apply(LINES, change.old, change.new)[4] == "    return a - b"


@pytest.mark.parametrize(
    "answer",
    ["I would change the sign.", "```python\n" + "\n".join(LINES) + "\n```", "```\nreturn\n```"],
)
def test_a_rewrite_that_changes_nothing_or_loses_much_is_none(answer: str) -> None:
    assert from_rewrite(FILE, answer) is None


def test_a_rewrite_without_its_closing_fence_counts() -> None:
    assert from_rewrite(FILE, "```\n" + "\n".join((*LINES[:4], "    return b - a"))) is not None


def test_a_picked_line_keeps_its_indentation() -> None:
    change = from_line(FILE, "return a - b", "return a + b")
    assert change is not None
    assert apply(LINES, change.old, change.new)[1] == "    return a + b"


def test_a_line_that_occurs_twice_can_be_told_apart() -> None:
    choices = msgspec.json.decode(line_form(FILE))["properties"]["old"]["enum"]
    assert choices.count("return a - b") == 1
    change = from_line(FILE, "return a - b  (line 5)", "return b - a")
    assert change is not None
    assert apply(LINES, change.old, change.new)[4] == "    return b - a"


@pytest.mark.parametrize(
    ("old", "new"), [("no such line", "x"), ("def sub(a, b):", "def sub(a, b):")]
)
def test_no_such_line_or_the_same_again_is_no_change(old: str, new: str) -> None:
    assert from_line(FILE, old, new) is None


some_lines = st.lists(st.sampled_from(["a", "  b", "b", "", "a "]), max_size=8)


@given(some_lines, some_lines)
def test_a_difference_applied_gives_the_new_text(old: list[str], new: list[str]) -> None:
    change = difference(old, new)
    if change is not None:
        result = apply(tuple(old), change.old, change.new)
        assert [line.rstrip() for line in result if line.strip()] == [
            line.rstrip() for line in new if line.strip()
        ]


def test_files_are_known_as_they_are_by_now() -> None:
    edit = {"file_path": "a.py", "old_string": "two", "new_string": "2\n3"}
    story = (
        Asked("change it"),
        read("a.py", "one", "two"),
        Step("Edit", edit, "Changed", False),
        Step("Edit", {**edit, "old_string": "one"}, "refused", True),
        Step("Write", {"file_path": "b.py", "content": "x = 1\n"}, "Created", False),
        Step("Read", {"file_path": "gone.py"}, "no such file", True),
    )
    files = shown_files(story)
    assert files == {
        "a.py": Shown("a.py", ("one", "2", "3"), True),
        "b.py": Shown("b.py", ("x = 1",), True),
    }


def test_a_file_shown_in_part_is_not_whole() -> None:
    story = (read("a.py", "one", head="[a.py: lines 1-1 of 9; go on with offset=2.]\n"),)
    assert shown_files(story)["a.py"].whole is False


def test_tests_are_not_offered_unless_the_task_names_them() -> None:
    files = shown_files((read("calc.py", "x"), read("test_calc.py", "y"), read("tests/a.py", "z")))
    assert editable(files, "mend it") == ["calc.py"]
    assert editable(files, "add a case to test_calc.py") == ["calc.py", "test_calc.py"]
