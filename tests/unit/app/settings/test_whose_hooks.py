"""Whose hooks run."""

from __future__ import annotations

from typing import Any

import pytest

from .conftest import Disk

FILES = {
    "user": "state/settings.json",
    "project": "work/.claude/settings.json",
    "managed": "etc/managed-settings.json",
}


def hook(command: str) -> dict[str, Any]:
    return {"Stop": [{"hooks": [{"type": "command", "command": command}]}]}


def commands(disk: Disk, *, trusted: bool = True, **more: Any) -> set[str]:
    """Of hooks in all three files, with this added to one of them."""
    for level, place in FILES.items():
        disk.put(place, {"hooks": hook(level), **more.get(level, {})})
    return {entry.command for entry in disk.merged(trusted=trusted).hooks}


def test_hooks_of_all_files_count_once_the_project_is_trusted(disk: Disk) -> None:
    assert commands(disk) == {"user", "project", "managed"}
    assert commands(disk, trusted=False) == {"user", "managed"}
    (notice,) = disk.merged(trusted=False).notices
    assert "hooks ignored until you trust it" in notice


@pytest.mark.parametrize(
    ("more", "left"),
    [
        ({"managed": {"disableAllHooks": True}}, set()),
        ({"managed": {"allowManagedHooksOnly": True}}, {"managed"}),
        ({"user": {"disableAllHooks": True}}, {"managed"}),
        ({"user": {"allowManagedHooksOnly": True}}, {"user", "project", "managed"}),
        ({"project": {"disableAllHooks": True}}, {"user", "project", "managed"}),
    ],
)
def test_who_can_switch_them_off(disk: Disk, more: Any, left: set[str]) -> None:
    assert commands(disk, **more) == left
