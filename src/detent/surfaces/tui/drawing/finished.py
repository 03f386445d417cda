"""The end of a turn: what was changed, what was checked, what it took."""

import os

from detent.surfaces.counting import counted
from detent.surfaces.tables.widths import one_line, width_of
from detent.surfaces.tui.blocks import FileTally, Finished
from detent.surfaces.tui.drawing.amounts import dollars, seconds, tokens
from detent.surfaces.tui.screen.spans import Span, painted, wrapped
from detent.surfaces.tui.screen.themes import Theme
from detent.surfaces.wording.shown import shown

MOST_FILES, MOST_CHECKS = 6, 4
SIGNS = {"made": "A", "changed": "M", "removed": "D"}
ENDINGS = {
    "user_cancelled": "interrupted",
    "max_turns": "ended at its limit of steps",
    "budget_exceeded": "ended at its budget",
    "max_tokens": "cut at the output limit",
    "hook_stopped": "stopped",
    "refusal": "declined by the model",
    "api_error": "the model gave no answer",
    "retries_exhausted": "the model could not be reached",
    "invalid_response": "the model gave no usable answer",
    "prompt_too_long": "too long for the model",
    "blocking_limit": "no room left in the model's window",
}


def drawn(block: Finished, width: int, theme: Theme, cwd: str) -> list[str]:
    parts: list[list[Span]] = []
    ended = block.ended
    if ended.reason != "end_turn":
        words = ENDINGS.get(ended.reason, ended.reason.replace("_", " "))
        parts.append([Span(words, "warning")])
    parts += (_file(file, cwd) for file in block.files[:MOST_FILES])
    if len(block.files) > MOST_FILES:
        more = counted(len(block.files) - MOST_FILES, "more file", "more files")
        parts.append([Span(more, "faint")])
    for check in block.checks[-MOST_CHECKS:]:
        role = "bad" if check.exit_code else "warning" if check.is_stale else "good"
        stale = " (before the last edit)" if check.is_stale else ""
        parts.append([Span(f"{_short(check.command)} → exit {check.exit_code}{stale}", role)])
    parts.append([Span(_took(block), "faint")])
    return [painted(line, theme) for row in _joined(parts, width) for line in wrapped(row, width)]


def _joined(parts: list[list[Span]], width: int) -> list[list[Span]]:
    """As many on a line as there is room for; none is broken that fits on one."""
    rows: list[list[Span]] = []
    for part in parts:
        longer = [*rows[-1], Span(" · ", "faint"), *part] if rows else part
        if rows and sum(width_of(span.text) for span in longer) <= width:
            rows[-1] = longer
        else:
            rows.append(part)
    return rows


def _file(file: FileTally, cwd: str) -> list[Span]:
    inside = file.path.startswith(cwd.rstrip("/") + "/")
    name = one_line(os.path.relpath(file.path, cwd) if inside else file.path)
    spans = [Span(f"{SIGNS[file.what]} {name}")]
    if file.is_counted and file.what != "removed":
        spans += [Span(f" +{file.added}", "added"), Span(f" -{file.removed}", "removed")]
    return spans


def _took(block: Finished) -> str:
    cost = "price unknown" if block.is_unpriced else ""
    if block.dollars is not None and not block.is_unpriced:
        cost = dollars(block.dollars)
    parts = [f"{tokens(block.tokens)} tokens", cost, seconds(block.ended.ms / 1000)]
    return " · ".join(filter(None, parts))


def _short(command: str) -> str:
    line = shown(" ".join(command.split()))
    return line if len(line) <= 40 else f"{line[:39]}…"
