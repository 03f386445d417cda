"""`detent undo` and `detent redo`, as a user sees them: edits and shell commands, without git."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import select
import subprocess
from pathlib import Path

import pytest

from detent.testing import call, reply

from .conftest import DETENT, PATIENCE, Pipe, Runner

BYPASS = ("--permission-mode", "bypassPermissions")
SHELL = "printf two > a.txt; rm gone; mkdir d; printf x > d/f; ln -s a.txt l; chmod 755 run"


def tree(folder: Path) -> dict[str, tuple[str, int]]:
    """All names: what they hold, and their modes."""
    found: dict[str, tuple[str, int]] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_symlink():
            found[path.name] = f"-> {os.readlink(path)}", 0
        else:
            content = path.read_text() if path.is_file() else "/"
            found[path.name] = content, path.stat().st_mode
    return found


@pytest.fixture
def worked(runner: Runner) -> Runner:
    """Step 1 is a shell command, step 2 writes a file, step 3 edits one."""
    for name, text in (("a.txt", "one"), ("gone", "was here"), ("run", "#!/bin/sh\n")):
        (runner.work / name).write_text(text)
    runner.before = tree(runner.work)  # type: ignore[attr-defined]
    path = str(runner.work / "new.txt")
    runner.serve(
        reply(call("Bash", command=SHELL)),
        reply(call("Write", file_path=path, content="new\nlines\n")),
        reply(call("Edit", file_path=path, old_string="new", new_string="newer")),
        reply("done"),
        reply("I see"),
    )
    ran = runner.prompt("go", *BYPASS)
    assert ran.code == 0, ran
    runner.after = tree(runner.work)  # type: ignore[attr-defined]
    return runner


def test_step_by_step_back_and_forth(worked: Runner) -> None:
    listed = worked.run("undo", "--list").stdout
    assert "step 1, prompt 1: Bash printf two > a.txt" in listed and "  D gone" in listed
    assert "step 3, prompt 1: Edit" in listed
    assert worked.run("undo").code == 0
    assert (worked.work / "new.txt").read_text() == "new\nlines\n"
    assert "(undone)" in worked.run("undo", "--list").stdout
    worked.run("undo")
    assert not (worked.work / "new.txt").exists()
    worked.run("undo")
    assert tree(worked.work) == worked.before  # type: ignore[attr-defined]
    nothing = worked.run("undo")
    assert nothing.code == 0 and "Nothing to undo" in nothing.stdout
    for _ in range(3):
        assert worked.run("redo").code == 0
    assert tree(worked.work) == worked.after  # type: ignore[attr-defined]
    assert "Nothing to redo" in worked.run("redo").stdout


def test_several_steps_at_once_with_a_look_first(worked: Runner) -> None:
    seen = json.loads(worked.run("undo", "2", "--dry-run", "--json").stdout)
    assert seen["steps"] == [2, 3] and seen["is_preview"]
    assert tree(worked.work) == worked.after  # type: ignore[attr-defined]
    done = worked.run("undo", "--turn")
    assert done.code == 0 and "steps 1, 2, 3" in done.stdout, done
    assert tree(worked.work) == worked.before  # type: ignore[attr-defined]
    worked.run("redo")
    assert tree(worked.work) == worked.after  # type: ignore[attr-defined]


def test_what_the_user_changed_stays_and_is_shown(worked: Runner) -> None:
    (worked.work / "new.txt").write_text("newer\nlines\nmine\n")
    done = worked.run("undo", "--turn")
    assert done.code == 1, "something stays as it is"
    assert "new.txt  left: it was changed since" in done.stdout and "+mine" in done.stdout
    assert (worked.work / "new.txt").read_text() == "newer\nlines\nmine\n"
    assert (worked.work / "gone").read_text() == "was here"


def test_both_changes_are_kept_where_that_is_wanted(worked: Runner) -> None:
    path = worked.work / "new.txt"
    path.write_text("newer\nlines\nand\nmine\n")
    assert "--merge would keep both" in worked.run("undo").stdout
    assert worked.run("undo", "--merge").code == 0
    assert path.read_text() == "new\nlines\nand\nmine\n"


def test_the_model_hears_of_it_and_cannot_edit_what_it_remembers(worked: Runner) -> None:
    worked.run("undo")
    path = str(worked.work / "new.txt")
    worked.serve(
        reply(call("Edit", file_path=path, old_string="lines", new_string="rows")), reply("ok")
    )
    ran = worked.frames("go on", "-c", *BYPASS)
    told = json.dumps(worked.requests[0].json["messages"][-1])
    assert "The user has put back files that you had changed: new.txt" in told
    (result,) = ran.tool_results
    assert result["is_error"], "it has to read the file again"
    assert Path(path).read_text() == "new\nlines\n"


def test_a_session_in_use_is_not_undone_but_shown(worked: Runner) -> None:
    (log,) = worked.logs
    with log.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        refused = worked.run("undo")
        assert refused.code == 2 and "in use by another process" in refused.stderr
        assert "/undo" in refused.stderr
        assert worked.run("undo", "--dry-run").code == 0
        assert worked.run("undo", "--list").code == 0
    assert tree(worked.work) == worked.after  # type: ignore[attr-defined]


def test_words_that_make_no_sense(worked: Runner) -> None:
    for words in (("x",), ("0",), ("1", "2"), ("1", "--turn"), ("--session", "nope"), ("99",)):
        assert worked.run("undo", *words).code == 2, words
    assert worked.run("redo", "now").code == 2


def test_no_session_no_undo(runner: Runner) -> None:
    ran = runner.run("undo")
    assert ran.code == 2 and "no sessions here yet" in ran.stderr


def test_a_session_of_another_folder_by_name(worked: Runner) -> None:
    (log,) = worked.logs
    elsewhere = worked.folder / "elsewhere"
    elsewhere.mkdir()
    assert worked.run("undo", cwd=elsewhere).code == 2
    assert worked.run("undo", "1", "--session", log.stem[:8], cwd=elsewhere).code == 0
    assert tree(worked.work) == worked.before  # type: ignore[attr-defined]


def test_a_log_that_cannot_be_written_touches_no_file(worked: Runner) -> None:
    done = worked.run("undo", shell="ulimit -f 0")
    assert done.code == 2 and "nothing was put back" in done.stderr, done
    assert tree(worked.work) == worked.after  # type: ignore[attr-defined]
    assert worked.run("undo", "1").code == 0
    assert tree(worked.work) == worked.before  # type: ignore[attr-defined]


def test_on_a_terminal_it_asks(worked: Runner) -> None:
    for answer, files in ((b"n\n", "after"), (b"\n", "before")):
        ours, its = pty.openpty()
        process = subprocess.Popen(
            [str(DETENT), "undo", "--turn"],
            env=worked.env(), cwd=worked.work, stdin=its, stdout=its, stderr=its,
        )  # fmt: skip
        os.close(its)
        said = b""
        while b"[Y/n]" not in said:
            assert select.select([ours], [], [], PATIENCE)[0], said
            said += os.read(ours, 4096)
        assert b"would change" in said and b"D new.txt" in said
        os.write(ours, answer)
        process.wait(PATIENCE)
        os.close(ours)
        assert tree(worked.work) == getattr(worked, files)


def test_slash_undo_and_redo_in_a_session(worked: Runner) -> None:
    live = worked.converse("-c", *BYPASS)
    live.say("/undo 1")
    done = live.next("result")
    assert "Undone: steps 1, 2, 3" in done["result"] and not done["is_error"]
    assert tree(worked.work) == worked.before  # type: ignore[attr-defined]
    live.say("/redo")
    assert "Redone" in live.next("result")["result"]
    assert tree(worked.work) == worked.after  # type: ignore[attr-defined]
    live.say("/undo soon")
    assert live.next("result")["is_error"]
    live.end_input()
    live.finish()


def test_a_command_after_an_undo_goes_by_the_files_as_they_are_then(runner: Runner) -> None:
    (runner.work / "a").write_text("zero\n")
    runner.serve(
        reply(call("Bash", command="echo one >> a")),
        reply("done"),
        reply(call("Bash", command="echo two >> a; echo b > b")),
        reply("done"),
    )
    live = runner.converse(*BYPASS)
    for said in ("go", "/undo", "go on", "/undo", "/undo"):
        live.say(said)
        live.next("result")
        if said == "go on":
            assert (runner.work / "a").read_text() == "zero\ntwo\n"
        if said == "/undo":
            assert (runner.work / "a").read_text() == "zero\n"
    assert not (runner.work / "b").exists()
    live.say("/redo")
    live.next("result")
    assert (runner.work / "a").read_text() == "zero\ntwo\n"
    live.end_input()
    live.finish()


def test_what_a_command_did_that_died_with_the_agent(runner: Runner) -> None:
    (runner.work / "a").write_text("zero")
    pipe = Pipe(runner.work / "pipe")
    runner.serve(reply(call("Bash", command="printf one > a; echo ready > pipe; sleep 60")))
    live = runner.start("-p", "go", *BYPASS)
    assert pipe.line() == "ready"
    live.kill()
    pipe.close()
    done = runner.run("undo")
    assert done.code == 1 and "a call that was cut off has changed it" in done.stdout, done
    assert (runner.work / "a").read_text() == "one", "it may be the work of somebody else by now"
    assert runner.run("undo", "--interrupted").code == 0
    assert (runner.work / "a").read_text() == "zero"
    runner.run("redo")
    assert (runner.work / "a").read_text() == "one"


def test_an_undo_that_was_cut_off_is_told_to_the_next_run(worked: Runner) -> None:
    (log,) = worked.logs
    ended = [e["seq"] for e in worked.entries(log.stem) if e["type"] == "callended"]
    _append_begun(worked, log, ended[-1])
    ran = worked.prompt("go on", "-c", *BYPASS, output="text")
    assert "An undo was cut off" in ran.stderr, ran
    told = json.dumps(worked.requests[-1].json["messages"][-1])
    assert "an undo of your changes was cut off" in told


def _append_begun(worked: Runner, log: Path, of: int) -> None:
    from detent.session.log import FileLog
    from detent.session.reading import read_log
    from detent.types.files import Undone

    writer = FileLog(str(log), lambda: 0.0, read_log(str(log)).entries, home=str(worked.state))
    writer.append(Undone(of=(of,), begun=True))
    writer.close()
