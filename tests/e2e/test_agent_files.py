"""What subagents do to files, as a user sees it: worktrees, undo, a crash in between."""

from __future__ import annotations

import os
import signal
import subprocess
from typing import Any

import pytest

from detent.testing import call, reply

from .conftest import PATIENCE, Runner
from .crew import Unanswered, serve

EDITS = ("--permission-mode", "acceptEdits", "--allowedTools", "Bash")


def agent(name: str, **more: Any) -> Any:
    return call("Agent", {"description": name, "prompt": f"TASK {name}", "name": name, **more})


def bash(command: str) -> Any:
    return reply(call("Bash", command=command))


def git(runner: Runner, *arguments: str) -> str:
    who = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    done = subprocess.run(
        ["git", *who, *arguments], cwd=runner.work, capture_output=True, text=True, timeout=30,
        check=True, env=runner.env(),
    )  # fmt: skip
    return done.stdout


def repository(runner: Runner, **files: str) -> None:
    for name, text in files.items():
        (runner.work / name).write_text(text)
    git(runner, "init", "-q")
    git(runner, "add", "-A")
    git(runner, "commit", "-qm", "one")


def test_two_in_worktrees_are_merged_and_undone(runner: Runner) -> None:
    """Under the sandbox, where there is one, and with no right that the session has not."""
    repository(runner, a="1\n2\n3\n4\n5\n", b="b\n")
    (runner.work / "a").write_text("1\n2\n3\n4\nfive\n")  # not committed: they begin with it
    model = serve(
        runner,
        reply(agent("top", isolation="worktree"), agent("end", isolation="worktree")),
        reply("done"),
        top=[bash("sed -i s/1/one/ a && git diff --stat HEAD && git add -A"), reply("top done")],
        end=[bash("echo six >> a; rm b; mkdir d; echo x > d/x; pwd"), reply("end done")],
    )
    ran = runner.prompt("go", *EDITS)
    assert ran.code == 0, ran
    assert (runner.work / "a").read_text() == "one\n2\n3\n4\nfive\nsix\n", model.results()
    assert not (runner.work / "b").exists() and (runner.work / "d" / "x").exists()
    assert ".detent-worktrees/" in model.results("end")[0]
    assert "Merged from its worktree: a (+1 −1)" in model.results()[0]
    assert not (runner.work / ".detent-worktrees").exists()
    assert len(git(runner, "worktree", "list").splitlines()) == 1
    assert git(runner, "status", "--porcelain") == " M a\n D b\n?? d/\n"
    listed = runner.run("undo", "--list").stdout
    assert "step 1, prompt 1: general-purpose" in listed and "  D b" in listed
    assert runner.run("undo").code == 0
    assert (runner.work / "a").read_text() == "1\n2\n3\n4\nfive\n"
    assert (runner.work / "b").exists() and not (runner.work / "d").exists()
    assert runner.run("redo").code == 0
    assert (runner.work / "a").read_text() == "one\n2\n3\n4\nfive\nsix\n"


def test_what_may_not_be_written_here_may_not_be_merged_either(runner: Runner) -> None:
    """A command in the worktree can make what is protected in the folder itself."""
    repository(runner, a="a\n", hidden="x")
    (runner.work / "tool").write_text("mkdir .vscode; echo '{}' > .vscode/tasks.json; echo b > a\n")
    model = serve(
        runner,
        reply(agent("sly", isolation="worktree")),
        reply("done"),
        sly=[bash("sh tool"), "done"],
    )
    ran = runner.prompt("go", *EDITS)
    assert ran.code == 0, ran
    assert "Nothing was merged" in model.results()[0], model.results()
    assert ".vscode/tasks.json" in model.results()[0]
    assert not (runner.work / ".vscode").exists() and (runner.work / "a").read_text() == "a\n"
    (kept,) = (runner.work / ".detent-worktrees").glob("agent*")
    assert (kept / "a").read_text() == "b\n"
    assert git(runner, "status", "--porcelain") == "?? tool\n", "git does not see it"
    ran = runner.run("sessions", "delete", "--yes", runner.logs[0].stem)
    assert ran.code == 0, ran
    assert not (runner.work / ".detent-worktrees").exists(), "it goes with the session"
    assert len(git(runner, "worktree", "list").splitlines()) == 1


@pytest.mark.parametrize(
    "rule", ["Edit(/src/**)", "Edit(src/**)", "Edit(new.txt)", "Edit(./src/*)"]
)
def test_what_is_allowed_of_a_file_is_allowed_of_its_copy(runner: Runner, rule: str) -> None:
    repository(runner, a="one\n")
    writes = [reply(call("Write", file_path=path, content="x")) for path in ("src/new.txt", "b")]
    start = reply(agent("worker", isolation="worktree"))
    model = serve(runner, start, reply("done"), worker=[*writes, reply("made")])
    ran = runner.prompt("go", "--allowedTools", rule)
    assert ran.code == 3, ran
    assert (runner.work / "src/new.txt").read_text() == "x"
    assert not (runner.work / "b").exists()
    assert "The rule Edit(/b) would permit it." in model.results("worker")[1]


def test_one_that_was_stopped_says_where_its_work_is(runner: Runner) -> None:
    """To the model when the session goes on, and to people in the tree."""
    repository(runner, a="one\n")
    hang = Unanswered()
    start = reply(agent("worker", isolation="worktree"))
    model = serve(runner, start, reply("I see"), worker=[bash("echo half > a"), hang])
    live = runner.start("-p", "go", *EDITS)
    assert hang.asked.wait(PATIENCE)
    os.kill(live.pid, signal.SIGINT)
    assert live.wait() == 130
    (kept,) = (runner.work / ".detent-worktrees").glob("agent*")
    assert runner.prompt("what now?", "--continue", *EDITS).code == 0
    (told,) = model.results()
    assert f"its worktree is kept in {kept} (a (+1 −1))" in told
    assert f"Agent with `resume` {kept.name} lets it go on." in told
    tree = runner.run("agents", "tree").stdout
    assert "worker · stopped · 1 step " in tree
    assert f"(its worktree is kept in {kept})" in tree


def test_one_that_was_killed_goes_on_in_its_worktree(runner: Runner) -> None:
    repository(runner, a="one\n")
    hang = Unanswered()
    model = serve(
        runner, reply(agent("worker", isolation="worktree")), worker=[bash("echo half > a"), hang]
    )
    live = runner.start("-p", "go", *EDITS)
    assert hang.asked.wait(PATIENCE)
    live.kill()
    assert (runner.work / "a").read_text() == "one\n"
    (kept,) = (runner.work / ".detent-worktrees").glob("agent*")
    assert (kept / "a").read_text() == "half\n"
    model = serve(
        runner,
        reply(call("Agent", description="go on", prompt="TASK worker", resume=kept.name)),
        reply("done"),
        worker=[bash("cat a; echo whole >> a"), reply("worker done")],
    )
    ran = runner.prompt("go on", "--continue", *EDITS)
    assert ran.code == 0, ran
    assert "half" in model.results("worker")[-1], model.results()
    assert (runner.work / "a").read_text() == "half\nwhole\n"
    assert not (runner.work / ".detent-worktrees").exists()
