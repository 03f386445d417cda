"""Arguments as models write them, and what is said when they do not fit."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from detent.ports import BadArguments
from detent.tools.files.edit import EditArgs
from detent.tools.files.multi_edit import MultiEditArgs
from detent.tools.files.read import ReadArgs
from detent.tools.files.replacing import Replacement
from detent.tools.files.write import WriteArgs
from detent.tools.registry import Registry
from detent.types.codec import ends_early

from .conftest import Bench

TOOLS = Registry()


def parsed(name: str, text: str) -> object:
    tool = TOOLS.find(name)
    assert tool is not None
    return tool.parse(text)


def fault(name: str, text: str) -> str:
    with pytest.raises(BadArguments) as caught:
        parsed(name, text)
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "text", "args"),
    [
        ("Edit", '{"filePath":"a","oldString":"x","newString":"y"}', EditArgs("a", "x", "y")),
        ("Edit", '{"filename":"a","old_str":"x","new_str":"y"}', EditArgs("a", "x", "y")),
        ("Write", '{"filename":"a","contents":"x"}', WriteArgs("a", "x")),
        ("Read", '{"filePath":"a"}', ReadArgs("a")),
        ("Read", '{"path":"a","start_line":"2","end_line":"3"}', ReadArgs("a", 2, 2)),
        (
            "MultiEdit",
            '{"filePath":"a","edits":[{"old_str":"x","new_str":"y","replace_all":null}]}',
            MultiEditArgs("a", [Replacement("x", "y")]),
        ),
    ],
)
def test_names_that_other_programs_taught(name: str, text: str, args: object) -> None:
    assert parsed(name, text) == args


def test_what_no_one_looks_at_is_told(memory: Callable[..., Bench]) -> None:
    bench = memory({"/p/a": "x\n"})
    assert bench.text("Read", file_path="a", lines=3, filename="b", limit=None) == (
        "     1\tx\n\n[ignored: lines, filename]"
    )
    said = bench.text("Read", file_path="absent", depth=1)
    assert said.startswith("Read: /p/absent does not exist.")
    assert said.endswith("[ignored: depth]")
    assert "ignored" not in bench.text("Grep", pattern="x", context=1, output_mode="content")


def test_a_missing_argument_inside_of_another() -> None:
    said = fault("MultiEdit", '{"file_path":"a","edits":[{"old_string":"x"}]}')
    assert said.startswith("MultiEdit: `new_string` is missing in `edits[0]`. Send {")
    assert fault("Write", '{"file_path":"a"}').startswith("Write: `content` is missing. Send {")
    said = fault("MultiEdit", '{"file_path":"a","edits":[{"old_string":[],"new_string":""}]}')
    assert said.startswith("MultiEdit: `edits[0].old_string`: expected `str`, got `array`.")


@pytest.mark.parametrize("half", [r"\ud83d", r"\uD83D and more", r"\ude00"])
def test_half_of_a_character(half: str) -> None:
    text = f'{{"file_path":"a","content":"x{half}"}}'
    assert "holds half of a character" in fault("Write", text)
    assert not ends_early(text)
    assert ends_early(text[:-2]) == ("and" not in half and "de00" not in half)


def test_nested_without_end() -> None:
    assert "nested too deeply" in fault("Write", '{"content":' + "[" * 100_000)
