"""Which files count as whose. No program is asked, and nothing in a project says who it is."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from detent.app.settings import sources
from detent.app.settings.sources import main_checkout, where_of
from detent.types.errors import BadInput

from .conftest import Disk, texts

ALLOW = {"permissions": {"allow": ["Bash(a:*)"]}}
DENY = {"permissions": {"deny": ["Bash(a:*)"]}}


def git(*words: str, cwd: str) -> None:
    subprocess.run(
        ["git", "-c", "user.name=x", "-c", "user.email=x@x", *words],
        cwd=cwd,
        check=True,
        capture_output=True,
    )


def test_local_settings_lie_at_the_root_of_the_repository(disk: Disk) -> None:
    git("init", cwd=disk.cwd)
    disk.put("work/.detent/settings.local.json", {"model": "root"})
    disk.put("work/.claude/settings.json", {"effortLevel": "high"})
    below = disk.root / "work" / "a" / "b"
    below.mkdir(parents=True)
    disk.put("work/a/b/.claude/settings.local.json", {"model": "below"})
    disk.cwd = str(below)
    merged = disk.merged()
    assert merged.model == "root"
    assert merged.effort == "", "the project's are read where the session begins only"


def test_a_worktree_has_the_local_settings_of_its_repository(disk: Disk) -> None:
    git("init", cwd=disk.cwd)
    git("commit", "--allow-empty", "-m", "x", cwd=disk.cwd)
    git("worktree", "add", "../tree", cwd=disk.cwd)
    disk.put("work/.claude/settings.local.json", {"model": "shared"})
    (disk.root / "tree" / "below").mkdir()
    disk.cwd = str(disk.root / "tree" / "below")
    assert disk.merged().model == "shared"


def test_a_worktree_of_a_repository_without_a_checkout_stands_alone(disk: Disk) -> None:
    git("init", cwd=disk.cwd)
    git("commit", "--allow-empty", "-m", "x", cwd=disk.cwd)
    git("clone", "--bare", disk.cwd, "../bare.git", cwd=disk.cwd)
    git("worktree", "add", "../tree", cwd=str(disk.root / "bare.git"))
    tree = str(disk.root / "tree")
    assert main_checkout(tree) == tree


def forged(disk: Disk, gitdir: str) -> str:
    """A folder that says it is a worktree of the repository `work`."""
    git("init", cwd=disk.cwd)
    evil = disk.root / "evil"
    evil.mkdir()
    (evil / ".git").write_text(f"gitdir: {gitdir}\n")
    return str(evil)


def test_a_forged_worktree_is_none(disk: Disk) -> None:
    evil = forged(disk, f"{disk.cwd}/.git/worktrees/evil")
    assert main_checkout(evil) == evil


def test_a_forged_worktree_with_data_of_its_own_leads_nowhere_else(disk: Disk) -> None:
    """CVE-2026-40068: `commondir` inside the project pointed at a repository that was trusted."""
    evil = forged(disk, "fake/worktrees/evil")
    entry = Path(evil) / "fake" / "worktrees" / "evil"
    entry.mkdir(parents=True)
    (entry / "gitdir").write_text(f"{evil}/.git\n")
    (entry / "commondir").write_text(f"{disk.cwd}/.git\n")
    assert main_checkout(evil) == evil


@pytest.mark.parametrize("text", ["", "gitdir:", "gitdir: ../work/.git", "x", "gitdir: /\0"])
def test_a_git_file_of_any_content_does_no_harm(disk: Disk, text: str) -> None:
    evil = forged(disk, "x")
    (Path(evil) / ".git").write_text(text)
    assert main_checkout(evil) == evil


def test_a_variable_moves_the_users_files_of_the_other_program(disk: Disk) -> None:
    disk.put("elsewhere/settings.json", {"model": "moved"})
    disk.put("home/.claude/settings.json", {"model": "usual"})
    assert disk.merged().model == "usual"
    disk.environ["CLAUDE_CONFIG_DIR"] = str(disk.root / "elsewhere")
    assert disk.merged().model == "moved"


@pytest.mark.parametrize("variable", ["DETENT_HOME", "CLAUDE_CONFIG_DIR"])
def test_a_users_folder_inside_the_project_is_the_projects(disk: Disk, variable: str) -> None:
    """Whoever wrote the project may have written it, and whatever set the variable."""
    disk.put("work/conf/settings.json", {**ALLOW, "apiKeyHelper": "steal"})
    disk.put("work/conf/trust.json", "{}")
    (disk.root / "link").symlink_to(disk.root / "work" / "conf")
    for folder in (f"{disk.cwd}/conf", str(disk.root / "link")):
        disk.environ[variable] = folder
        merged = disk.settled()
        assert (merged.allow, merged.key_helper) == ((), "")
        assert any("apiKeyHelper" in notice for notice in merged.notices)


def test_in_the_home_folder_the_users_files_stay_the_users(disk: Disk) -> None:
    disk.put("home/.claude/settings.json", ALLOW)
    disk.put("home/.detent/settings.json", {"model": "mine"})
    disk.cwd = disk.environ["HOME"]
    disk.environ["DETENT_HOME"] = f"{disk.cwd}/.detent"
    merged = disk.settled()
    assert texts(merged.allow) == ("Bash(a:*)",) and merged.model == "mine"
    assert not merged.notices


def test_no_dotenv_file_of_a_project_is_read(disk: Disk) -> None:
    """CVE-2025-61260: a project's `.env` moved the folder of the settings."""
    disk.put("work/conf/settings.json", ALLOW)
    names = ("DETENT_HOME", "CLAUDE_CONFIG_DIR", "HOME", "ANTHROPIC_BASE_URL")
    disk.put("work/.env", "".join(f"{name}={disk.cwd}/conf\n" for name in names))
    assert where_of(disk.cwd, disk.environ).home == disk.environ["DETENT_HOME"]
    assert not disk.settled().allow


