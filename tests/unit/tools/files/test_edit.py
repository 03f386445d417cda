"""Edit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from detent.testing.bare_shop import NoCode
from detent.testing.memory_host import MemoryHost
from detent.tools.files import nearest
from detent.tools.files.edit import EditArgs
from detent.tools.files.patches import hunks
from detent.tools.files.swaps import Exact
from detent.types.effects import Writes
from detent.types.outcomes import Done, Failed, Outcome, text_of

from ..conftest import Bench

Memory = Callable[..., Bench]


def host_of(bench: Bench) -> MemoryHost:
    assert isinstance(bench.host, MemoryHost)
    return bench.host


def edited(bench: Bench, old: str, new: str, **more: Any) -> Outcome:
    bench.call("Read", file_path="a")
    return bench.call("Edit", file_path="a", old_string=old, new_string=new, **more)


def fault(bench: Bench, old: str, new: str = "other", **more: Any) -> str:
    before = dict(host_of(bench).files)
    outcome = edited(bench, old, new, **more)
    assert isinstance(outcome, Failed)
    assert host_of(bench).files == before
    return outcome.text


def test_one_place(memory: Memory) -> None:
    bench = memory({"/p/a": "1\n2\n3\n4\n5\n6\n7\n8\n9\n"})
    outcome = edited(bench, "5\n", "five\nand a half\n")
    assert host_of(bench).text("/p/a") == "1\n2\n3\n4\nfive\nand a half\n6\n7\n8\n9\n"
    assert text_of(outcome).startswith(
        "Changed /p/a:\n     2\t2\n     3\t3\n     4\t4\n     5\tfive"
    )
    assert isinstance(outcome, Done)
    assert outcome.data == {
        "filePath": "/p/a",
        "oldString": "5\n",
        "newString": "five\nand a half\n",
        "replaceAll": False,
        "userModified": False,
        "originalFile": "1\n2\n3\n4\n5\n6\n7\n8\n9\n",
        "structuredPatch": [
            {
                "oldStart": 2,
                "oldLines": 8,
                "newStart": 2,
                "newLines": 9,
                "lines": [
                    *(" 2", " 3", " 4", "-5", "+five", "+and a half"),
                    *(" 6", " 7", " 8", " 9"),
                ],
            }
        ],
    }


def test_edits_follow_one_another_without_a_new_read(memory: Memory) -> None:
    bench = memory({"/p/a": "x\n"})
    edited(bench, "x", "y")
    outcome = bench.call("Edit", file_path="a", old_string="y", new_string="z")
    assert isinstance(outcome, Done)
    assert host_of(bench).text("/p/a") == "z\n"


def test_every_place(memory: Memory) -> None:
    bench = memory({"/p/a": "x = 1\n" + "-\n" * 20 + "y = x\nx\n"})
    outcome = edited(bench, "x", "long\nname", replace_all=True)
    assert host_of(bench).text("/p/a").count("long\nname") == 3
    assert text_of(outcome).startswith("Changed /p/a in 3 places; the first:\n     1\tlong\n")
    assert isinstance(outcome, Done)
    assert outcome.data is not None
    first, second = outcome.data["structuredPatch"]
    assert (first["oldStart"], first["newStart"]) == (1, 1)
    assert (second["oldStart"], second["newStart"]) == (19, 20)
    assert second["lines"][3:] == ["-y = x", "-x", "+y = long", "+name", "+long", "+name"]


def test_several_places_need_a_decision(memory: Memory) -> None:
    body = "def f():\n    return 1\n\n\n# far\n\ndef g():\n    return 1\n"
    said = fault(memory({"/p/a": body}), "    return 1")
    assert said == (
        "Edit: /p/a: old_string occurs 2 times. Add surrounding lines to make it unique, or set "
        "replace_all. Where each begins is marked `>`:\n"
        "     1\tdef f():\n>    2\t    return 1\n     3\t\n   ...\n"
        "     7\tdef g():\n>    8\t    return 1"
    )


def test_of_many_places_ten_are_shown(memory: Memory) -> None:
    said = fault(memory({"/p/a": "x\ny\n" + "x\n" * 20_000 + "x" * 9_999}), "x")
    assert "occurs 30000 times" in said and "Where the first 10 begin is" in said
    assert said.count("\n>") == 10
    assert said.endswith(">   11\tx\n    12\tx")
    wide = fault(memory({"/p/a": "y" * 5_000 + "\n" + "y" * 5_000}), "y")
    assert len(wide) < 1_000


def test_it_must_have_been_read(memory: Memory) -> None:
    bench = memory({"/p/a": "x"})
    said = bench.text("Edit", file_path="a", old_string="x", new_string="y")
    assert "Read it first" in said


def test_a_file_changed_behind_our_back_is_kept(memory: Memory) -> None:
    bench = memory({"/p/a": "x"})
    bench.call("Read", file_path="a")
    host_of(bench).put("/p/a", "x and more")
    said = bench.text("Edit", file_path="a", old_string="x", new_string="y")
    assert "has changed since it was read" in said
    assert host_of(bench).text("/p/a") == "x and more"


def test_the_same_text_changes_nothing(memory: Memory) -> None:
    assert "are the same" in fault(memory({"/p/a": "x"}), "x", "x")


def test_windows_line_ends_are_kept(memory: Memory) -> None:
    bench = memory({"/p/a": b"\xef\xbb\xbfone\r\ntwo\r\nthree\r\n"})
    assert isinstance(edited(bench, "one\ntwo", "1\n2\n2b"), Done)
    assert host_of(bench).files["/p/a"] == b"\xef\xbb\xbf1\r\n2\r\n2b\r\nthree\r\n"
    assert isinstance(edited(bench, "2b\r\nthree", "3"), Done)
    assert host_of(bench).files["/p/a"] == b"\xef\xbb\xbf1\r\n2\r\n3\r\n"


def test_mixed_line_ends_are_kept_byte_for_byte(memory: Memory) -> None:
    bench = memory({"/p/a": b"one\r\ntwo\nthree\r\nfour\r\n"})
    assert isinstance(edited(bench, "three\nfour", "3\n4"), Done)
    assert host_of(bench).files["/p/a"] == b"one\r\ntwo\n3\r\n4\r\n"
    assert isinstance(edited(bench, "two", "2"), Done)
    assert host_of(bench).files["/p/a"] == b"one\r\n2\n3\r\n4\r\n"


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        (b"a\r\nb\nc\r\n", "a\nb\nc", "1\n2\n3", b"1\r\n2\n3\r\n"),
        (b"a\r\nb\nc\n", "a\nb\n", "1\n2\n2b\n2c\n", b"1\r\n2\n2b\r\n2c\r\nc\n"),
        (b"a\r\nb\nc\r\n", "c", "c\nd", b"a\r\nb\nc\r\nd\r\n"),
        (b"a\r\nb\nc\r\n", "b", "b\nbb", b"a\r\nb\nbb\nc\r\n"),
        (b"a\nb\r\nc", "c", "c\nd", b"a\nb\r\nc\r\nd"),
        (b"a\r\nb\nc\r\n", "b\nc\n", "", b"a\r\n"),
        (b"a\r\nb\nc\r\n", "a\r\n", "a\n", b"a\nb\nc\r\n"),
    ],
)
def test_both_kinds_of_line_ends_in_one_file(
    memory: Memory, before: bytes, old: str, new: str, after: bytes
) -> None:
    bench = memory({"/p/a": before})
    outcome = edited(bench, old, new)
    assert isinstance(outcome, Done)
    assert host_of(bench).files["/p/a"] == after
    assert "\r" not in text_of(outcome)


def test_every_place_keeps_its_own_line_ends(memory: Memory) -> None:
    bench = memory({"/p/a": b"a\r\nb\n-\na\nb\r\n"})
    assert isinstance(edited(bench, "a\nb", "1\n2", replace_all=True), Done)
    assert host_of(bench).files["/p/a"] == b"1\r\n2\n-\n1\n2\r\n"


def test_the_hint_names_what_is_at_the_ends_of_lines(memory: Memory) -> None:
    said = fault(memory({"/p/a": "a\nb"}), "b\n")
    assert said.endswith(
        "The file ends there without a newline: leave out the one at the end of old_string."
    )
    said = fault(memory({"/p/a": "x\na\r\r\nb\n"}), "a\nb\n")
    assert "differ only in line ends" in said and "\n     2\ta" in said


def test_long_lines_are_shown_around_the_change(memory: Memory) -> None:
    bench = memory({"/p/a": "y" * 50_000 + "needle" + "z" * 50_000 + "\n" + "w" * 9_000})
    said = text_of(edited(bench, "needle", "nail"))
    assert "yyynailzzz" in said and len(said) < 1_000
    assert "[...]yyy" in said and "zzz[...]" in said
    said = fault(bench, "y" * 50_000 + "nai l" + "z" * 50_000)
    assert "differ only in spaces" in said and "yyynailzzz" in said and len(said) < 1_000
    said = fault(bench, "w" * 8_000 + "v" + "w" * 1_000)
    assert "nearest" in said and len(said) < 1_000


def test_very_many_places(memory: Memory) -> None:
    """All are changed; the patch is of the first, and in order."""
    bench = memory({"/p/a": "-\n" + "x x\n" * 30_000})
    outcome = edited(bench, "x", "yy", replace_all=True)
    assert text_of(outcome).startswith("Changed /p/a in 60,000 places; the first:\n     1\t-\n")
    assert host_of(bench).text("/p/a") == "-\n" + "yy yy\n" * 30_000
    bench = memory({"/p/a": "x" * 1_000_000})
    assert "in 1,000,000 places" in text_of(edited(bench, "x", "y", replace_all=True))


def test_explaining_is_bounded_in_time(monkeypatch: pytest.MonkeyPatch, memory: Memory) -> None:
    body = "something else\n" * 2 + "def total(items):\n"
    assert "nearest" in fault(memory({"/p/a": body}), "def totals(item):")
    monkeypatch.setattr(nearest, "SECONDS", -1.0)
    assert "Nothing in the file" in fault(memory({"/p/a": body}), "def totals(item):")


def test_a_file_read_through_a_link_may_be_changed_by_its_own_name(disk: Bench) -> None:
    Path(disk.cwd, "real").write_text("x\n")
    Path(disk.cwd, "a").symlink_to("real")
    disk.call("Read", file_path="a")
    outcome = disk.call("Edit", file_path="real", old_string="x", new_string="y")
    assert isinstance(outcome, Done)
    assert isinstance(disk.call("Edit", file_path="a", old_string="y", new_string="z"), Done)


def test_bytes_that_are_not_utf8_survive(memory: Memory) -> None:
    bench = memory({"/p/a": b"caf\xe9\nname = 1\n\xff\xfe!\n"})
    outcome = edited(bench, "name = 1", "name = 2")
    assert isinstance(outcome, Done)
    assert host_of(bench).files["/p/a"] == b"caf\xe9\nname = 2\n\xff\xfe!\n"
    assert "caf\ufffd" in text_of(outcome)


def test_not_found_shows_what_differs_only_in_spaces(memory: Memory) -> None:
    said = fault(memory({"/p/a": "def f():\n\treturn  1\n"}), "def f():\n    return 1\n")
    assert "differ only in spaces, tabs or indentation" in said
    assert said.endswith("     1\tdef f():\n     2\t\treturn  1")


def test_not_found_shows_the_nearest_lines(memory: Memory) -> None:
    body = "import os\n\ndef compute_total(items):\n    return sum(items)\n"
    said = fault(memory({"/p/a": body}), "def compute_totals(item):\n    return sum(item)")
    assert "The nearest lines are:\n     3\tdef compute_total(items):" in said


def test_not_found_tells_pasted_line_numbers(memory: Memory) -> None:
    said = fault(memory({"/p/a": "one\ntwo\n"}), "     1\tone\n     2\ttwo")
    assert "line numbers as Read shows them" in said


@pytest.mark.parametrize(
    ("body", "sent", "told"),
    [
        ("say “hi” – now\n", 'say "hi" - now', "– (U+2013), “ (U+201C), ” (U+201D)"),
        ("it's here\n", "it’s here", "’ (U+2019)"),
        ("caf\u0065\u0301 = 1\n", "café = 1", "é (U+00E9), \u0301 (U+0301)"),
        ("a\u00a0b\n", "a b", "\u00a0 (U+00A0)"),
        ("wait…\n", "wait...", "… (U+2026)"),
    ],
)
def test_not_found_tells_typography(memory: Memory, body: str, sent: str, told: str) -> None:
    said = fault(memory({"/p/a": f"first\n{body}"}), sent)
    assert f"These lines differ only in {told}:\n     2\t{body.rstrip()}" in said


def test_invisible_characters_alone_are_like_nothing(memory: Memory) -> None:
    assert "Nothing in the file is like it" in fault(memory({"/p/a": "abc\n"}), "\u200b")


def test_not_found_at_all(memory: Memory) -> None:
    assert "Nothing in the file is like it" in fault(memory({"/p/a": "abc\n"}), "zzzzzzzz")
    assert "Nothing in the file is like it" in fault(memory({"/p/a": "abc\n"}), "\n\n\n")


def test_not_found_in_a_large_file_takes_bounded_work(memory: Memory) -> None:
    body = "".join(f"some line of code number {n} = {n * 7}\n" for n in range(100_000))
    assert "nearest" in fault(memory({"/p/a": body}), "some line of code number -1 = -7")


def test_a_missing_file_is_created_from_nothing(memory: Memory) -> None:
    bench = memory({"/p/empty": ""})
    said = bench.text("Edit", file_path="b/new", old_string="", new_string="x\ny\n")
    assert said == "Created /p/b/new (2 lines)."
    assert host_of(bench).text("/p/b/new") == "x\ny\n"
    said = bench.text("Edit", file_path="empty", old_string="", new_string="full")
    assert said == "Wrote /p/empty (1 line)."
    assert host_of(bench).text("/p/empty") == "full"


def test_an_empty_old_string_does_not_overwrite(memory: Memory) -> None:
    assert "use Write" in fault(memory({"/p/a": "x"}), "")


def test_missing_folders_and_binary(memory: Memory) -> None:
    bench = memory({"/p/d/x": "", "/p/b": b"\0\1x"})
    assert "does not exist" in bench.text("Edit", file_path="no", old_string="x", new_string="y")
    assert "is a folder" in bench.text("Edit", file_path="d", old_string="x", new_string="y")
    assert "binary file" in bench.text("Edit", file_path="b", old_string="x", new_string="y")


def test_the_result_stays_small(memory: Memory) -> None:
    """A program gets the original and the hunks, but not without end."""
    bench = memory({"/p/a": "y" * 20_001 + "\nx\n", "/p/e": ""})
    outcome = edited(bench, "x", "z")
    assert isinstance(outcome, Done) and outcome.data is not None
    assert outcome.data["originalFile"] is None
    assert outcome.data["structuredPatch"][0]["lines"][1:] == ["-x", "+z"]
    host_of(bench).put("/p/a", "y" * 200_000 + "x\n")
    outcome = edited(bench, "x", "z")
    assert isinstance(outcome, Done) and outcome.data is not None
    assert outcome.data["structuredPatch"] == []
    outcome = bench.call("Edit", file_path="new", old_string="", new_string="x\n")
    assert isinstance(outcome, Done) and outcome.data is not None
    assert (outcome.data["originalFile"], outcome.data["structuredPatch"]) == (None, [])


def test_a_missing_final_newline_stays_missing(memory: Memory) -> None:
    bench = memory({"/p/a": b"one\r\ntwo"})
    assert isinstance(edited(bench, "one", "1"), Done)
    assert host_of(bench).files["/p/a"] == b"1\r\ntwo"


def test_content_counts_and_not_time(memory: Memory) -> None:
    bench = memory({"/p/a": "x"})
    bench.call("Read", file_path="a")
    host_of(bench).put("/p/a", "x")
    outcome = bench.call("Edit", file_path="a", old_string="x", new_string="y")
    assert isinstance(outcome, Done)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf16_is_kept(memory: Memory, encoding: str) -> None:
    bench = memory({"/p/a": "\ufeffgrün\r\n😀\r\n".encode(encoding)})
    assert isinstance(edited(bench, "grün\n", "blau\nrot\n"), Done)
    assert host_of(bench).files["/p/a"] == "\ufeffblau\r\nrot\r\n😀\r\n".encode(encoding)


class Faults(NoCode):
    """A language server that has something to say, and what it was told."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, str]] = []

    async def faults(self, path: str, before: str, after: str) -> str:
        self.asked.append((path, before, after))
        return "line 1: z is not defined" if "z" in after else ""


