"""A profile on the disk: what counts, what wins, and what is tidied up."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from detent.host.keeping.landlock import beside
from detent.host.sandbox.bwrap import command
from detent.host.sandbox.places import find_places, missing_folders
from detent.host.sandbox.private import MADE, PREFIX, Private
from detent.host.sandbox.profile import Profile
from detent.host.sandbox.secrets import secret_places
from detent.host.sandbox.siblings import siblings_changed


def options(profile: Profile, tmp_path: Path, **more: bool) -> list[str]:
    places = find_places(profile, ())
    return list(
        command("bwrap", places, "/private", "/own", has_network=more.get("network", False))
    )


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
    words = options(
        Profile(roots=(str(outer), str(inner)), denied_reads=(str(hidden), str(key))), tmp_path
    )
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
    words = options(Profile(roots=(str(tmp_path),), denied_reads=hidden), tmp_path)
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
    words = options(Profile(roots=(str(tmp_path),)), tmp_path)
    assert option in words
    assert at(words, "--cap-drop", "ALL") and at(words, "--remount-ro", "/proc")
    shared = options(Profile(roots=(str(tmp_path),)), tmp_path, network=True)
    assert (option in shared) == (option != "--unshare-net")


def test_everything_as_a_root_comes_before_the_rest(tmp_path: Path) -> None:
    words = options(Profile(roots=("/",)), tmp_path)
    assert at(words, "--bind", "/", "/") < at(words, "--proc", "/proc")
    assert words.count("/") == 2 + 1, "only once, and where we stand"


def test_a_read_only_workspace_stays_in_sight(tmp_path: Path) -> None:
    profile = Profile(roots=(str(tmp_path),), kind="read-only")
    words = options(profile, tmp_path)
    assert at(words, "--ro-bind", str(tmp_path), str(tmp_path))
    assert missing_folders(profile) == []


def test_links_count_as_what_they_lead_to(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    (real / "shared").mkdir(parents=True)
    (real / ".claude").symlink_to("shared")
    (real / ".vscode").symlink_to("/etc")
    link.symlink_to(real)
    places = find_places(Profile(roots=(str(link),)), ())
    assert places.writable == (str(real),)
    assert places.protected == (str(real / "shared"),), "what lies outside is not written anyhow"


def test_places_differ_when_a_file_is_replaced(tmp_path: Path) -> None:
    profile = Profile(roots=(str(tmp_path),))
    config = tmp_path / ".mcp.json"
    seen = [find_places(profile, ())]
    config.write_text("one")
    seen.append(find_places(profile, ()))
    config.write_text("two")
    assert find_places(profile, ()) == seen[-1], "its text is not looked at"
    (tmp_path / "other").write_text("three")
    (tmp_path / "other").rename(config)
    seen.append(find_places(profile, ()))
    assert len(set(seen)) == 3


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
