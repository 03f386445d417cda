"""MultiEdit."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from detent.ports import BadArguments
from detent.testing.memory_host import MemoryHost
from detent.tools.files.multi_edit import MultiEditArgs
from detent.tools.files.replacing import Replacement
from detent.types.effects import Writes
from detent.types.outcomes import Done, Failed, Outcome, text_of

from ..conftest import Bench
from .test_edit import Faults

Memory = Callable[..., Bench]


def host_of(bench: Bench) -> MemoryHost:
    assert isinstance(bench.host, MemoryHost)
    return bench.host


def edited(bench: Bench, *edits: tuple[str, str] | tuple[str, str, bool]) -> Outcome:
    names = ("old_string", "new_string", "replace_all")
    given = [dict(zip(names, edit, strict=False)) for edit in edits]
    bench.call("Read", file_path="a")
    return bench.call("MultiEdit", file_path="a", edits=given)


def fault(bench: Bench, *edits: tuple[str, str] | tuple[str, str, bool]) -> str:
    before, known = dict(host_of(bench).files), dict(bench.known)
    outcome = edited(bench, *edits)
    assert isinstance(outcome, Failed)
    assert host_of(bench).files == before
    assert {path: bench.known[path] for path in known} == known
    return outcome.text


def test_one_after_the_other(memory: Memory) -> None:
    bench = memory({"/p/a": b"one\r\ntwo\r\nthree\r\nthree"})
    outcome = edited(bench, ("one", "two"), ("two", "2", True), ("three\nthree", "3"))
    assert host_of(bench).files["/p/a"] == b"2\r\n2\r\n3"
    assert text_of(outcome) == (
        "Changed /p/a with 3 edits; the first place:\n     1\t2\n     2\t2\n     3\t3"
    )
    assert isinstance(outcome, Done) and outcome.data is not None
    assert outcome.data["filePath"] == "/p/a"
    assert outcome.data["originalFile"] == "one\ntwo\nthree\nthree"
    assert outcome.data["edits"][1] == {"old_string": "two", "new_string": "2", "replace_all": True}
    (hunk,) = outcome.data["structuredPatch"]
    assert hunk["lines"] == ["-one", "-two", "-three", "-three", "+2", "+2", "+3"]
    again = bench.call("MultiEdit", file_path="a", edits=[{"old_string": "3", "new_string": "4"}])
    assert isinstance(again, Done), "what it wrote is known"


def test_line_ends_that_an_edit_has_made_alike_are_kept_by_the_next(memory: Memory) -> None:
    bench = memory({"/p/a": b"a\nb\r\nc"})
    assert isinstance(edited(bench, ("a\nb", "ab"), ("c", "c\nd")), Done)
    assert host_of(bench).files["/p/a"] == b"ab\r\nc\r\nd"


def test_all_or_nothing(memory: Memory) -> None:
    bench = memory({"/p/a": "one\ntwo\n"})
    said = fault(bench, ("one", "1"), ("tow", "2"), ("two", "2"))
    assert said.startswith(
        "MultiEdit: nothing was changed in /p/a, because edit 2 of 3 cannot be made: old_string is "
        "not in the file. The nearest lines are:\n     2\ttwo"
    )
    assert said.endswith("The edits before it are taken into account here.")


def test_every_fault_of_an_edit_is_explained(memory: Memory) -> None:
    bench = memory({"/p/a": "x\nx\n"})
    assert "edit 1 of 1 cannot be made: old_string occurs 2 times." in fault(bench, ("x", "y"))
    assert "edit 2 of 2" in fault(bench, ("x", "y", True), ("y", "y"))
    assert "edit 1 of 1 cannot be made: old_string is empty, but" in fault(bench, ("", "y"))
    assert "edit 2 of 2 cannot be made: old_string is empty" in fault(
        bench, ("x", "", True), ("", "y")
    )


def test_a_new_file(memory: Memory) -> None:
    bench = memory()
    outcome = edited(bench, ("", "one\ntwo\n"), ("two", "2"))
    assert text_of(outcome) == "Created /p/a with 2 edits."
    assert host_of(bench).text("/p/a") == "one\n2\n"
    assert isinstance(outcome, Done) and outcome.data is not None
    assert (outcome.data["originalFile"], outcome.data["structuredPatch"]) == (None, [])
    assert isinstance(edited(memory(), ("", "one"), ("zzz", "2")), Failed)
    assert "does not exist" in text_of(edited(memory(), ("one", "two")))


def test_it_must_have_been_read(memory: Memory) -> None:
    bench = memory({"/p/a": "x", "/p/b": b"\0"})
    edits = [{"old_string": "x", "new_string": "y"}]
    assert "Read it first" in bench.text("MultiEdit", file_path="a", edits=edits)
    bench.call("Read", file_path="a")
    host_of(bench).put("/p/a", "xx")
    assert "has changed since" in bench.text("MultiEdit", file_path="a", edits=edits)


def test_what_the_change_made_wrong_is_told(memory: Memory) -> None:
    bench = memory({"/p/a": "x\n"})
    bench.shop.code = code = Faults()
    said = text_of(edited(bench, ("x", "y"), ("y", "z")))
    assert said.endswith("\n\nline 1: z is not defined")
    assert code.asked == [("/p/a", "x\n", "z\n")], "asked once, about the whole"


def test_arguments(memory: Memory) -> None:
    tool = memory().registry.find("multi_edit")
    assert tool is not None

    def parsed(edits: Any) -> Any:
        return tool.parse(json.dumps({"path": "a", "edits": edits}))

    args = MultiEditArgs("a", [Replacement("x", "y")])
    assert parsed([{"old_text": "x", "new_text": "y", "replace_all": None}]) == args
    assert parsed('[{"old_string": "x", "new_string": "y"}]') == args
    assert tool.effects(args, "/p") == (Writes("/p/a"),)
    for bad in ([], "[", [3], [{"old_string": "x"}]):
        with pytest.raises(BadArguments, match=r'"edits": \[{"old_string": string'):
            parsed(bad)
