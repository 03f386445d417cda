"""Glob and its patterns."""

from __future__ import annotations

import os
from collections.abc import Callable
from fnmatch import fnmatchcase
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from detent.tools.search import glob
from detent.tools.search.glob import GlobArgs
from detent.tools.search.patterns import matcher, split_literal
from detent.types.effects import Reads
from detent.types.outcomes import Done, Failed, text_of

from ..conftest import Bench

Memory = Callable[..., Bench]

FILES = {
    "/p/readme.md": "",
    "/p/src/main.py": "",
    "/p/src/deep/er/util.py": "",
    "/p/src/app.ts": "",
    "/p/src/app.tsx": "",
    "/p/.github/ci.yml": "",
}


def found(bench: Bench, pattern: str, path: str = "") -> list[str]:
    return sorted(bench.text("Glob", pattern=pattern, path=path).split("\n"))


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("**/*.py", ["src/deep/er/util.py", "src/main.py"]),
        ("*.py", ["src/deep/er/util.py", "src/main.py"]),
        ("src/*.py", ["src/main.py"]),
        ("./src/*.py", ["src/main.py"]),
        ("src/**/*.{ts,tsx}", ["src/app.ts", "src/app.tsx"]),
        ("src/**", ["src/app.ts", "src/app.tsx", "src/deep/er/util.py", "src/main.py"]),
        ("**/er/*", ["src/deep/er/util.py"]),
        (".github/*", [".github/ci.yml"]),
        ("/p/src/m[a-c]in.py", ["src/main.py"]),
        ("readme.md", ["readme.md"]),
        ("src/main.py", ["src/main.py"]),
    ],
)
def test_patterns(memory: Memory, pattern: str, names: list[str]) -> None:
    assert found(memory(FILES), pattern) == names


def test_path_is_where_it_starts(memory: Memory) -> None:
    bench = memory({**FILES, "/q/x.py": ""})
    assert found(bench, "*.py", "src/deep") == ["src/deep/er/util.py"]
    assert found(bench, "*.py", "/q") == ["/q/x.py"]


def test_newest_first_at_most_a_hundred(memory: Memory) -> None:
    bench = memory({f"/p/{n:03}.txt": "" for n in range(250)})
    outcome = bench.call("Glob", pattern="*.txt")
    lines = bench.text("Glob", pattern="*.txt").split("\n")
    assert lines[0] == "249.txt"
    assert len(lines) == 101
    assert lines[-1].startswith("[150 more")
    assert isinstance(outcome, Done)
    assert outcome.data is not None
    assert outcome.data["filenames"][0] == "/p/249.txt"
    assert (outcome.data["numFiles"], outcome.data["truncated"]) == (100, True)
    assert outcome.data["durationMs"] >= 0


def test_nothing_found_is_no_failure(memory: Memory) -> None:
    outcome = memory(FILES).call("Glob", pattern="*.rs")
    assert isinstance(outcome, Done)
    assert memory(FILES).text("Glob", pattern="*.rs") == "No file matches *.rs in /p."


def test_wrong_places(memory: Memory) -> None:
    bench = memory(FILES)
    assert isinstance(bench.call("Glob", pattern="*", path="nowhere"), Failed)
    assert isinstance(bench.call("Glob", pattern="*", path="readme.md"), Failed)


def test_on_disk(disk: Bench) -> None:
    for name in ("node_modules/left/pad.js", "lib/名前 😀.js", ".git/x.js"):
        Path(disk.cwd, name).parent.mkdir(parents=True)
        Path(disk.cwd, name).touch()
    assert found(disk, "**/*.js") == ["lib/名前 😀.js"]
    assert found(disk, "node_modules/**/*.js") == ["node_modules/left/pad.js"]

    assert found(disk, "**/node_modules/*/*.js") == ["node_modules/left/pad.js"]


def test_patterns_that_cannot_be_meant(memory: Memory) -> None:
    bench = memory(FILES)
    for pattern in ("", " ", "src/", "{a,b}" * 12, "x" * 3_000):
        assert isinstance(bench.call("Glob", pattern=pattern), Failed), pattern
    assert "`src/*` for its files" in bench.text("Glob", pattern="src/")
    assert bench.text("Glob", pattern="deep").endswith(
        "src/deep is a folder: send `src/deep/**` for the files below it."
    )
    assert bench.text("Glob", pattern="[").endswith("A `[` without `]` stands for itself.")


def test_ignored_and_hidden_files_and_broken_links(disk: Bench) -> None:
    root = Path(disk.cwd)
    (root / ".gitignore").write_text("*.log\n")
    (root / "a.log").touch()
    (root / ".b.log").touch()
    (root / "c.log").symlink_to("nowhere")
    (root / "loop").symlink_to(".")
    assert found(disk, "*.log") == [".b.log", "a.log", "c.log"]
    assert found(disk, "**/.git*") == [".gitignore"]


def test_twenty_thousand_files(disk: Bench) -> None:
    for folder in range(20):
        Path(disk.cwd, f"d{folder:02}").mkdir()
        for number in range(1_000):
            os.mknod(os.path.join(disk.cwd, f"d{folder:02}", f"{number:03}.txt"))
    newest = Path(disk.cwd, "d07", "042.txt")
    os.utime(newest, (4e9, 4e9))
    outcome = disk.call("Glob", pattern="**/*.txt")
    lines = text_of(outcome).split("\n")
    assert (len(lines), lines[0]) == (101, "d07/042.txt")
    assert lines[-1].startswith("[19,900 more")
    assert isinstance(outcome, Done) and outcome.data is not None
    assert (outcome.data["numFiles"], outcome.data["truncated"]) == (100, True)
    assert outcome.data["durationMs"] < 20_000


