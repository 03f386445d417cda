"""Write."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from detent.testing.memory_host import MemoryHost
from detent.tools.write import WriteArgs
from detent.types.effects import Writes
from detent.types.outcomes import Done, Failed

from .conftest import Bench

Memory = Callable[..., Bench]


def content(bench: Bench, path: str) -> str:
    assert isinstance(bench.host, MemoryHost)
    return bench.host.text(path)


def test_a_new_file(memory: Memory) -> None:
    bench = memory()
    outcome = bench.call("Write", file_path="a/b/c.txt", content="one\ntwo\n")
    assert isinstance(outcome, Done)
    assert outcome.data == {"type": "create", "filePath": "/p/a/b/c.txt", "content": "one\ntwo\n"}
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
    assert outcome.data == {"type": "create", "filePath": "/p/a"}


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
