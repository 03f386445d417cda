"""What a call did to files, in words and as a diff."""

import os
from collections.abc import Callable

from detent.types.files import Change, FileState

Bytes = Callable[[str], bytes | None]
"""The bytes of a digest; None where they are not kept, or not any more."""
LARGEST = 256 * 1024
"""Bytes of a file of which a diff is still made."""


def in_words(change: Change, cwd: str) -> str:
    before, after = change.before, change.after
    path = _nearer(change.path, cwd)
    if before.kind == "none":
        return f"made {path}"
    if after.kind == "none":
        return f"removed {path}"
    if before.kind != after.kind:
        return f"made a {after.kind} of {path}, which was a {before.kind}"
    if (before.digest, before.size, before.target) == (after.digest, after.size, after.target):
        return f"changed the mode of {path} to {after.mode:o}"
    return f"changed {path}"


def diff_of(change: Change, cwd: str, read: Bytes) -> str:
    """Empty where there is nothing to compare, or nothing that people read."""
    from difflib import unified_diff

    before, after = _text(change.before, read), _text(change.after, read)
    if before is None or after is None or before == after:
        return ""
    path = _nearer(change.path, cwd)
    lines = unified_diff(_lines(before), _lines(after), path, path, lineterm="", n=3)
    return "\n".join(lines)


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    if lines[-1]:
        lines[-1] += "\n\\ No newline at end of file"
    else:
        lines.pop()
    return lines


def _text(state: FileState, read: Bytes) -> str | None:
    if state.kind == "none":
        return ""
    if state.kind != "file" or not state.digest or state.size > LARGEST:
        return None
    data = read(state.digest)
    try:
        return None if data is None or b"\0" in data else data.decode()
    except UnicodeDecodeError:
        return None


def _nearer(path: str, cwd: str) -> str:
    return path[len(cwd) + 1 :] if cwd and path.startswith(cwd.rstrip(os.sep) + os.sep) else path
