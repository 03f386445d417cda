"""Heads of files as people write them, good YAML or not."""

from __future__ import annotations

from typing import Any

import pytest

from detent.context.head import MOST_LINES, parse_head, split_head


def said(text: str) -> dict[str, Any]:
    values, faults = parse_head(text.split("\n"))
    assert faults == []
    return values


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("k: plain words", "plain words"),
        ("k: with: a colon, and [brackets]", "with: a colon, and [brackets]"),
        ("k: words # a remark", "words"),
        ("k: it's # no remark, for a quote is open", "it's # no remark, for a quote is open"),
        ("k: 12", 12),
        ("k: -3", -3),
        ("k: 1.5", "1.5"),
        ("k: true", True),
        ("k: False", False),
        ("k: ~", None),
        ("k:", None),
        ('k: "a \\"b\\"\\nc"', 'a "b"\nc'),
        ("k: 'it''s'", "it's"),
        ('k: "12"', "12"),
        ('k: "a" and more', '"a" and more'),
        ('k: "never closed', '"never closed'),
        ("k: [WIP] not a list", "[WIP] not a list"),
        ("k: [a, 'b, c', Bash(x, y), 3]", ["a", "b, c", "Bash(x, y)", 3]),
        ("k: []", []),
        ("k: {a: 1, b: [x, y]}", {"a": 1, "b": ["x", "y"]}),
        ("k: [a,\n  b\n]", ["a", "b"]),
        ('k: "one\n  two"', "one two"),
        ("k: one\n  two\n\n  three", "one two\nthree"),
        ("k:\n  one\n  two", "one two"),
        ("k: |\n  one\n    two\n\n  three\n", "one\n  two\n\nthree"),
        ("k: >-\n  one\n  two", "one two"),
        ("k: |\n  # no remark", "# no remark"),
        ("k:\n- a\n- b", ["a", "b"]),
        ("k:\n  - a\n  # a remark\n\n  - b", ["a", "b"]),
        ("k:\n  - a: 1\n    b: 2\n  - a: 3", [{"a": 1, "b": 2}, {"a": 3}]),
        ("k:\n  -\n    - deep", [["deep"]]),
        ("k:\n\t- tab", ["tab"]),
        ("'k': v", "v"),
        ("k: v\r", "v"),
        ("k: one\nand this stands too far out", "one\nand this stands too far out"),
    ],
)
def test_values(text: str, value: object) -> None:
    assert said(text) == {"k": value}


def test_tables_in_tables() -> None:
    text = """\
hooks:
  PreToolUse:
    - matcher: "Bash|Edit"
      hooks:
        - type: command
          command: ./check.sh "$X" # remark
          timeout: 5
  Stop: []
name: after it"""
    command = {"type": "command", "command": './check.sh "$X"', "timeout": 5}
    assert said(text) == {
        "hooks": {"PreToolUse": [{"matcher": "Bash|Edit", "hooks": [command]}], "Stop": []},
        "name": "after it",
    }


def test_a_line_that_says_nothing_is_named_and_the_rest_counts() -> None:
    values, faults = parse_head(["- what is this", "a: 1", "!!", "  b: 2", "c: 3"])
    assert values == {}
    assert faults == []
    values, faults = parse_head(["!!", "a: 1", "!!", "    odd: 2", "c: 3"])
    assert values == {"a": 1, "c": 3}
    assert faults == [f"line {n} of its head is not understood" for n in (2, 4, 5)]


def test_no_depth_and_no_length_is_too_much() -> None:
    deep = [f"{' ' * n}k:" for n in range(1000)]
    values, faults = parse_head(deep)
    assert values and faults
    inline, _ = parse_head([f"k: {'[' * 5000}"])
    assert inline == {"k": "[" * 5000}
    dashes, _ = parse_head([f"{'- ' * 3000}k: v"])
    assert dashes == {}
    long, faults = parse_head(["k: v"] * (MOST_LINES + 1))
    assert long == {"k": "v"}
    assert faults == ["its head has more than 2,000 lines: the rest is not read"]


@pytest.mark.parametrize(
    ("text", "head", "body"),
    [
        ("---\na: 1\n---\nbody\n---\n", ["a: 1"], "body\n---\n"),
        ("---\n---\n", [], ""),
        ("--- \na: 1\n---  ", ["a: 1"], ""),
        ("no head\n---\na: 1\n---", None, "no head\n---\na: 1\n---"),
        ("---\nnever ends", None, "---\nnever ends"),
        ("", None, ""),
    ],
)
def test_where_the_head_ends(text: str, head: list[str] | None, body: str) -> None:
    assert split_head(text) == (head, body)
