"""What git says of a folder, from real repositories, friendly and hostile (F151, F154, F155)."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from detent.app import git_running, git_state
from detent.app.git_running import GitCommand, Running
from detent.app.git_state import MOST_REMEMBERED, SLOW, UNREADABLE, Git
from detent.context.repository import Repository

ENVIRON = {"PATH": os.environ["PATH"], "GIT_CONFIG_NOSYSTEM": "1"}


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(
        "[user]\nname = A\nemail = a@b.example\n[init]\ndefaultBranch = main\n"
        '[protocol "file"]\nallow = always\n'
    )
    return {**ENVIRON, "HOME": str(home)}


@pytest.fixture
def git(environ: dict[str, str]) -> Callable[..., str]:
    def run(folder: Path, *arguments: str) -> str:
        ran = subprocess.run(
            ["git", "-C", str(folder), *arguments],
            env={**environ, "GIT_COMMITTER_DATE": "1700000000 +0000"},
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        return ran.stdout

    return run


@pytest.fixture
def repository(tmp_path: Path, git: Callable[..., str]) -> Path:
    root = tmp_path / "p"
    root.mkdir()
    git(root, "init", "-q")
    (root / "a.txt").write_text("a\n")
    commit(git, root, "First")
    return root


def commit(git: Callable[..., str], root: Path, subject: str) -> None:
    git(root, "add", "-A")
    git(root, "commit", "-q", "--allow-empty", "-m", subject)


def look(git: Git, root: Path | None, cwd: Path | None = None) -> Repository | None:
    place = None if root is None else str(root)
    return asyncio.run(git.look(place, str(cwd or root)))


def seen(environ: dict[str, str], root: Path) -> Repository:
    found = look(Git(environ), root)
    assert found is not None
    return found


def subjects(found: Repository) -> list[str]:
    return [line.partition(" ")[2] for line in found.commits]


def test_branch_commits_and_changes(
    repository: Path, environ: dict[str, str], git: Callable[..., str]
) -> None:
    for number in range(2, 8):
        commit(git, repository, f"Number {number}")
    git(repository, "switch", "-qc", "topic/one")
    (repository / "a.txt").write_text("changed\n")
    (repository / "new file.txt").write_text("")
    found = seen(environ, repository)
    assert (found.branch, found.default) == ("topic/one", "main")
    assert subjects(found) == [f"Number {number}" for number in (7, 6, 5, 4, 3)]
    assert found.changes == (" M a.txt", "?? new file.txt")
    assert not found.trouble and not found.is_cut


def test_the_default_branch_is_the_remotes(
    repository: Path, tmp_path: Path, environ: dict[str, str], git: Callable[..., str]
) -> None:
    git(repository, "branch", "-m", "main", "trunk")
    git(tmp_path, "clone", "-q", str(repository), "clone")
    clone = tmp_path / "clone"
    git(clone, "switch", "-qc", "mine")
    assert seen(environ, clone).default == "trunk"
    assert seen(environ, repository).default == "", "nothing tells"
    git(repository, "branch", "master")
    git(repository, "switch", "-qc", "side")
    assert seen(environ, repository).default == "master"
    git(repository, "pack-refs", "--all")
    assert seen(environ, repository).default == "master"


def test_a_branch_that_is_not_where_its_upstream_is(
    repository: Path, tmp_path: Path, git: Callable[..., str], environ: dict[str, str]
) -> None:
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(repository), str(clone))
    commit(git, repository, "Theirs")
    commit(git, clone, "Ours")
    git(clone, "fetch", "-q")
    found = seen(environ, clone)
    assert (found.branch, found.trouble, found.changes) == ("main", "", ())


def test_before_the_first_commit_and_without_a_branch(
    repository: Path, tmp_path: Path, environ: dict[str, str], git: Callable[..., str]
) -> None:
    empty = tmp_path / "empty"
    git(tmp_path, "init", "-q", str(empty))
    fresh = seen(environ, empty)
    assert (fresh.branch, fresh.commits, fresh.changes, fresh.trouble) == ("main", (), (), "")
    git(repository, "checkout", "-q", "--detach")
    assert seen(environ, repository).branch == ""


def test_worktrees_and_submodules(
    repository: Path, tmp_path: Path, environ: dict[str, str], git: Callable[..., str]
) -> None:
    git(repository, "worktree", "add", "-q", "-b", "side", str(tmp_path / "tree"))
    tree = tmp_path / "tree"
    (tree / "only here").write_text("")
    assert seen(environ, tree).branch == "side"
    assert seen(environ, tree).changes == ("?? only here",)
    outer = tmp_path / "outer"
    git(tmp_path, "init", "-q", str(outer))
    git(outer, "submodule", "--quiet", "add", str(repository), "sub")
    (outer / "sub" / "a.txt").write_text("changed\n")
    assert seen(environ, outer / "sub").changes == (" M a.txt",)
    assert subjects(seen(environ, outer / "sub")) == ["First"]


def test_the_worktree_of_a_repository_without_one(
    repository: Path, tmp_path: Path, environ: dict[str, str], git: Callable[..., str]
) -> None:
    git(tmp_path, "clone", "-q", "--bare", str(repository), "bare.git")
    git(tmp_path / "bare.git", "worktree", "add", "-q", "-b", "side", str(tmp_path / "tree"))
    found = seen(environ, tmp_path / "tree")
    assert (found.branch, found.default, subjects(found)) == ("side", "main", ["First"])
    assert not found.trouble


def test_a_repository_elsewhere_is_asked_for_with_rev_parse(
    repository: Path, tmp_path: Path, environ: dict[str, str]
) -> None:
    """No `.git` on the way up, but the environment names one."""
    work = tmp_path / "work"
    work.mkdir()
    named = {"GIT_DIR": str(repository / ".git"), "GIT_WORK_TREE": str(work)}
    found = look(Git({**environ, **named}), None, work)
    assert found is not None
    assert found.changes == (" D a.txt",)
    assert look(Git({**environ, **named, "GIT_DIR": str(tmp_path / "none")}), None, work) is None
    outside = tmp_path / "outside"
    outside.mkdir()
    assert look(Git({**environ, **named}), None, outside) is None, "not inside the work tree"


def test_variables_of_the_caller_do_not_lead_elsewhere(
    repository: Path, tmp_path: Path, environ: dict[str, str], git: Callable[..., str]
) -> None:
    """As in a hook of another repository, which has set them."""
    other = tmp_path / "other"
    git(tmp_path, "init", "-q", "-b", "wrong", str(other))
    led = {
        "GIT_DIR": str(other / ".git"),
        "GIT_WORK_TREE": str(other),
        "GIT_INDEX_FILE": str(tmp_path / "nothing"),
        "GIT_OBJECT_DIRECTORY": str(tmp_path / "nothing"),
        "GIT_TRACE": str(tmp_path / "trace"),
    }
    found = seen({**environ, **led}, repository)
    assert (found.branch, found.changes, subjects(found)) == ("main", (), ["First"])
    assert not (tmp_path / "trace").exists()


# Fresh, and asked for as rarely as can be


class Counted(Git):
    def __init__(self, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__(environ)
        self.asked: list[str] = []
        start = GitCommand.start

        def counted(command: GitCommand, *arguments: str, **more: Any) -> Running:
            self.asked.append(arguments[0])
            return start(command, *arguments, **more)

        monkeypatch.setattr(GitCommand, "start", counted)

    def again(self, root: Path) -> tuple[Repository, list[str]]:
        self.asked.clear()
        found = look(self, root)
        assert found is not None
        return found, sorted(self.asked)


def test_the_status_is_fresh_and_the_log_remembered_until_head_moves(
    repository: Path,
    environ: dict[str, str],
    git: Callable[..., str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    git(repository, "config", "core.logAllRefUpdates", "false")
    shutil.rmtree(repository / ".git/logs")  # else git goes on with it
    counted = Counted(environ, monkeypatch)
    _, asked = counted.again(repository)
    assert asked == ["log", "status"]
    (repository / "new").write_text("")
    found, asked = counted.again(repository)
    assert asked == ["status"]
    assert found.changes == ("?? new",)
    assert subjects(found) == ["First"], "what was remembered"
    commit(git, repository, "Second")
    found, asked = counted.again(repository)
    assert "log" in asked
    assert subjects(found) == ["Second", "First"] and found.changes == ()
    git(repository, "reset", "-q", "--soft", "HEAD~1")
    found, _ = counted.again(repository)
    assert subjects(found) == ["First"], "the index is as it was, HEAD is not"
    git(repository, "switch", "-qc", "topic")
    assert counted.again(repository)[0].branch == "topic"


def test_packed_refs_and_worktrees_have_stamps_too(
    repository: Path,
    tmp_path: Path,
    environ: dict[str, str],
    git: Callable[..., str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tree = tmp_path / "tree"
    git(repository, "worktree", "add", "-q", "-b", "side", str(tree))
    git(repository, "pack-refs", "--all")
    counted = Counted(environ, monkeypatch)
    counted.again(tree)
    commit(git, tree, "On the side")
    assert subjects(counted.again(tree)[0]) == ["On the side", "First"]
    assert counted.again(tree)[1] == ["status"]


def test_32_are_remembered_and_the_one_not_used_for_longest_goes(
    repository: Path,
    environ: dict[str, str],
    git: Callable[..., str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counted = Counted(environ, monkeypatch)
    stamp = {"now": 0}
    monkeypatch.setattr(git_state, "stamps", lambda folder: (stamp["now"],))

    def remembers(number: int) -> bool:
        stamp["now"] = number
        return "log" not in counted.again(repository)[1]

    assert MOST_REMEMBERED == 32
    assert not any(remembers(number) for number in range(32))
    assert remembers(0), "32 fit, and this one is the last used now"
    assert not remembers(32)
    assert remembers(0)
    assert not remembers(1), "this one had to go"


# Asked ahead


def test_what_was_asked_ahead_is_not_asked_again(
    repository: Path, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (repository / "new").write_text("")
    counted = Counted(environ, monkeypatch)
    counted.begin(str(repository))
    assert counted.asked == ["status", "log"]
    found, asked = counted.again(repository)
    assert asked == []
    assert (found.changes, subjects(found)) == (("?? new",), ["First"])
    (repository / "newer").write_text("")
    found, asked = counted.again(repository)
    assert asked == ["status"] and found.changes == ("?? new", "?? newer")


def test_what_was_asked_too_long_ago_or_elsewhere_does_not_count(
    repository: Path,
    tmp_path: Path,
    environ: dict[str, str],
    git: Callable[..., str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counted = Counted(environ, monkeypatch)
    git(tmp_path, "init", "-q", str(tmp_path / "other"))
    counted.begin(str(tmp_path / "other"))
    assert counted.again(repository)[1] == ["log", "status"]
    monkeypatch.setattr(git_state, "FRESH", 0.0)
    counted.begin(str(repository))
    (repository / "new").write_text("")
    found, asked = counted.again(repository)
    assert asked == ["status"] and found.changes == ("?? new",)


def test_nothing_is_left_of_what_nobody_wanted_to_know(
    repository: Path, tmp_path: Path, environ: dict[str, str]
) -> None:
    started = tmp_path / "started"
    path = a_program(tmp_path / "bin", NEVER_ENDS.format(str(started)))
    for ends in (Git.end, lambda git: None):
        git = Git({**environ, "PATH": path})
        git.begin(str(repository))
        ends(git)
        del git
        children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()
        assert not any(b"git" in Path(f"/proc/{one}/cmdline").read_bytes() for one in children)


# Trouble

NEVER_ENDS = "import os, time\nopen({!r}, 'a').write(f'{{os.getpid()}}\\n')\ntime.sleep(60)"


def a_program(folder: Path, text: str) -> str:
    folder.mkdir()
    program = folder / "git"
    program.write_text(f"#!{sys.executable}\n{text}")
    program.chmod(0o755)
    return str(folder)


def test_git_that_takes_too_long_is_given_up_and_left_alone(
    repository: Path, tmp_path: Path, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(git_state, "PATIENCE", 0.2)
    started = tmp_path / "started"
    path = a_program(
        tmp_path / "bin",
        NEVER_ENDS.format(str(started)),
    )
    slow = Git({**environ, "PATH": path})
    begun = time.monotonic()
    found = look(slow, repository)
    assert found is not None
    assert (found.trouble, found.branch) == (SLOW, "main")
    assert time.monotonic() - begun < 30
    pids = started.read_text().split() if started.exists() else []
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids), "none is left behind"
    assert look(slow, repository) == found
    assert (started.read_text().split() if started.exists() else []) == pids, "nothing was run"

    monkeypatch.setattr(git_state, "REST", 0.0)
    monkeypatch.setattr(git_state, "PATIENCE", 30.0)
    slow._environ = environ
    again = look(slow, repository)
    assert again is not None and not again.trouble and subjects(again) == ["First"]


def test_a_script_in_place_of_git_is_ended_with_what_it_runs(
    repository: Path, tmp_path: Path, environ: dict[str, str]
) -> None:
    started = tmp_path / "started"
    real = NEVER_ENDS.format(str(started))
    script = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {real!r}])"
    path = a_program(tmp_path / "bin", script)
    git = Git({**environ, "PATH": path})
    git.begin(str(repository))
    until = time.monotonic() + 30
    while len(pids := started.read_text().split() if started.exists() else []) < 2:
        assert time.monotonic() < until
        time.sleep(0.01)
    assert all(map(is_alive, pids))
    git.end()
    while any(is_alive(pid) for pid in pids):
        assert time.monotonic() < until, "it goes on"
        time.sleep(0.01)


def is_alive(pid: str) -> bool:
    """Not so one that nobody has asked for its end."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_without_git_and_in_ruins(
    repository: Path, tmp_path: Path, environ: dict[str, str]
) -> None:
    (tmp_path / "bin").mkdir()
    bare = {**environ, "PATH": str(tmp_path / "bin")}
    assert "not installed" in seen(bare, repository).trouble
    assert look(Git(bare), None, repository) is None
    ruin = tmp_path / "ruin"
    (ruin / ".git").mkdir(parents=True)
    assert seen(environ, ruin).trouble == UNREADABLE


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_repository_of_somebody_else_is_not_read(
    repository: Path, environ: dict[str, str]
) -> None:
    for place in (repository, repository / ".git"):
        os.chown(place, 12345, 12345)
    found = seen(environ, repository)
    assert (found.trouble, found.commits, found.changes) == (UNREADABLE, (), ())
    assert found.branch == "main", "this much is a file that anybody may read"


