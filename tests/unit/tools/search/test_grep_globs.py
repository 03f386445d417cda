"""Grep: what `glob`, `path` and the line ends in a pattern stand for, in both engines."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from detent.tools.search import grep
from detent.tools.search.globs import globs_of
from detent.tools.search.line_ends import for_any_line_end, holds_line_end
from detent.types.outcomes import Done, Failed, text_of

from ..conftest import Bench

FILES = ("a.py", "a.md", "a.txt", "src/b.py", "src/deep/c.py", "src/[x]/d.py", "my file.txt")


@pytest.fixture(params=["rg", "python"])
def bench(request: pytest.FixtureRequest, disk: Bench) -> Bench:
    for name in FILES:
        path = Path(disk.cwd, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("needle\n")
    if request.param == "python":
        disk.host.which = lambda program: None  # type: ignore[method-assign]
    return disk


def found(bench: Bench, pattern: str = "needle", **more: Any) -> list[str]:
    said = bench.text("Grep", pattern=pattern, **more)
    return [] if said.startswith("No matches") else said.split("\n")


@pytest.mark.parametrize(
    ("glob", "path", "names"),
    [
        ("*.py,*.md", "", ["a.md", "a.py", "src/[x]/d.py", "src/b.py", "src/deep/c.py"]),
        ("*.md, *.txt", "", ["a.md", "a.txt", "my file.txt"]),
        ("*.md *.txt", "", ["a.md", "a.txt", "my file.txt"]),
        ("my file*", "", ["my file.txt"]),
        ("*.{md,txt}", "", ["a.md", "a.txt", "my file.txt"]),
        ("./src/*.py", "", ["src/b.py"]),
        ("/src/*.py", "", ["src/b.py"]),
        ("src/**/*.py", "", ["src/[x]/d.py", "src/b.py", "src/deep/c.py"]),
        ("src/", "", ["src/[x]/d.py", "src/b.py", "src/deep/c.py"]),
        ("deep/*.py", "src", ["src/deep/c.py"]),
        ("src/**/*.py", "src", []),
        ("./*.py", "src/[x]", ["src/[x]/d.py"]),
        ("!*.py", "", ["a.md", "a.txt", "my file.txt"]),
        ("*.py,!deep", "", ["a.py", "src/[x]/d.py", "src/b.py"]),
        ("!src/deep", "src", ["src/[x]/d.py", "src/b.py", "src/deep/c.py"]),
        ("*.md", "a.txt", ["a.txt"]),
    ],
)
def test_globs(bench: Bench, glob: str, path: str, names: list[str]) -> None:
    assert sorted(found(bench, glob=glob, path=path)) == names


def test_a_list_of_globs() -> None:
    assert globs_of("{a,{b,c}},d") == ["{a,{b,c}}", "d"]
    assert globs_of(" ") == []


@pytest.mark.parametrize("pattern", ["one\ntwo", r"one\ntwo", r"one\n+two", r"one[\n]two"])
def test_a_line_end_in_the_pattern(bench: Bench, pattern: str) -> None:
    Path(bench.cwd, "lines").write_text("one\ntwo\n")
    note = "[the pattern holds a line end: searched across lines]"
    assert found(bench, pattern) == ["lines", note]
    assert found(bench, pattern, output_mode="content")[:2] == ["lines:1:one", "lines:2:two"]
    assert found(bench, pattern, multiline=True) == ["lines"]
    if "[" not in pattern:
        Path(bench.cwd, "lines").write_bytes(b"one\r\ntwo\r\n")
        assert found(bench, pattern) == ["lines", note], "and those of Windows"


def test_across_lines_a_dot_still_ends_with_its_line(bench: Bench) -> None:
    Path(bench.cwd, "lines").write_text("one\ntwo three\nfour\n")
    assert found(bench, r"one\n.*four") == []
    assert found(bench, r"one\n.*\nfour")[0] == "lines"


def test_the_end_of_a_line_of_windows(bench: Bench) -> None:
    Path(bench.cwd, "lines").write_bytes(b"hello\r\nother\r\n")
    assert found(bench, "hello$", output_mode="content") == ["lines:1:hello"]
    assert found(bench, "(?<=h)ello$", output_mode="content") == ["lines:1:hello"]
    around = found(bench, "other", output_mode="content", **{"-B": 1})
    assert around == ["lines-1-hello", "lines:2:other"]


def test_which_patterns_hold_a_line_end() -> None:
    assert not any(map(holds_line_end, [r"a\\nb", r"a[^\n]*", r"\[^", "[", r"[^\]\n]", "n"]))
    assert all(map(holds_line_end, ["a\nb", r"\\\n", r"[\n]", r"[]\n]"]))
    assert for_any_line_end(r"a\n[\n]\\n") == r"a(?:\r?\n)[\n]\\n"
    assert for_any_line_end(r"(?<=\n)a") == r"(?<=\n)a"


@given(st.text("[]^\\n\n(a:"))
def test_any_pattern_can_be_looked_through(pattern: str) -> None:
    if not holds_line_end(pattern) and "[" not in pattern:
        assert for_any_line_end(pattern) == pattern


def test_a_binary_file_that_is_named(bench: Bench) -> None:
    Path(bench.cwd, "x.bin").write_bytes(b"\0needle\0")
    outcome = bench.call("Grep", pattern="needle", path="x.bin", output_mode="content")
    assert text_of(outcome) == "x.bin is binary and matches."
    assert isinstance(outcome, Done)
    assert found(bench, path="x.bin") == ["x.bin"]
    assert found(bench, "absent", path="x.bin", output_mode="content") == []
    assert "x.bin" not in found(bench, output_mode="content")


def test_a_pipe_is_refused_and_passed_over(bench: Bench) -> None:
    os.mkfifo(os.path.join(bench.cwd, "pipe"))
    began = time.monotonic()
    outcome = bench.call("Grep", pattern="needle", path="pipe")
    assert isinstance(outcome, Failed) and "neither a file nor a folder" in outcome.text
    assert "pipe" not in found(bench)
    assert time.monotonic() - began < 30


def test_many_rows_are_worked_on_beside_the_loop(
    disk: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    import threading

    seen: list[threading.Thread] = []
    page = grep._page

    def noting(*args: Any) -> Any:
        seen.append(threading.current_thread())
        return page(*args)

    monkeypatch.setattr(grep, "_page", noting)
    Path(disk.cwd, "a").write_text("needle\n")
    assert found(disk) == ["a"]
    assert seen and threading.main_thread() not in seen
