"""The git folder of a workspace, and folders that only say that they are one."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from detent.app.repository import git_folder


def git(folder: Path, *words: str) -> None:
    names = {
        f"GIT_{who}_{what}": "x" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
    }
    environ = {**os.environ, **names, "GIT_CONFIG_GLOBAL": os.devnull}
    allowed = ("-c", "protocol.file.allow=always")
    subprocess.run(
        ["git", *allowed, *words], cwd=folder, env=environ, check=True, capture_output=True
    )


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    (folder / "sub" / "deep").mkdir(parents=True)
    git(folder, "init")
    git(folder, "commit", "--allow-empty", "-m", "one")
    return folder


def test_in_the_folder_itself_nothing_else_is_needed(repository: Path) -> None:
    assert git_folder(str(repository)) == ""


def test_above_it(repository: Path) -> None:
    assert git_folder(str(repository / "sub" / "deep")) == str(repository / ".git")


def test_that_of_a_worktree_and_below_one(repository: Path, tmp_path: Path) -> None:
    git(repository, "worktree", "add", "../other")
    (tmp_path / "other" / "sub").mkdir()
    assert git_folder(str(tmp_path / "other")) == str(repository / ".git")
    assert git_folder(str(tmp_path / "other" / "sub")) == str(repository / ".git")


def test_that_of_a_bare_repository(repository: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "--bare", "repository", "bare")
    git(tmp_path / "bare", "worktree", "add", "../other")
    assert git_folder(str(tmp_path / "other")) == str(tmp_path / "bare")


def test_that_of_a_submodule(repository: Path, tmp_path: Path) -> None:
    outer = tmp_path / "outer"
    outer.mkdir()
    git(outer, "init")
    git(outer, "submodule", "add", str(repository), "inner")
    assert git_folder(str(outer / "inner")) == str(outer / ".git" / "modules" / "inner")


def test_without_a_repository(tmp_path: Path) -> None:
    assert git_folder(str(tmp_path)) == ""


def test_a_file_that_the_repository_does_not_know_opens_nothing(
    repository: Path, tmp_path: Path
) -> None:
    git(repository, "worktree", "add", "../other")
    stranger = tmp_path / "stranger"
    stranger.mkdir()
    for named in (".git", ".git/worktrees/other", ".git/worktrees", "sub"):
        (stranger / ".git").write_text(f"gitdir: {repository / named}\n")
        assert git_folder(str(stranger)) == "", named


def test_a_link_opens_nothing(repository: Path, tmp_path: Path) -> None:
    stranger = tmp_path / "stranger"
    stranger.mkdir()
    (stranger / ".git").symlink_to(repository / ".git")
    (stranger / "sub").mkdir()
    assert git_folder(str(stranger)) == git_folder(str(stranger / "sub")) == ""


@pytest.mark.parametrize("part", ["objects", "refs", "HEAD"])
def test_what_does_not_look_like_one_opens_nothing(tmp_path: Path, part: str) -> None:
    """Though it has the file that names the other in turn."""
    victim, work = tmp_path / "victim", tmp_path / "work"
    for folder in (victim / "objects", victim / "refs", victim / "worktrees" / "x", work):
        folder.mkdir(parents=True)
    (victim / "HEAD").write_text("ref: refs/heads/main\n")
    (victim / "worktrees" / "x" / "gitdir").write_text(f"{work}/.git\n")
    (work / ".git").write_text(f"gitdir: {victim}/worktrees/x\n")
    assert git_folder(str(work)) == str(victim)
    (victim / part).rename(victim / "gone")
    assert git_folder(str(work)) == ""


def test_that_of_somebody_else_is_left_alone(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    assert git_folder(str(repository / "sub")) == ""