def test_a_git_in_the_folder_itself_is_not_run(
    repository: Path, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    program = repository / "git"
    program.write_text("#!/bin/sh\ntouch canary\n")
    program.chmod(0o755)
    monkeypatch.chdir(repository)
    found = seen({**environ, "PATH": f".:{os.pathsep}{environ['PATH']}"}, repository)
    assert not found.trouble
    assert not (repository / "canary").exists()


def test_endless_output_is_read_no_further(
    repository: Path, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(git_running, "MOST_BYTES", 1_000)
    for number in range(60):
        (repository / f"{number:03}{'x' * 40}").write_text("")
    found = seen(environ, repository)
    assert found.is_cut and not found.trouble
    assert 0 < len(found.changes) < 60
    assert all(len(change) == len("?? 001") + 40 for change in found.changes), "whole ones only"


def test_a_cancelled_look_leaves_no_process(
    repository: Path, tmp_path: Path, environ: dict[str, str]
) -> None:
    started = tmp_path / "started"
    path = a_program(
        tmp_path / "bin",
        NEVER_ENDS.format(str(started)),
    )

    async def cancelled() -> None:
        looking = asyncio.create_task(
            Git({**environ, "PATH": path}).look(str(repository), str(repository))
        )
        until = time.monotonic() + 20
        while not started.exists() and not looking.done() and time.monotonic() < until:
            await asyncio.sleep(0.01)
        looking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await looking

    asyncio.run(cancelled())
    assert not any(Path(f"/proc/{pid}").exists() for pid in started.read_text().split())
