"""A call on one line; failed ones stand open, and edits show what they changed."""

import os
from typing import Any

from detent.surfaces.tables.widths import one_line
from detent.surfaces.tui.blocks import Card
from detent.surfaces.tui.drawing import diff
from detent.surfaces.tui.drawing.amounts import seconds
from detent.surfaces.tui.screen.spans import (
    Span,
    clipped,
    columns,
    middle_cut,
    painted,
    wrapped,
)
from detent.surfaces.tui.screen.themes import Theme
from detent.surfaces.wording.gist import came_to, gist
from detent.surfaces.wording.marks import mark
from detent.surfaces.wording.shown import shown
from detent.types.codec import arguments_object
from detent.types.outcomes import Cut, Done, Failed, Outcome, Refused, text_of

MOST_DIFF, MOST_OPEN = 24, 10
"""Lines under a card; all of them in the transcript."""
PATHS = ("file_path", "notebook_path", "path")
ROLES: dict[type, str] = {Done: "good", Failed: "bad", Refused: "warning", Cut: "warning"}


def drawn(card: Card, width: int, theme: Theme, cwd: str, *, detailed: bool = False) -> list[str]:
    data = getattr(card.outcome, "data", None) or {}
    patch = data.get("structuredPatch")
    hunks = patch if isinstance(patch, list) else []
    lines = [_headline(card, data, hunks, width, theme, cwd)]
    if detailed:
        return [*lines, *_whole(card, hunks, data, width, theme)]
    if isinstance(card.outcome, Done):
        return [*lines, *_of_success(data, hunks, width, theme)]
    return [*lines, *_indented(_opened(card.outcome), width, theme)]


def _of_success(data: dict[str, Any], hunks: list[Any], width: int, theme: Theme) -> list[str]:
    return [f"  {line}" for line in _changes(data, hunks, width - 2, theme, MOST_DIFF)]


def _changes(
    data: dict[str, Any], hunks: list[Any], width: int, theme: Theme, most: int
) -> list[str]:
    if hunks:
        return diff.drawn(hunks, str(data.get("filePath", "")), width, theme, most)
    if data.get("type") == "create" and isinstance(content := data.get("content"), str):
        made = {"oldStart": 1, "newStart": 1, "lines": [f"+{x}" for x in content.splitlines()]}
        return diff.drawn([made], str(data.get("filePath", "")), width, theme, most)
    return []


def _headline(
    card: Card, data: dict[str, Any], hunks: list[Any], width: int, theme: Theme, cwd: str
) -> str:
    sign = theme.paint(ROLES[type(card.outcome)], mark(card.outcome))
    who = f"{one_line(card.agent)}: " if card.agent else ""
    end = one_line(" · ".join(filter(None, (_result(card, data, hunks), _time(card.ms)))))
    room = max(8, width - len(card.name) - columns(end) - len(who) - 6)
    target = middle_cut(subject(card.arguments, cwd), room)
    name = theme.paint("strong", one_line(card.name))
    tail = theme.paint("faint", f" · {end}") if end else ""
    return clipped(f"{sign} {who}{name} {target}".rstrip() + tail, width)


def subject(arguments: str, cwd: str) -> str:
    """What a call is about; files of the folder by their name in it."""
    given = arguments_object(arguments) or {}
    path = next((given[key] for key in PATHS if isinstance(given.get(key), str)), "")
    about = one_line(gist(arguments))
    if path and about.endswith(path) and path.startswith(cwd.rstrip("/") + "/"):
        return about.removesuffix(path) + os.path.relpath(path, cwd)
    return about


def _result(card: Card, data: dict[str, Any], hunks: list[Any]) -> str:
    if hunks:
        added, removed = diff.counted_lines(hunks)
        return f"+{added} -{removed}"
    if data.get("type") == "create" and isinstance(data.get("content"), str):
        return f"new, {len(data['content'].splitlines())} lines"
    if isinstance(card.outcome, Refused):
        return "not permitted"
    if isinstance(card.outcome, Cut):
        return "cut off"
    came = came_to(card.outcome)
    if "exitCode" not in data:
        return came
    ending, _, words = came.partition(" · ")
    return words if data["exitCode"] == 0 else ending


def _time(ms: int) -> str:
    return seconds(ms / 1000) if ms >= 100 else ""


def _opened(outcome: Outcome) -> list[str]:
    """The end of what was printed, or the reason."""
    if isinstance(outcome, Refused):
        return outcome.reason.splitlines()
    lines = [line for line in text_of(outcome).splitlines() if line.strip()]
    if lines and lines[-1].startswith("Exit code ") and lines[-1][10:].isdecimal():
        lines.pop()  # stands in the headline
    left = len(lines) - MOST_OPEN
    return [f"… {left} lines above (ctrl+o shows all)", *lines[-MOST_OPEN:]] if left > 1 else lines


def _whole(
    card: Card, hunks: list[Any], data: dict[str, Any], width: int, theme: Theme
) -> list[str]:
    """For the transcript: every argument, every line of the result."""
    lines = _broken(_arguments(card.arguments), "faint", width, theme)
    changes = _changes(data, hunks, width - 2, theme, 1_000_000)
    if changes:
        return [*lines, *(f"  {line}" for line in changes)]
    return [*lines, *_broken(text_of(card.outcome).splitlines(), "", width, theme)]


def _broken(lines: list[str], role: str, width: int, theme: Theme) -> list[str]:
    """Not cut, however long they are."""
    texts = (Span(shown(line.expandtabs(4)), role) for line in lines)
    rows = (row for text in texts for row in wrapped([text], max(4, width - 2)))
    return [f"  {painted(row, theme)}" for row in rows]


def _arguments(arguments: str) -> list[str]:
    given = arguments_object(arguments)
    if given is None:
        return [shown(arguments)] if arguments else []
    lines = []
    for key, value in given.items():
        first, *others = shown(value if isinstance(value, str) else repr(value)).split("\n")
        lines += [f"{key}: {first}", *(f"  {line}" for line in others)]
    return lines


def _indented(lines: list[str], width: int, theme: Theme) -> list[str]:
    return [
        theme.paint("faint", clipped(f"  {shown(line.expandtabs(4))}", width)) for line in lines
    ]
