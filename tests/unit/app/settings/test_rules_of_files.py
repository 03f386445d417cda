"""Rules of settings files: each knows where it stands, and a fault never widens anything."""

from __future__ import annotations

import json
from typing import Any

import pytest

from detent.gate.terms import Origin
from detent.types.errors import BadInput

from .conftest import Disk, texts


def test_a_rule_knows_its_level_file_line_and_folder(disk: Disk) -> None:
    text = '{\n "permissions": {\n  "allow": ["Bash(a)",\n   "Bash(a)"]\n }\n}'
    cwd, home, state = disk.cwd, disk.environ["HOME"], disk.environ["DETENT_HOME"]
    levels = {
        "home/.claude/settings.json": ("user", f"{home}/.claude"),
        "state/settings.json": ("user", state),
        "work/.detent/settings.json": ("project", cwd),
        "work/.claude/settings.local.json": ("local", cwd),
        "etc/managed-settings.json": ("managed", str(disk.root / "etc")),
    }
    for place, (level, folder) in levels.items():
        path = disk.put(place, text)
        first, second = disk.merged().allow
        assert first.origin == Origin(level, path, 3, folder)
        assert second.origin == Origin(level, path, 4, folder)
        disk.put(place, "")


def test_of_a_key_that_stands_twice_the_last_one_counts(disk: Disk) -> None:
    first = '{"permissions": {"allow": ["Bash(a)"]},'
    disk.put("state/settings.json", f'{first}\n"permissions": {{"allow": ["Bash(b)"]}}}}')
    (rule,) = disk.merged().allow
    assert (rule.text, rule.origin.line) == ("Bash(b)", 2)


def test_rules_of_the_command_line_lie_where_the_session_began(disk: Disk) -> None:
    (rule,) = disk.merged(extra={"permissions": {"deny": ["Bash(a)"]}}).deny
    assert (rule.origin.scope, rule.origin.folder) == ("flag", disk.cwd)


def test_rules_of_a_file_that_the_command_line_names(disk: Disk) -> None:
    path = disk.put("home/mine.json", '{"permissions": {"deny": [\n"Bash(a)"]}}')
    (rule,) = disk.merged(extra=path).deny
    assert rule.origin == Origin("flag", path, 2, disk.environ["HOME"])
    with pytest.raises(BadInput, match=r"--settings: cannot read .*absent\.json"):
        disk.merged(extra=f"{path}.absent.json")


@pytest.mark.parametrize("entry", ["Bash(", 5, None, ["Bash"]])
def test_an_allow_entry_that_cannot_be_read_is_dropped_and_named(disk: Disk, entry: Any) -> None:
    values = {"permissions": {"allow": ["Bash(a)", entry, "Bash(b)"]}}
    path = disk.put("state/settings.json", values)
    merged = disk.merged()
    assert texts(merged.allow) == ("Bash(a)", "Bash(b)")
    (notice,) = merged.notices
    assert notice.startswith(f"{path}:1: ") and "ignored" in notice


@pytest.mark.parametrize("kind", ["deny", "ask"])
@pytest.mark.parametrize("entry", ["Bash(", 5])
@pytest.mark.parametrize("place", ["state/settings.json", "work/.claude/settings.json"])
def test_a_restriction_that_cannot_be_read_stops_the_start(
    disk: Disk, kind: str, entry: Any, place: str
) -> None:
    """Going on without it would widen."""
    listed = json.dumps(["Bash(a)", entry], indent=1)
    text = f'{{"permissions": {{"{kind}": {listed}}}}}'
    path = disk.put(place, text)
    with pytest.raises(BadInput) as caught:
        disk.merged(trusted=False)
    assert str(caught.value).startswith(f"{path}:3: permissions.{kind}")


@pytest.mark.parametrize("kind", ["allow", "ask", "deny"])
def test_a_rule_for_a_tool_that_nobody_knows_is_told(disk: Disk, kind: str) -> None:
    """Always where it should restrict; where it should permit it does no harm, and is a hint."""
    path = disk.put("state/settings.json", {"permissions": {kind: ["Bsah(rm *)"]}})
    merged = disk.merged()
    assert texts(getattr(merged, kind)) == ("Bsah(rm *)",)
    told, silent = merged.notices, merged.hints
    (note,), others = (silent, told) if kind == "allow" else (told, silent)
    assert note.startswith(f"{path}:1: ") and "did you mean Bash?" in note and not others


def test_an_allow_rule_without_effect_is_a_hint(disk: Disk) -> None:
    path = disk.put("state/settings.json", {"permissions": {"allow": ["Write(a/**)"]}})
    (hint,) = disk.merged().hints
    assert hint.startswith(f"{path}:1: ") and "write Edit(a/**)" in hint


def test_an_unknown_key_is_a_hint_with_the_nearest_one(disk: Disk) -> None:
    path = disk.put("state/settings.json", {"permisions": {"deny": ["Bash"]}, "zzzz": 1})
    merged = disk.merged()
    assert not merged.notices
    assert merged.hints == (
        f"{path}: unknown setting permisions; did you mean permissions?",
        f"{path}: unknown setting zzzz",
    )


@pytest.mark.parametrize("key", ["statusLine", "language", "$schema", "env", "enabledPlugins"])
def test_keys_of_the_ecosystem_are_known(disk: Disk, key: str) -> None:
    disk.put("state/settings.json", {key: {}})
    assert not disk.merged().hints
