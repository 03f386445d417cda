"""What an edit that waits for a yes would do to its file, as hunks."""

import os
from typing import Any

LARGEST = 1_000_000
"""Bytes of a file that is compared: somebody waits."""


def hunks_of(tool: str, arguments: dict[str, Any], cwd: str) -> list[dict[str, Any]]:
    """None where it would not show all of the change."""
    path = arguments.get("file_path")
    if not isinstance(path, str):
        return []
    before = _content(os.path.join(cwd, path))
    after = _changed(tool, arguments, before)
    return [] if before is None or after is None else compared(before, after)


def compared(before: str, after: str) -> list[dict[str, Any]]:
    from difflib import SequenceMatcher

    old, new = before.split("\n"), after.split("\n")
    if len(old) * len(new) > 4_000_000:
        return []
    found = []
    for group in SequenceMatcher(None, old, new).get_grouped_opcodes(3):
        lines: list[str] = []
        for what, left, right, start, end in group:
            if what == "equal":
                lines += (f" {line}" for line in old[left:right])
                continue
            lines += (f"-{line}" for line in old[left:right])
            lines += (f"+{line}" for line in new[start:end])
        found.append({"oldStart": group[0][1] + 1, "newStart": group[0][3] + 1, "lines": lines})
    return found


def _changed(tool: str, arguments: dict[str, Any], before: str | None) -> str | None:
    if before is None:
        return None
    if tool == "Write":
        content = arguments.get("content")
        return content if isinstance(content, str) else None
    edits = (
        [arguments] if tool == "Edit" else arguments.get("edits") if tool == "MultiEdit" else None
    )
    for edit in edits or ():
        old, new = edit.get("old_string"), edit.get("new_string")
        if not isinstance(old, str) or not isinstance(new, str) or (old and old not in before):
            return None
        before = before.replace(old, new, -1 if edit.get("replace_all") else 1) if old else new
    return before if edits else None


def _content(path: str) -> str | None:
    """Empty for one that is not there yet."""
    try:
        if not os.path.exists(path):
            return ""
        if not os.path.isfile(path) or os.path.getsize(path) > LARGEST:
            return None
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError):
        return None
