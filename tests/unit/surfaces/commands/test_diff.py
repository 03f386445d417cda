"""`/diff`: what calls have changed, by what the log keeps."""

from __future__ import annotations

import os
import subprocess

import pytest
from commandbench import Bench, calls, say

from detent.sdk.diffs import Diff, FileDiff, diff_of
from detent.sdk.session import Session
from detent.surfaces.commands.diff import MOST_LINES, told
from detent.types.errors import BadInput


def body_of(text: str) -> list[str]:
    """The diffs, without the table."""
    return text.split("\n\n", 1)[1].splitlines() if "\n\n" in text else []


def test_the_last_turn_that_changed_files(bench: Bench) -> None:
    bench.file("a.txt", "one\ntwo\n")

    async def body(session: Session) -> None:
        await session.run_turn("change")
        await session.run_turn("only talk")
        text = await say(session, "diff")
        assert text.splitlines()[:3] == [
            "2 files changed in turn 1: +2 -1", "  A b.txt  +1 -0", "  M a.txt  +1 -1",
        ]  # fmt: skip
        assert body_of(text) == [
            "--- /dev/null", "+++ b/b.txt", "@@ -0,0 +1 @@", "+new", "",
            "--- a/a.txt", "+++ b/a.txt", "@@ -1,2 +1,2 @@", " one", "-two", "+three",
        ]  # fmt: skip

    shell = calls("Bash", command="sed -i s/two/three/ a.txt")
    bench.run(body, bench.writes("b.txt", "new\n"), shell, "done", "words")


def test_several_changes_of_a_file_are_one(bench: Bench) -> None:
    bench.file("a.txt", "one\n")

    async def body(session: Session) -> None:
        await session.run_turn("one")
        await session.run_turn("two")
        whole, step = await diff_of(session, "session"), await diff_of(session, "3")
        assert [(f.added, f.removed) for f in whole.files] == [(1, 1)]
        assert "-one\n+three" in whole.files[0].text and "-two\n+three" in step.files[0].text
        assert (whole.of, step.of) == ("the session", "step 3")
        first = await diff_of(session, "turn 1")
        assert "-one\n+two" in first.files[0].text
        with pytest.raises(BadInput, match="there is no step 5: the session has had 4"):
            await diff_of(session, "5")

    def put(old: str, new: str) -> object:
        return calls("Bash", command=f"sed -i s/{old}/{new}/ a.txt")

    bench.run(body, put("one", "two"), "done", put("two", "three"), "done")


def test_what_was_undone_is_not_in_it(bench: Bench) -> None:
    async def body(session: Session) -> None:
        await session.run_turn("go")
        await say(session, "undo")
        told = "Nothing has changed in {}: what it did was undone."
        assert await say(session, "diff session") == told.format("the session")
        assert await say(session, "diff turn 1") == told.format("turn 1")
        assert await say(session, "diff") == "Nothing has changed in the last turn."
        await say(session, "redo")
        assert "1 file changed in turn 1: +1 -0" in await say(session, "diff")

    bench.run(body, bench.writes("a", "x\n"), "done")


def test_the_users_own_change_is_not_in_it_but_is_told_where_it_lies_between(bench: Bench) -> None:
    path = bench.file("a", "1\n")

    async def body(session: Session) -> None:
        await session.run_turn("go")
        path.write_text("mine\n")
        assert "-1\n+2" in (await diff_of(session)).files[0].text
        await session.run_turn("again")
        (found,) = (await diff_of(session, "session")).files
        assert "somebody else" in found.note and "-1\n+3" in found.text

    bench.run(body, calls("Bash", command="echo 2 > a"), "ok", calls("Bash", command="echo 3 > a"),
              "ok")  # fmt: skip


def test_what_no_diff_can_show_is_said_in_words(bench: Bench) -> None:
    bench.file("gone", "x\n")
    bench.file("mode", "x\n")
    script = (
        r"printf 'a\0b' > bytes; head -c 300000 /dev/zero | tr '\0' x > long; : > empty; "
        "rm gone; chmod 700 mode; ln -s mode link; printf end > no_newline"
    )

    async def body(session: Session) -> None:
        await session.run_turn("go")
        found = {os.path.basename(one.path): one for one in (await diff_of(session)).files}
        assert found["bytes"].note == "no text: 3 bytes" and not found["bytes"].text
        assert found["long"].note == "too long for a diff: 300,000 bytes"
        assert found["empty"].note == "empty" and found["empty"].what == "made"
        assert found["gone"].text.startswith("--- a/gone\n+++ /dev/null\n")
        assert found["mode"].note == "permissions 644 → 700" and found["mode"].what == "mode"
        assert found["link"].note == "nothing → a link to mode"
        assert found["no_newline"].text.endswith("+end\n\\ No newline at end of file")

    bench.run(body, calls("Bash", command=script), "done")


def test_patch_reads_it(bench: Bench) -> None:
    """It is what it claims to be."""
    old, new = "".join(f"{n}\n" for n in range(60)), "".join(f"{n}\n" for n in range(3, 66))
    bench.file("a", old)

    async def body(session: Session) -> str:
        await session.run_turn("go")
        return "\n".join(body_of(await say(session, "diff"))) + "\n"

    patch = bench.run(body, calls("Read", file_path="a"), bench.writes("a", new), "done")
    bench.file("a", old)
    subprocess.run(["git", "apply", "-p1", "-"], input=patch, text=True, cwd=bench.work, check=True)
    assert (bench.work / "a").read_text() == new


def test_it_is_bounded_and_a_name_cannot_pass_for_a_line_of_ours() -> None:
    lines = "\n".join(["--- a/x", "+++ b/x", *["+x"] * 3_000])
    files = (FileDiff("/w/x", "changed", 3_000, 0, lines), FileDiff("/w/y\nz", "made", 1, 0, "+y"))
    shown = list(told(Diff("turn 1", files, 7), "/w"))
    assert shown[1:4] == ["  M x  +3,000 -0", "  A y\\nz  +1 -0", "  … and 7 files more"]
    assert shown[-1].startswith("… 1,003 lines more") and len(shown) < MOST_LINES + 10
