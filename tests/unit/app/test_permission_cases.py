"""Permission cases: what they are staged on, and what `~` means in them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from detent.app.permissions.cases import run_cases


def case(tool: str, given: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "id": "a", "category": "path", "rules": {}, "mode": "default", "cwd": "/home/dev/app",
        "tool": tool, "input": given, "must": "allow", **more,
    }  # fmt: skip


def decisions(*cases: dict[str, Any], home: str = "") -> list[str]:
    data = "\r\n".join(map(json.dumps, cases)).encode()
    return [result.decision for result in run_cases(data, "cases", home)]


def test_home_is_that_of_the_cases() -> None:
    before = os.environ.get("HOME")
    denied = {"deny": ["Read(~/.ssh/**)"]}
    found = decisions(
        case("Read", {"file_path": "~/app/a"}),
        case("Read", {"file_path": "~/.ssh/id"}, rules=denied),
    )
    assert found == ["allow", "deny"]
    assert os.environ.get("HOME") == before


def test_a_folder_of_one_case_may_be_a_link_in_the_next(tmp_path: Path) -> None:
    inside = case("Read", {"file_path": "a"}, cwd="/home/dev/app/out")
    linked = case("Read", {"file_path": "out/a"}, fs={"symlinks": {"out": "/etc"}})
    assert decisions(inside, linked, inside, home=str(tmp_path)) == ["allow", "ask", "allow"]
    assert list(tmp_path.iterdir()) == []


def test_a_tool_that_is_not_ours_reads_if_its_name_says_so() -> None:
    rules = {"deny": ["Read(secrets/**)"]}
    found = decisions(
        case("LS", {"path": "/home/dev/app/src"}),
        case("LS", {"path": "/etc"}),
        case("LS", {"path": "secrets"}, rules=rules),
        case("Unknown", {"path": "/home/dev/app/src"}),
    )
    assert found == ["allow", "ask", "deny", "ask"]
