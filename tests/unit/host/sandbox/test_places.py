"""A profile on the disk: what counts, what wins, and what is tidied up."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from detent.host.keeping.landlock import beside
from detent.host.sandbox.bwrap import command
from detent.host.sandbox.places import (
    Look,
    find_places,
    missing_folders,
    settled,
    siblings_changed,
)
from detent.host.sandbox.private import MADE, PREFIX, Private
from detent.host.sandbox.profile import Profile
from detent.host.sandbox.secrets import secret_places


def options(profile: Profile) -> list[str]:
    return list(command("bwrap", find_places(profile, ()), "/private", "/own"))


def at(words: list[str], *wanted: str) -> int:
    found = [i for i in range(len(words)) if words[i : i + len(wanted)] == list(wanted)]
    assert found, f"{wanted} is not in {words}"
    return found[0]


def test_the_nearest_word_about_a_place_is_the_last(tmp_path: Path) -> None:
    """A root in a hidden folder in a root."""
    outer, hidden = tmp_path / "outer", tmp_path / "outer" / "hidden"
    inner, key = hidden / "inner", hidden / "inner" / "key"
    inner.mkdir(parents=True)
    key.touch()
    words = options(Profile(roots=(str(outer), str(inner)), denied_reads=(str(hidden), str(key))))
    order = [
        at(words, "--bind", "/private", "/tmp"),
        at(words, "--bind", str(outer), str(outer)),
        at(words, "--tmpfs", str(hidden)),
        at(words, "--bind", str(inner), str(inner)),
        at(words, "--ro-bind", "/dev/null", str(key)),
        at(words, "--remount-ro", str(hidden)),
    ]
    assert order == sorted(order)


def test_what_is_hidden_is_not_shown_again_by_its_protection(tmp_path: Path) -> None:
    """At home, say, our own folder is both."""
    own, hooks = tmp_path / ".detent", tmp_path / ".git" / "hooks"
    own.mkdir()
    hooks.mkdir(parents=True)
    hidden = (str(own), str(hooks.parent))
    words = options(Profile(roots=(str(tmp_path),), denied_reads=hidden))
    assert at(words, "--tmpfs", str(own)) and at(words, "--tmpfs", str(hooks.parent))
    assert words.count(str(own)) == 2 and str(hooks) not in words


@pytest.mark.parametrize(
    "option",
    [
        "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-net",
        "--disable-userns", "--die-with-parent", "--new-session",
    ],
)  # fmt: skip
def test_what_no_sandbox_goes_without(tmp_path: Path, option: str) -> None:
    words = options(Profile(roots=(str(tmp_path),)))
    assert option in words
    assert at(words, "--cap-drop", "ALL") and at(words, "--remount-ro", "/proc")


def test_everything_as_a_root_comes_before_the_rest(tmp_path: Path) -> None:
    words = options(Profile(roots=("/",)))
    assert at(words, "--bind", "/", "/") < at(words, "--proc", "/proc")
    assert words.count("/") == 2 + 1, "only once, and where we stand"


def test_a_read_only_workspace_stays_in_sight(tmp_path: Path) -> None:
    profile = Profile(roots=(str(tmp_path),), kind="read-only")
    words = options(profile)
    assert at(words, "--ro-bind", str(tmp_path), str(tmp_path))
    assert missing_folders(profile) == []


def test_links_count_as_what_they_lead_to(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    (real / "shared").mkdir(parents=True)
    (real / ".claude").symlink_to("shared")
    (real / ".vscode").symlink_to("/etc")
    link.symlink_to(real)
    places = find_places(settled(Profile(roots=(str(link),))), ())
    assert places.writable == (str(real),)
    assert places.protected == (str(real / "shared"),), "what lies outside is not written anyhow"


def test_a_link_that_came_later_leads_nowhere(tmp_path: Path) -> None:
    work, other = tmp_path / "work", tmp_path / "other"
    for folder in (work / "build", other):
        folder.mkdir(parents=True)
    profile = settled(Profile(roots=(str(work),), writable=(str(work / "build"), str(other))))
    assert find_places(profile, ()).writable == (str(work), str(work / "build"), str(other))
    (work / "build").rmdir()
    (work / "build").symlink_to("/")
    assert find_places(profile, ()).writable == (str(work), str(other))


def test_what_lies_in_a_writable_folder_is_not_mounted_by_its_name(tmp_path: Path) -> None:
    """A command could have put a link there since somebody looked."""
    inner = tmp_path / "deep" / "inner"
    inner.mkdir(parents=True)
    words = options(Profile(roots=(str(tmp_path),), writable=(str(inner),)))
    assert str(tmp_path) in words and str(inner) not in words


def test_what_is_hidden_or_protected_is_not_moved_by_a_folder_above_it(tmp_path: Path) -> None:
    for name in ("work/conf/deep", "work/.vscode/deep", "cache/sub"):
        (tmp_path / name).mkdir(parents=True)
    work, cache = tmp_path / "work", tmp_path / "cache"
    hidden = (str(work / "conf" / "deep"), str(work / ".vscode" / "deep"))
    places = find_places(
        Profile(
            roots=(str(work),),
            writable=(str(cache),),
            denied_reads=hidden,
            protected=(".vscode", str(cache / "sub")),
        ),
        (),
    )
    assert places.protected == (str(cache / "sub"), str(work / ".vscode"))
    assert places.pinned == (str(work / "conf"),), "what is protected stays so"


def test_what_is_protected_in_a_cache_is_so_in_a_read_only_profile_too(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    profile = Profile(
        roots=(), kind="read-only", writable=(str(tmp_path),), protected=(str(inner), ".git")
    )
    assert find_places(profile, ()).protected == (str(inner),)


def test_a_git_folder_elsewhere_is_written_but_for_what_runs(tmp_path: Path) -> None:
    work, git = tmp_path / "work", tmp_path / ".git"
    work.mkdir()
    git.mkdir()
    (git / "config").touch()
    profile = Profile(roots=(str(work),), repositories=(str(git),))
    assert missing_folders(profile) == [
        *(str(work / name) for name in (".detent", ".claude")),
        str(git / "hooks"),
    ]
    (git / "hooks").mkdir()
    places = find_places(profile, ())
    assert places.writable == (str(work), str(git))
    assert places.protected == (str(git / "hooks"), str(git / "config"))
    reading = replace(profile, kind="read-only")
    assert find_places(reading, ()).writable == () and missing_folders(reading) == []


def test_the_file_that_names_a_git_folder_stays(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("gitdir: elsewhere")
    assert find_places(Profile(roots=(str(tmp_path),)), ()).protected == (str(tmp_path / ".git"),)


def test_a_look_is_true_until_a_file_is_replaced(tmp_path: Path) -> None:
    profile = Profile(roots=(str(tmp_path),))
    config, other = tmp_path / ".mcp.json", tmp_path / "other"
    looks = [Look(profile, ())]
    config.write_text("one")
    assert not looks[-1].is_true(profile), "it was not there"
    looks.append(Look(profile, ()))
    config.write_text("two")
    assert looks[-1].is_true(profile), "its text is not looked at"
    assert not looks[-1].is_true(replace(profile))
    other.write_text("three")
    other.rename(config)
    assert not looks[-1].is_true(profile), "moved there"
    for look in looks:
        look.close()


def test_a_new_file_is_not_taken_for_the_one_that_was_removed(tmp_path: Path) -> None:
    """Many disks give it the same number, if they can."""
    profile, config = Profile(roots=(str(tmp_path),)), tmp_path / ".mcp.json"
    config.touch()
    for _ in range(5):
        look = Look(profile, ())
        config.unlink()
        config.touch()
        assert not look.is_true(profile)
        look.close()


def test_what_landlock_lets_be_read(tmp_path: Path) -> None:
    for name in ("home/.ssh", "home/work", "home/.aws/key", "other"):
        (tmp_path / name).mkdir(parents=True)
    home = tmp_path / "home"
    closed = [str(home / ".ssh"), str(home / ".aws" / "key")]
    found = [path for path in beside(closed) if path.startswith(str(tmp_path))]
    assert sorted(found) == [str(home / "work"), str(tmp_path / "other")]
    before = siblings_changed(closed)
    assert siblings_changed(closed) == before
    (home / "new").touch()
    os.utime(home, (1, 1))
    assert siblings_changed(closed) != before


def test_secrets_are_named_in_full() -> None:
    found = secret_places("/home/dev")
    assert "/home/dev/.ssh" in found and "/etc/shadow" in found
    assert all(map(os.path.isabs, found))


class TestPrivate:
    def test_it_is_for_nobody_else_and_goes(self, temporary: Path) -> None:
        private = Private()
        assert os.listdir(temporary) == [], "not before it is needed"
        for folder in (private.scratch, private.temporary, os.path.dirname(private.scratch)):
            assert os.stat(folder).st_mode & 0o777 == 0o700
        private.remove()
        private.remove()
        assert os.listdir(temporary) == []

    def test_only_what_was_made_and_is_empty_is_removed(self, tmp_path: Path) -> None:
        there, made, used = tmp_path / "there", tmp_path / "made", tmp_path / "used"
        there.mkdir()
        private = Private()
        private.make([str(there), str(made), str(used)])
        (used / "file").touch()
        private.remove()
        assert there.is_dir() and not made.exists() and used.is_dir()

    def test_what_somebody_left_is_swept_unless_he_lives(
        self, temporary: Path, tmp_path: Path
    ) -> None:
        alive = Private()
        assert alive.scratch
        left, mount = temporary / f"{PREFIX}left", tmp_path / "mount"
        (left / "tmp").mkdir(parents=True)
        mount.mkdir()
        (tmp_path / "file").touch()
        (left / "lock").touch()
        (left / MADE).write_text(json.dumps([str(mount), str(tmp_path)]))
        (temporary / "somebody-elses").mkdir()
        private = Private()
        assert private.scratch
        assert not left.exists() and not mount.exists() and tmp_path.exists()
        assert os.path.isdir(alive.scratch)
        (temporary / "somebody-elses").rmdir()
        alive.remove()
        private.remove()

    def test_a_link_is_not_swept(self, temporary: Path, tmp_path: Path) -> None:
        (tmp_path / "inner").mkdir(mode=0o755)
        (tmp_path / "lock").touch()
        link = temporary / f"{PREFIX}link"
        link.symlink_to(tmp_path)
        private = Private()
        assert private.scratch and (tmp_path / "inner").stat().st_mode & 0o777 == 0o755
        private.remove()
        link.unlink()