def test_a_pipe_in_place_of_a_file_does_not_hang(disk: Disk) -> None:
    folder = disk.root / "work" / ".claude"
    folder.mkdir()
    os.mkfifo(folder / "settings.json")
    with pytest.raises(BadInput, match="it is not a file"):
        disk.merged()


def test_a_file_too_large_is_refused(disk: Disk) -> None:
    disk.put("work/.claude/settings.json", "{}" + " " * 2 * 1024 * 1024)
    with pytest.raises(BadInput, match="larger than 2 MiB"):
        disk.merged()


def test_reading_settings_starts_no_program(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    """CVE-2025-59828: a tool of the project ran before the question of trust."""
    git("init", cwd=disk.cwd)
    disk.put("work/.claude/settings.json", {**ALLOW, **DENY})

    def caught(*given: object, **more: object) -> None:
        raise AssertionError(f"a program was started: {given}")

    for name in ("Popen", "run", "check_output"):
        monkeypatch.setattr(subprocess, name, caught)
    monkeypatch.setattr(os, "posix_spawn", caught)
    monkeypatch.setattr(os, "system", caught)
    disk.settled()


def test_a_home_that_was_moved_into_a_repository_came_with_it(
    disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As jobs do that build what others wrote (HOME=$WORKSPACE)."""
    disk.put("work/.detent/settings.json", {**ALLOW, "apiKeyHelper": "steal"})
    disk.put("work/.detent/trust.json", "{}")
    disk.put("work/.claude/settings.json", ALLOW)
    (disk.root / "work" / ".git").mkdir()
    disk.environ = {"HOME": disk.cwd}
    merged = disk.settled()
    assert (merged.allow, merged.key_helper) == ((), "") and merged.notices
    disk.environ["HOME"] = f"{disk.cwd}/below"
    assert not disk.where.is_ours and not disk.where.is_theirs_ours
    monkeypatch.setattr(sources, "is_account_home", lambda folder: folder == disk.cwd)
    disk.environ["HOME"] = disk.cwd
    assert texts(disk.settled().allow)[0] == "Bash(a:*)", "who keeps a home in git is at home"


def test_what_lies_below_a_folder_that_others_can_write_is_doubted(disk: Disk) -> None:
    disk.environ["DETENT_HOME"] = str(disk.root / "shared" / "mine")
    disk.put("shared/mine/settings.json", ALLOW)
    os.chmod(disk.root / "shared", 0o777)
    merged = disk.settled()
    assert merged.allow == () and str(disk.root / "shared") in merged.notices[0]
    os.chmod(disk.root / "shared", 0o1777)
    assert texts(disk.settled().allow) == ("Bash(a:*)",), "nobody else can rename it there"


def test_a_link_is_doubted_for_where_it_leads(disk: Disk) -> None:
    disk.put("shared/settings.json", ALLOW)
    (disk.root / "state" / "settings.json").symlink_to(disk.root / "shared" / "settings.json")
    os.chmod(disk.root / "shared", 0o777)
    assert disk.settled().allow == ()
    os.chmod(disk.root / "shared", 0o755)
    assert texts(disk.settled().allow) == ("Bash(a:*)",)
