"""Grep: through ripgrep and without it, with the same answers."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from detent.ports import BadArguments
from detent.tools.search import ripgrep
from detent.tools.search.findings import GrepArgs
from detent.types.effects import Reads
from detent.types.outcomes import Cut, Done, Failed, text_of

from ..conftest import Bench

FILES = {
    "a.py": "import os\nx = foo(1)\ny = Foo(2) + foo(3)\n",
    "b.ts": "const foo = 1\n",
    "sub/c.py": "one\ntwo\nthree -foo\nfour\nfive\nsix\nseven foo\n",
    "sub/d.txt": "nothing\n",
    "bin.dat": b"foo\0foo",
    ".hidden": "foo\n",
}


@pytest.fixture(params=["rg", "python"])
def bench(request: pytest.FixtureRequest, disk: Bench) -> Bench:
    for name, content in FILES.items():
        path = Path(disk.cwd, name)
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    if request.param == "python":
        disk.host.which = lambda program: None  # type: ignore[method-assign]
    assert (disk.host.which("rg") is None) == (request.param == "python")
    return disk


def data_of(outcome: Any) -> dict[str, Any]:
    assert isinstance(outcome, Done)
    assert outcome.data is not None
    return outcome.data


def test_files_with_matches(bench: Bench) -> None:
    outcome = bench.call("Grep", pattern="foo")
    assert text_of(outcome).split("\n") == [".hidden", "a.py", "b.ts", "sub/c.py"]
    paths = [os.path.join(bench.cwd, name) for name in (".hidden", "a.py", "b.ts", "sub/c.py")]
    assert data_of(outcome) == {"mode": "files_with_matches", "filenames": paths, "numFiles": 4}


def test_content(bench: Bench) -> None:
    outcome = bench.call("Grep", pattern="foo", output_mode="content", glob="*.py")
    lines = ["a.py:2:x = foo(1)", "a.py:3:y = Foo(2) + foo(3)"]
    lines += ["sub/c.py:3:three -foo", "sub/c.py:7:seven foo"]
    assert text_of(outcome).split("\n") == lines
    data = data_of(outcome)
    assert (data["mode"], data["numFiles"], data["numMatches"]) == ("content", 2, 4)
    assert data["content"] == "\n".join(lines)
    assert data["numLines"] == 4
    assert "appliedLimit" not in data


def test_lines_around(bench: Bench) -> None:
    arguments = {"pattern": "foo", "output_mode": "content", "path": "sub"}
    said = bench.text("Grep", **arguments, **{"-B": 1, "-A": 1})
    assert said.split("\n") == [
        "sub/c.py-2-two",
        "sub/c.py:3:three -foo",
        "sub/c.py-4-four",
        "--",
        "sub/c.py-6-six",
        "sub/c.py:7:seven foo",
    ]
    assert bench.text("Grep", **arguments, context=2) == bench.text(
        "Grep", **arguments, **{"-C": 2}
    )
    assert bench.text("Grep", **arguments, **{"-n": False}).startswith("sub/c.py:three -foo")


def test_count_says_occurrences(bench: Bench) -> None:
    outcome = bench.call("Grep", pattern="foo", output_mode="count", **{"-i": True, "type": "py"})
    assert text_of(outcome) == "a.py:3\nsub/c.py:2\nTotal: 5 occurrences in 2 files."
    assert data_of(outcome)["numMatches"] == 5


def test_only_the_matching_parts(bench: Bench) -> None:
    said = bench.text(
        "Grep", pattern=r"[Ff]oo\(\d\)", output_mode="content", path="a.py", **{"-o": True}
    )
    assert said.split("\n") == ["a.py:2:foo(1)", "a.py:3:Foo(2)", "a.py:3:foo(3)"]


def test_across_lines(bench: Bench) -> None:
    arguments = {"pattern": r"two.*four", "path": "sub", "output_mode": "content"}
    assert bench.text("Grep", **arguments).startswith("No matches")
    said = bench.text("Grep", **arguments, multiline=True)
    assert said.split("\n") == ["sub/c.py:2:two", "sub/c.py:3:three -foo", "sub/c.py:4:four"]


def test_a_pattern_that_begins_with_a_dash(bench: Bench) -> None:
    assert bench.text("Grep", pattern="-foo") == "sub/c.py"
    assert bench.text("Grep", pattern="--").startswith("No matches")


def test_one_file(bench: Bench) -> None:
    said = bench.text("Grep", pattern="foo", path="b.ts", output_mode="content")
    assert said == "b.ts:1:const foo = 1"
    assert bench.text("Grep", pattern="foo", path=os.path.join(bench.cwd, "b.ts")) == "b.ts"


def test_outside_the_working_folder(bench: Bench) -> None:
    root, bench.shop.cwd = bench.cwd, "/"
    assert bench.text("Grep", pattern="const", path=root) == f"{root[1:]}/b.ts"
    bench.shop.cwd = os.path.join(root, "sub")
    assert bench.text("Grep", pattern="const", path="..") == f"{root}/b.ts"


def test_pages(bench: Bench) -> None:
    said = bench.text("Grep", pattern="foo", head_limit=2)
    assert said == ".hidden\na.py\n[1-2 of 4 shown; go on with offset=2]"
    assert bench.text("Grep", pattern="foo", head_limit=2, offset=2) == "b.ts\nsub/c.py"
    assert "past the end" in bench.text("Grep", pattern="foo", offset=9)
    assert bench.text("Grep", pattern="foo", head_limit=0).count("\n") == 3


def test_a_page_is_told_to_programs(bench: Bench) -> None:
    data = data_of(bench.call("Grep", pattern="foo", head_limit=2, offset=1))
    assert (data["appliedLimit"], data["appliedOffset"], data["numFiles"]) == (2, 1, 4)
    assert [os.path.basename(name) for name in data["filenames"]] == ["a.py", "b.ts"]
    arguments = {"pattern": "foo", "output_mode": "content", "glob": "*.py", "-C": 1}
    data = data_of(bench.call("Grep", **arguments, head_limit=3))
    assert (data["numLines"], data["appliedLimit"], data["numMatches"]) == (3, 3, 4)
    data = data_of(bench.call("Grep", pattern="foo", output_mode="count", head_limit=1, offset=1))
    assert (data["content"], data["numMatches"]) == ("a.py:2", 6)


def test_look_around_and_back_references(bench: Bench) -> None:
    arguments = {"output_mode": "content", "-o": True, "-n": False, "path": "a.py"}
    assert bench.text("Grep", pattern=r"foo(?=\(1)", **arguments) == "a.py:foo"
    assert bench.text("Grep", pattern=r"(?<=\+ )\w+", **arguments) == "a.py:foo"
    assert bench.text("Grep", pattern=r"(o)\1\(3", **arguments) == "a.py:oo(3"


@pytest.mark.parametrize("where", ["", "sub"])
def test_files_with_secrets_stay_hidden_wherever_the_folder_is(bench: Bench, where: str) -> None:
    """Also when the calls have moved away from where the program was started."""
    bench.settings = {"search_excludes": "*.pem"}
    Path(bench.cwd, "sub", "key.pem").write_text("needle\n")
    assert bench.text("Grep", pattern="needle", path=where).startswith("No matches")
    bench.shop.cwd = os.path.join(bench.cwd, "sub")
    assert bench.text("Grep", pattern="needle", path="..").startswith("No matches")
    assert bench.text("Grep", pattern="needle", path="key.pem") == "key.pem"


def test_nothing_found_is_no_failure(bench: Bench) -> None:
    outcome = bench.call("Grep", pattern="absent", output_mode="count")
    assert text_of(outcome) == "No matches for absent."
    assert data_of(outcome)["numMatches"] == 0


def test_faults_are_told(bench: Bench) -> None:
    assert "unclosed" in bench.text("Grep", pattern="a(").replace("unterminated", "unclosed")
    assert isinstance(bench.call("Grep", pattern="a("), Failed)
    assert isinstance(bench.call("Grep", pattern="a", type="klingon"), Failed)
    assert isinstance(bench.call("Grep", pattern="a\0b"), Failed)
    assert isinstance(bench.call("Grep", pattern="a", path="nowhere"), Failed)


def test_a_bad_pattern_is_explained_briefly(disk: Bench) -> None:
    said = disk.text("Grep", pattern="run(")
    assert said == (
        "Grep: regex parse error:\n    (?:run()\n    ^\nerror: unclosed group\n"
        "Escape what is meant literally: `\\(`, `\\[`, `\\{`, `\\.`"
    )
    assert disk.text("Grep", pattern="a", type="klingon").endswith(
        "Use glob instead, such as `*.xyz`."
    )


def test_the_git_folder_is_left_out(bench: Bench) -> None:
    Path(bench.cwd, ".git").mkdir()
    Path(bench.cwd, ".git", "config").write_text("unique-needle\n")
    assert bench.text("Grep", pattern="unique-needle").startswith("No matches")


def test_names_and_lines_that_are_not_utf8(bench: Bench) -> None:
    Path(bench.cwd, "caf\udce9.txt").write_bytes(b"needle \xff\n")
    said = bench.text("Grep", pattern="needle", output_mode="content")
    assert said == "caf\ufffd.txt:1:needle \ufffd"


def test_long_lines_are_cut_and_long_answers_stop(bench: Bench) -> None:
    Path(bench.cwd, "min.js").write_text("needle " + "x" * 100_000 + "\n")
    Path(bench.cwd, "many.txt").write_text(("needle " + "y" * 400 + "\n") * 400)
    said = bench.text("Grep", pattern="needle", output_mode="content", head_limit=0)
    assert len(said) < 30_000, "less than the loop would cut"
    assert "of 401 shown; go on with offset=" in said
    assert len(bench.text("Grep", pattern="needle", output_mode="content", glob="*.js")) < 700


def test_windows_lines(bench: Bench) -> None:
    Path(bench.cwd, "w.txt").write_bytes(b"needle\r\nx\r\n")
    assert bench.text("Grep", pattern="needle", output_mode="content") == "w.txt:1:needle"


def test_ripgrep_is_stopped_when_it_finds_too_much(
    disk: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ripgrep, "MOST_BYTES", 100_000)
    Path(disk.cwd, "a").write_text("needle\n" * 1_000_000)
    said = disk.text("Grep", pattern="needle", output_mode="content", head_limit=1)
    assert said.startswith("a:1:needle\n[1-1 of ")
    assert said.endswith("[stopped after 100,000 bytes of matches]")


def test_the_search_without_ripgrep_is_bounded(
    disk: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    from detent.tools.search import walking

    disk.host.which = lambda program: None  # type: ignore[method-assign]
    monkeypatch.setattr(walking, "MOST_FILES", 2)
    for name in "abc":
        Path(disk.cwd, name).write_text("needle\n")
    assert disk.text("Grep", pattern="needle") == "a\nb\n[stopped after 2 files]"


def test_arguments(disk: Bench, memory: Callable[..., Bench]) -> None:
    tool = disk.registry.find("grep_search")
    assert tool is not None
    args = tool.parse(json.dumps({"pattern": "x", "-A": 2, "-C": 1, "-i": "true"}))
    assert args == GrepArgs("x", after=2, both=1, ignore_case=True)
    assert args.margins == (1, 2)
    assert tool.effects(GrepArgs("x", "sub"), "/p") == (Reads("/p/sub"),)
    with pytest.raises(BadArguments, match='"files_with_matches"'):
        tool.parse('{"pattern": "x", "output_mode": "lines"}')
    assert not isinstance(memory({"/p/a": "x"}).call("Grep", pattern="x"), Cut | Failed)
