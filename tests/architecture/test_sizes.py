"""Small files that hold one idea, functions that fit on a screen, and a loop that stays still."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "detent"
FILES = sorted(SOURCE.rglob("*.py"))
LONGEST_FILE, LONGEST_FUNCTION = 450, 60


def lines_of(path: Path) -> int:
    return len(path.read_text().splitlines())


def functions(text: str) -> Iterator[tuple[str, int]]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno is not None
            yield node.name, node.end_lineno - node.lineno + 1


def test_there_is_something_to_measure() -> None:
    assert len(FILES) > 50
    assert dict(functions("async def f():\n    a\n    b\n")) == {"f": 3}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_no_file_and_no_function_is_too_long(path: Path) -> None:
    if path.relative_to(SOURCE).parts[0] != "testing":
        assert lines_of(path) <= LONGEST_FILE
    long = [(name, size) for name, size in functions(path.read_text()) if size > LONGEST_FUNCTION]
    assert long == []


def test_the_loop_stays_still() -> None:
    turn = SOURCE / "loop" / "turn.py"
    assert lines_of(turn) < 160
    assert dict(functions(turn.read_text()))["run_turn"] < 40
