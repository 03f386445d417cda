"""Files put back: whole at every moment, and never over somebody else's work."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from detent.app.undo.doing import undo
from detent.app.undo.judging import BENT, CHANGED, NOT_EMPTY, NOT_KEPT, OUTSIDE
from detent.app.undo.planning import Wish
from detent.types.content import Text
from detent.types.effects import Connects, Runs, Writes
from detent.types.events import CallEnded, Reminded
from detent.types.files import Change, FileState, Undone
from detent.types.outcomes import Done
from undobench import Bench

EVERYTHING = """
printf two > a; rm b; mkdir -p n/m; printf new > n/m/f; chmod 755 c; ln -s a l; rm -r d
printf flat > d; rm -r e; mkdir e; ln -sfn c k; mkdir -m 700 p
"""


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    bench = Bench(tmp_path)
    bench.bash(
        "printf one > a; printf bee > b; printf sea > c; mkdir d; printf x > d/x; printf flat > e;"
        "ln -s b k"
    )
    bench.prompt()
    return bench


def reasons(report: Any) -> dict[str, str]:
    return {os.path.basename(left.path): left.reason for left in report.left}


def test_bytes_modes_links_deletions_and_folders_come_back(bench: Bench) -> None:
    before = bench.tree()
    bench.step(EVERYTHING)
    after = bench.tree()
    report = bench.undo()
    assert bench.tree() == before and not report.left
    bench.redo()
    assert bench.tree() == after


def test_a_file_changed_since_is_left_and_shown(bench: Bench) -> None:
    bench.step("printf 'two\\n' > a; printf other > c")
    bench.write("a", "two\nmine\n")
    report = bench.undo()
    assert bench.read("a") == "two\nmine\n" and bench.read("c") == "sea"
    (left,) = report.left
    assert left.reason == CHANGED and "+mine" in left.diff
    bench.redo()
    assert bench.read("a") == "two\nmine\n" and bench.read("c") == "other"


def test_a_mode_or_a_deletion_is_a_change_of_the_user_too(bench: Bench) -> None:
    bench.step("printf two > a; printf two > c")
    bench.bash("chmod 600 a; rm c")
    assert reasons(bench.undo()) == {"a": CHANGED, "c": CHANGED}
    assert bench.read("a") == "two" and not (bench.root / "c").exists()


def test_nothing_is_recorded_where_nothing_was_done(bench: Bench) -> None:
    bench.step("printf two > a")
    bench.write("a", "mine")
    length = len(bench.log.entries)
    assert bench.undo().left and len(bench.log.entries) == length
    assert bench.look().steps == (1,)


def test_what_is_in_other_lines_can_be_merged(bench: Bench) -> None:
    lines = [f"{number}\n" for number in range(9)]
    bench.write("t", "".join(lines))
    bench.step("sed -i s/1/ONE/ t")
    bench.bash("sed -i s/7/mine/ t")
    (left,) = bench.look().left
    assert left.can_merge
    report = bench.undo(merges=True)
    assert not report.left
    assert bench.read("t") == "".join(lines).replace("7", "mine")
    bench.redo()
    assert bench.read("t") == "".join(lines).replace("7", "mine").replace("1", "ONE")


def test_the_same_lines_are_never_merged(bench: Bench) -> None:
    bench.write("t", "1\n2\n3\n")
    bench.step("sed -i s/2/two/ t")
    bench.bash("sed -i s/two/mine/ t")
    report = bench.undo(merges=True)
    assert reasons(report) == {"t": CHANGED} and bench.read("t") == "1\nmine\n3\n"


def test_a_folder_with_something_of_the_users_stays(bench: Bench) -> None:
    bench.step("mkdir n; printf x > n/f")
    bench.write("n/own", "mine")
    assert reasons(bench.undo()) == {"n": NOT_EMPTY}
    assert bench.read("n/own") == "mine" and not (bench.root / "n/f").exists()


def test_nothing_is_written_through_a_link(bench: Bench, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    bench.step("rm d/x")
    bench.bash(f"rmdir d; ln -s {outside} d")
    assert reasons(bench.undo()) == {"x": BENT}
    assert list(outside.iterdir()) == []


def test_what_lies_outside_the_workspace_is_left(bench: Bench, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("theirs")
    digest = bench.blobs.put(b"theirs")
    now = FileState("file", victim.stat().st_mode & 0o777, 6, digest)
    inner = f"{bench.root}/../another"
    bench.log.append(
        CallEnded(
            call_id="x",
            name="Write",
            outcome=Done((Text("ok"),)),
            changed=(Change(str(victim), after=now), Change(inner, after=now)),
        )
    )
    report = bench.undo()
    assert {left.reason for left in report.left} == {OUTSIDE} and len(report.left) == 2
    assert victim.read_text() == "theirs"


def test_a_blob_that_is_gone_or_damaged_is_told(bench: Bench) -> None:
    bench.step("printf two > a; rm b")
    for name, content in (("a", b"one"), ("b", b"bee")):
        path = Path(bench.blobs.path(bench.blobs.put(content)))
        path.unlink() if name == "a" else path.write_bytes(b"rubbish")
    found = reasons(bench.undo())
    assert "cannot be read" in found["a"] and "damaged" in found["b"]
    assert bench.read("a") == "two" and not (bench.root / "b").exists()


def test_bytes_that_were_not_kept_are_told(bench: Bench) -> None:
    bench.step("printf two > a")
    ended = bench.log.entries[-1]
    assert isinstance(ended, CallEnded)
    (change,) = ended.changed
    large = FileState("file", change.before.mode, 10**9)
    bench.log._entries[-1] = CallEnded(
        seq=ended.seq,
        call_id=ended.call_id,
        name=ended.name,
        outcome=ended.outcome,
        changed=(Change(change.path, large, change.after),),
    )
    assert reasons(bench.undo()) == {"a": NOT_KEPT} and bench.read("a") == "two"


def test_a_file_too_large_to_keep_is_told_until_it_is_gone(bench: Bench) -> None:
    bench.step("printf two > a; printf n > new")
    ended = bench.log.entries[-1]
    assert isinstance(ended, CallEnded)
    large = FileState("file", 0o644, 10**9)
    a, new = ended.changed
    changed = Change(a.path, large, large), Change(new.path, new.before, large)
    bench.log._entries[-1] = replace(ended, changed=changed)
    assert reasons(bench.undo()) == {"a": NOT_KEPT, "new": NOT_KEPT}
    (bench.root / "new").unlink()
    assert reasons(bench.undo()) == {"a": NOT_KEPT} and bench.read("a") == "two"


def test_a_disk_that_is_full_leaves_each_file_whole(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.step("printf two > a; printf two > b; printf n > new")
    replace, count = os.replace, iter(range(9))

    def full(*args: Any, **more: Any) -> None:
        if next(count) == 0:
            raise OSError(28, "No space left on device")
        replace(*args, **more)

    monkeypatch.setattr(os, "replace", full)
    report = bench.undo()
    assert reasons(report) == {"a": "No space left on device"}
    assert bench.read("a") == "two" and bench.read("b") == "bee"
    assert sorted(os.listdir(bench.root)) == ["a", "b", "c", "d", "e", "k"]
    report = bench.undo(1)
    assert not report.left and bench.read("a") == "one", "said again, it finishes"


def test_a_file_changed_while_it_is_put_back_is_left(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.step("printf two > a; printf two > b")
    replace = os.replace

    def meanwhile(*args: Any, **more: Any) -> None:
        bench.write("b", "mine")
        replace(*args, **more)

    monkeypatch.setattr(os, "replace", meanwhile)
    assert reasons(bench.undo()) == {"b": CHANGED} and bench.read("b") == "mine"


class Killed(BaseException):
    pass


ACTS = ("replace", "unlink", "rmdir", "mkdir", "fchmod", "symlink")


def killing(at: int, monkeypatch: pytest.MonkeyPatch, *, before: bool) -> Iterator[int]:
    """Ends the process, as far as files know, at its n-th act on them."""
    count = 0
    for name in ACTS:
        act = getattr(os, name)

        def counted(*args: Any, act: Any = act, **more: Any) -> Any:
            nonlocal count
            count += 1
            if count > at:
                raise Killed
            if count == at and before:
                raise Killed
            done = act(*args, **more)
            if count == at:
                raise Killed
            return done

        monkeypatch.setattr(os, name, counted)
    yield count


@pytest.mark.parametrize("before", [True, False])
def test_cut_off_anywhere_it_is_told_and_doing_it_again_finishes(
    tmp_path: Path, before: bool
) -> None:
    at = ended = 0
    while not ended:
        at += 1
        folder = tmp_path / str(at)
        folder.mkdir()
        bench = Bench(folder)
        bench.bash(
            "printf one > a; printf bee > b; printf sea > c; mkdir d; printf x > d/x;"
            "printf flat > e; ln -s b k"
        )
        bench.prompt()
        states = [bench.tree()]
        bench.step(EVERYTHING)
        states.append(bench.tree())
        with pytest.MonkeyPatch.context() as patched:
            next(killing(at, patched, before=before))
            try:
                bench.undo()
                ended = at
            except Killed:
                pass
        last = [e for e in bench.log.entries if isinstance(e, Undone)][-1]
        assert last.begun != bool(ended), "the log tells whether it came to its end"
        report = bench.undo(1)
        assert not report.left and bench.tree() == states[0], at
        assert ended or report.was_cut_off
        bench.redo()
        assert bench.tree() == states[1], at
    assert at > 15


def test_an_undo_that_was_cut_off_before_anything_is_redone_as_nothing(bench: Bench) -> None:
    bench.step("printf two > a")
    bench.log.append(Undone(of=(bench.log.entries[-1].seq,), begun=True))
    assert not bench.redo().steps and bench.read("a") == "two"
    assert bench.undo().was_cut_off and bench.read("a") == "one"


def test_the_model_is_told(bench: Bench) -> None:
    bench.step("printf two > a; mkdir n; printf x > n/f")
    bench.undo()
    reminded = bench.log.entries[-1]
    assert isinstance(reminded, Reminded) and reminded.source == "undo"
    assert "a, n/f." in reminded.text
    bench.redo()
    again = bench.log.entries[-1]
    assert isinstance(again, Reminded) and "restored your changes" in again.text


def test_what_no_undo_reaches_is_said(bench: Bench) -> None:
    bench.step("printf two > a")
    bench.started("net", Connects("example.org"), Connects("asked.org", only_asks=True))
    bench.started("out", Runs("make deploy", outside=True), Writes("/etc/motd"))
    bench.started("job", Runs("npm run dev"))
    for call in ("net", "out"):
        bench.log.append(CallEnded(call_id=call, name="x", outcome=Done((Text("ok"),))))
    data = {"backgroundTaskId": "job_1"}
    bench.log.append(CallEnded(call_id="job", name="Bash", outcome=Done((Text("ok"),), data)))
    assert bench.look().uncovered == (
        "reached example.org",
        "ran outside the sandbox: make deploy",
        "wrote outside the workspace: /etc/motd",
        "job_1 ran in the background: npm run dev",
    )


def test_the_last_turn_is_undone_as_a_whole(bench: Bench) -> None:
    bench.step("printf two > a")
    bench.prompt("again")
    bench.step("printf two > b")
    bench.step("printf two > c")
    assert bench.undo(turn=True).steps == (2, 3)
    assert [bench.read(name) for name in "abc"] == ["two", "bee", "sea"]
    assert bench.undo(turn=True).steps == (1,)


def test_what_could_not_be_written_down_is_told_and_can_be_done_again(bench: Bench) -> None:
    bench.step("printf two > a")
    record, troubles = bench.ground.record, [""]
    written = iter([True, False, False])

    def fails(entry: Any) -> None:
        if next(written):
            record(entry)
        else:
            troubles[0] = "No space left on device"

    poor = replace(bench.ground, record=fails, trouble=lambda: troubles[0])
    report = undo(poor, Wish())
    assert report.trouble and bench.read("a") == "one"
    again = bench.undo()
    assert again.was_cut_off and [file.what for file in again.files] == ["changed"]
    bench.redo()
    assert bench.read("a") == "two"


def test_a_file_written_by_another_name_is_put_back_once(bench: Bench) -> None:
    bench.bash("ln -s d way")
    bench.step("printf changed > d/x")
    ended = bench.log._entries[-1]
    assert isinstance(ended, CallEnded)
    (change,) = ended.changed
    twins = [replace(change, path=f"{bench.root}/{name}") for name in ("way/x", "k/../d/x")]
    bench.log._entries[-1] = replace(ended, changed=(*twins, change))
    report = bench.undo()
    assert not report.left and len(report.files) == 1 and bench.read("d/x") == "x"