def test_time_is_bounded(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(glob, "SECONDS", -1.0)
    outcome = memory({"/p/a.py": "", "/p/b.py": ""}).call("Glob", pattern="*.py")
    assert text_of(outcome) == (
        "a.py\n[stopped after -1 s; there may be more. Give a narrower path]"
    )
    assert isinstance(outcome, Done) and outcome.data is not None
    assert outcome.data["truncated"] is True


def test_of_many_only_the_newest_are_held(memory: Memory) -> None:
    bench = memory({f"/p/{n:05}.txt": "" for n in range(2_500)})
    lines = bench.text("Glob", pattern="*.txt").split("\n")
    assert lines[:100] == [f"{n:05}.txt" for n in range(2_499, 2_399, -1)]
    assert lines[100].startswith("[2,400 more")


def test_names_that_are_not_utf8(disk: Bench) -> None:
    Path(disk.cwd, "caf\udce9.txt").touch()
    assert found(disk, "*.txt") == ["caf\ufffd.txt"]


def test_effects_name_the_folder_walked(memory: Memory) -> None:
    tool = memory().registry.find("glob_search")
    assert tool is not None
    assert tool.effects(GlobArgs("*.py"), "/p") == (Reads("/p"),)
    assert tool.effects(GlobArgs("/etc/*.conf"), "/p") == (Reads("/etc"),)
    assert tool.effects(GlobArgs("../q/**", "sub"), "/p") == (Reads("/p/q"),)
    assert tool.effects(GlobArgs("/*"), "/p") == (Reads("/"),)


@pytest.mark.parametrize(
    ("pattern", "name", "matches"),
    [
        ("a?c", "abc", True),
        ("a?c", "a/c", False),
        ("[!a]b", "cb", True),
        ("[!a]b", "/b", False),
        ("[^a]b", "ab", False),
        ("[]]", "]", True),
        ("[a", "[a", True),
        ("[z-a]", "[z-a]", True),
        ("[a--]", "[a--]", True),
        ("[]--]", "]", False),
        ("[a^]", "^", True),
        ("[&&||~~[]", "|", True),
        ("{a,b{c,d}}", "bd", True),
        ("{a,b", "{a,b", True),
        ("a{,.bak}", "a", True),
        (r"\*", "*", True),
        (r"\*", "x", False),
        ("a**b", "axxb", True),
        ("a**b", "a/b", False),
        ("**/**/a", "a", True),
        ("**", "a/b", True),
        ("a/**/b", "a/b", True),
        ("a.b", "axb", False),
        ("a\nb", "a\nb", True),
    ],
)
def test_the_translator(pattern: str, name: str, matches: bool) -> None:
    assert bool(matcher(pattern).fullmatch(name)) is matches


@given(st.text("ab*?[]{}!^,-\\/. ", max_size=20), st.text("ab/", max_size=10))
def test_any_pattern_can_be_translated(pattern: str, name: str) -> None:
    matcher(pattern).fullmatch(name)


names = st.text("ab.-", min_size=1, max_size=8)
parts = st.sampled_from(
    ["a", "b", ".", "-", "*", "**", "?", "[ab]", "[!a]", "[a-b]", "[--.]", "[-a]"]
)


@given(st.lists(parts, max_size=8).map("".join), names)
def test_one_name_matches_as_it_does_everywhere(pattern: str, name: str) -> None:
    assert bool(matcher(pattern).fullmatch(name)) is fnmatchcase(name, pattern)


folders = st.lists(st.sampled_from(["a", "b", "ab"]), min_size=1, max_size=6)


@given(st.lists(st.sampled_from(["a", "b", "*", "a*", "**"]), min_size=1, max_size=6), folders)
def test_folders_match_as_they_do_one_by_one(pattern: list[str], path: list[str]) -> None:
    def matches(pattern: list[str], path: list[str]) -> bool:
        if not pattern or not path:
            return not pattern and not path
        if pattern[0] != "**":
            return fnmatchcase(path[0], pattern[0]) and matches(pattern[1:], path[1:])
        if set(pattern) == {"**"}:
            return True
        return matches(pattern[1:], path) or matches(pattern, path[1:])

    assert bool(matcher("/".join(pattern)).fullmatch("/".join(path))) is matches(pattern, path)


choices = st.sampled_from(["a", "ab", "*", "{a,ab}", "{b,{,a}}", "{*b,a}"])


@given(st.lists(choices, max_size=6), names)
def test_choices_are_the_patterns_that_they_stand_for(pattern: list[str], name: str) -> None:
    spelled = {"{a,ab}": ["a", "ab"], "{b,{,a}}": ["b", "", "a"], "{*b,a}": ["*b", "a"]}
    each = product(*(spelled.get(part, [part]) for part in pattern))
    expected = any(fnmatchcase(name, "".join(one)) for one in each)
    assert bool(matcher("".join(pattern)).fullmatch(name)) is expected


@pytest.mark.parametrize(
    ("pattern", "name"),
    [
        ("*a" * 20 + "*b", "a" * 200),
        ("{*a,*aa}" * 8 + "b", "a" * 200),
        ("**/*/" * 20 + "b", "a/" * 60 + "a"),
        ("**/a*/" * 20 + "**/b", "aa/" * 60 + "a"),
    ],
)
def test_no_pattern_takes_long(pattern: str, name: str) -> None:
    """With ordinary stars each of these would take longer than anyone lives."""
    assert not matcher(pattern).fullmatch(name)


def test_the_literal_part() -> None:
    assert split_literal("src/lib/*.py") == ("src/lib", "*.py")
    assert split_literal("/a/b") == ("/a", "b")
    assert split_literal("/*") == ("/", "*")
    assert split_literal("*.py") == ("", "*.py")