def test_what_the_change_made_wrong_is_told(memory: Memory) -> None:
    bench = memory({"/p/a": b"x\r\n"})
    bench.shop.code = code = Faults()
    assert text_of(edited(bench, "x", "y")) == "Changed /p/a:\n     1\ty"
    assert text_of(edited(bench, "y", "z")).endswith("\n\nline 1: z is not defined")
    fault(bench, "absent")
    assert code.asked == [("/p/a", "x\n", "y\n"), ("/p/a", "y\n", "z\n")]


def test_on_disk(disk: Bench) -> None:
    path = Path(disk.cwd, "a")
    path.write_text("#!/bin/sh\necho one\n")
    path.chmod(0o755)
    assert isinstance(edited(disk, "one", "two"), Done)
    assert path.read_text() == "#!/bin/sh\necho two\n"
    assert path.stat().st_mode & 0o777 == 0o755


def test_effects_and_names(memory: Memory) -> None:
    tool = memory().registry.find("edit_file")
    assert tool is not None
    args = tool.parse('{"path": "a", "old_text": "x", "new_text": "y"}')
    assert args == EditArgs("a", "x", "y")
    assert tool.effects(args, "/p") == (Writes("/p/a"),)


pieces = st.text("ab\n", max_size=40)


@given(pieces, st.text("ab\n", min_size=1, max_size=3), st.text("abc\n", max_size=4))
def test_hunks_describe_the_change(body: str, old: str, new: str) -> None:
    """Applying the hunks to the old lines gives the new lines."""
    swap = Exact(old, new)
    before, after = body.split("\n"), body.replace(old, new).split("\n")
    result, taken = [], 0
    for hunk in hunks(body, swap, list(swap.places(body))):
        result += before[taken : hunk.old_start - 1]
        assert len(result) + 1 == hunk.new_start
        assert [line[1:] for line in hunk.lines if line[0] != "+"] == before[
            hunk.old_start - 1 : hunk.old_start - 1 + hunk.old_lines
        ]
        result += [line[1:] for line in hunk.lines if line[0] != "-"]
        taken = hunk.old_start - 1 + hunk.old_lines
    assert result + before[taken:] == after
