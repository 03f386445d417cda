"""Write."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from detent.testing.memory_host import MemoryHost
from detent.tools.files.patches import comparison
from detent.tools.files.texts import digest
from detent.tools.files.write import WriteArgs
from detent.types.effects import Writes
from detent.types.outcomes import Done, Failed

from ..conftest import Bench

Memory = Callable[..., Bench]


def content(bench: Bench, path: str) -> str:
    assert isinstance(bench.host, MemoryHost)
    return bench.host.text(path)


def test_a_new_file(memory: Memory) -> None:
    bench = memory()
    outcome = bench.call("Write", file_path="a/b/c.txt", content="one\ntwo\n")
    assert isinstance(outcome, Done)
    assert outcome.data == {
        "type": "create",
        "filePath": "/p/a/b/c.txt",
        "content": "one\ntwo\n",
        "originalFile": None,
        "structuredPatch": [],
    }
    assert bench.text("Write", file_path="d", content="x") == "Created /p/d (1 line)."
    assert content(bench, "/p/a/b/c.txt") == "one\ntwo\n"


def test_an_old_file_must_have_been_read(memory: Memory) -> None:
    bench = memory({"/p/a": "old"})
    outcome = bench.call("Write", file_path="a", content="new")
    assert isinstance(outcome, Failed)
    assert "Read it first" in outcome.text
    assert content(bench, "/p/a") == "old"
    bench.call("Read", file_path="a")
    assert bench.text("Write", file_path="a", content="new\n") == "Updated /p/a (1 line)."
    assert bench.text("Write", file_path="a", content="newer") == "Updated /p/a (1 line)."


def test_a_file_changed_behind_our_back_is_kept(memory: Memory) -> None:
    bench = memory({"/p/a": "old"})
    bench.call("Read", file_path="a")
    assert isinstance(bench.host, MemoryHost)
    bench.host.put("/p/a", "theirs")
    outcome = bench.call("Write", file_path="a", content="mine")
    assert isinstance(outcome, Failed)
    assert "has changed since it was read" in outcome.text
    bench.host.put("/p/a", "old")  # touched, but the same: content counts, not time
    assert isinstance(bench.call("Write", file_path="a", content="mine"), Done)


def test_an_empty_file_holds_nothing_to_lose(memory: Memory) -> None:
    assert isinstance(memory({"/p/a": ""}).call("Write", file_path="a", content="x"), Done)


def test_limits_and_folders(memory: Memory) -> None:
    bench = memory({"/p/d/x": "", "/p/big": b"x" * 10_485_761})
    assert "the limit is" in bench.text("Write", file_path="a", content="x" * 10_485_761)
    assert "is a folder" in bench.text("Write", file_path="d", content="x")
    assert "with Bash" in bench.text("Write", file_path="big", content="x")


def test_long_content_is_not_repeated(memory: Memory) -> None:
    outcome = memory().call("Write", file_path="a", content="x" * 20_001)
    assert isinstance(outcome, Done)
    assert outcome.data is not None
    assert "content" not in outcome.data
    assert outcome.data["structuredPatch"] == []


def test_an_update_tells_what_changed(memory: Memory) -> None:
    lines = [f"line {n}\n" for n in range(1, 31)]
    bench = memory({"/p/a": "".join(lines)})
    bench.call("Read", file_path="a")
    new = "".join([*lines[:4], "five\n", *lines[5:19], *lines[20:]])
    outcome = bench.call("Write", file_path="a", content=new)
    assert isinstance(outcome, Done) and outcome.data is not None
    assert (outcome.data["type"], outcome.data["content"]) == ("update", new)
    assert outcome.data["originalFile"] == "".join(lines)
    first, second = outcome.data["structuredPatch"]
    assert [first[key] for key in COUNTS] == [2, 7, 2, 7]
    assert first["lines"][3:5] == ["-line 5", "+five"]
    assert [second[key] for key in COUNTS] == [17, 7, 17, 6]
    assert second["lines"][3] == "-line 20"


COUNTS = ("oldStart", "oldLines", "newStart", "newLines")


def test_comparing_is_bounded(memory: Memory) -> None:
    """Two long texts with nothing in common would take minutes."""
    old = "".join(f"{n % 7} {n % 11}\n" for n in range(100_000))
    new = "".join(f"{n % 13} {n % 7}.\n" for n in range(100_000))
    (hunk,) = comparison(f"same\n{old}end\n", f"same\n{new}end\n")
    assert (hunk.old_start, hunk.old_lines, hunk.new_lines) == (1, 100_002, 100_002)
    assert len(hunk.lines) == 2_000
    assert comparison(old, old) == []


@given(st.lists(st.sampled_from("abc")), st.lists(st.sampled_from("abc")))
def test_the_comparison_leads_from_one_to_the_other(old: list[str], new: list[str]) -> None:
    result: list[str] = []
    taken = 0
    for hunk in comparison(*("".join(f"{line}\n" for line in text) for text in (old, new))):
        start = hunk.old_start - (hunk.old_lines > 0)
        result += old[taken:start]
        assert len(result) == hunk.new_start - (hunk.new_lines > 0)
        before = [line[1:] for line in hunk.lines if line[0] != "+"]
        assert before == old[start : start + hunk.old_lines]
        after = [line[1:] for line in hunk.lines if line[0] != "-"]
        assert len(after) == hunk.new_lines
        result += after
        taken = start + hunk.old_lines
    assert result + old[taken:] == new


def test_a_binary_file_may_be_replaced_but_is_not_shown(memory: Memory) -> None:
    bench = memory({"/p/a": b"\0\1"})
    bench.remember("/p/a", digest(b"\0\1"))
    outcome = bench.call("Write", file_path="a", content="text")
    assert isinstance(outcome, Done) and outcome.data is not None
    assert (outcome.data["originalFile"], outcome.data["structuredPatch"]) == (None, [])


def test_of_a_binary_file_that_was_not_read(memory: Memory) -> None:
    said = memory({"/p/a": b"\0\1"}).text("Write", file_path="a", content="text")
    assert said.endswith(
        "/p/a is a binary file. To put a text in its place, delete it with Bash first."
    )


def test_a_picture_that_was_seen_may_be_replaced(memory: Memory) -> None:
    bench = memory({"/p/a.png": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"})
    said = bench.text("Write", file_path="a.png", content="text")
    assert "Read it first" in said
    bench.call("Read", file_path="a.png")
    assert isinstance(bench.call("Write", file_path="a.png", content="text"), Done)


def test_the_content_is_written_as_it_is_given(memory: Memory) -> None:
    bench = memory({"/p/a": "\ufeffx\r\n".encode("utf-16-le")})
    bench.call("Read", file_path="a")
    bench.call("Write", file_path="a", content="y\n")
    assert bench.host.files["/p/a"] == b"y\n"  # type: ignore[attr-defined]


def test_a_name_that_cannot_be(disk: Bench) -> None:
    said = disk.text("Write", file_path="x" * 300, content="y")
    assert said == f"Write: File name too long: {disk.cwd}/{'x' * 300}"
    assert list(Path(disk.cwd).iterdir()) == []


def test_on_disk_through_a_link(disk: Bench) -> None:
    root = Path(disk.cwd)
    (root / "real").write_text("old")
    (root / "link").symlink_to("real")
    disk.call("Read", file_path="link")
    assert isinstance(disk.call("Write", file_path="link", content="nëw"), Done)
    assert (root / "link").is_symlink()
    assert (root / "real").read_text() == "nëw"


def test_what_the_disk_refuses_is_an_outcome(disk: Bench) -> None:
    Path(disk.cwd, "file").write_text("x")
    outcome = disk.call("Write", file_path="file/below", content="x")
    assert isinstance(outcome, Failed)
    assert outcome.text.startswith("Write: ")


def test_effects_and_names(memory: Memory) -> None:
    tool = memory().registry.find("write_file")
    assert tool is not None
    assert tool.parse('{"path": "a", "content": ""}') == WriteArgs("a", "")
    assert tool.effects(WriteArgs("a", ""), "/p") == (Writes("/p/a"),)
