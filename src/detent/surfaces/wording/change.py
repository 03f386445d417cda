"""What an edit would change, as lines with - and + for somebody who has to decide about it."""

from typing import Any

from detent.surfaces.wording.shown import visible

EDITS = ("old_string", "new_string")
LONGEST = 20_000
"""Characters that are compared: it may take long, and somebody waits."""


def change_lines(tool: str, arguments: dict[str, Any]) -> tuple[list[str], dict[str, Any]]:
    """The lines, and the arguments that they do not show; no lines where they would not show all.
    What stands in both texts is no change: only some of it is shown."""
    lines: list[str] = []
    told: tuple[str, ...] = ()
    if tool == "Write" and isinstance(arguments.get("content"), str):
        lines, told = [f"+{line}" for line in arguments["content"].split("\n")], ("content",)
    elif tool == "Edit" and all(isinstance(arguments.get(key), str) for key in EDITS):
        lines, told = _difference(*(arguments[key] for key in EDITS)), EDITS
    if not lines:
        return [], arguments
    rest = {key: value for key, value in arguments.items() if key not in told}
    return [visible(line) for line in lines], rest


def _difference(old: str, new: str) -> list[str]:
    before, after = (text.split("\n") if text else [] for text in (old, new))
    if len(old) + len(new) > LONGEST:
        return [*(f"-{line}" for line in before), *(f"+{line}" for line in after)]
    from difflib import unified_diff

    _, _, *lines = [*unified_diff(before, after, lineterm="", n=2)] or ("", "")
    return [line for line in lines if not line.startswith("@@")]
