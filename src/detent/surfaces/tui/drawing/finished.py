"""The end of a turn: what was changed, what was checked, what it took."""

import os

from detent.surfaces.counting import counted
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
}


def drawn(block: Finished, width: int, theme: Theme, cwd: str) -> list[str]:
    spans: list[Span] = []
    ended = block.ended
    if ended.reason != "end_turn":
        spans.append(Span(ENDINGS.get(ended.reason, ended.reason.replace("_", " ")), "warning"))
    for file in block.files[:MOST_FILES]:
        spans += _apart(spans, *_file(file, cwd))
    if len(block.files) > MOST_FILES:
        more = counted(len(block.files) - MOST_FILES, "more file", "more files")
        spans += _apart(spans, Span(more, "faint"))
    for check in block.checks[-MOST_CHECKS:]:
        role = "bad" if check.exit_code else "warning" if check.is_stale else "good"
        stale = " (before the last edit)" if check.is_stale else ""
        text = f"{_short(check.command)} → exit {check.exit_code}{stale}"
        spans += _apart(spans, Span(text, role))
    spans += _apart(spans, Span(_took(block), "faint"))
    return [painted(line, theme) for line in wrapped(spans, width)]


def _apart(before: list[Span], *spans: Span) -> list[Span]:
    return [Span(" · ", "faint"), *spans] if before else [*spans]


def _file(file: FileTally, cwd: str) -> list[Span]:
    inside = file.path.startswith(cwd.rstrip("/") + "/")
    name = shown(os.path.relpath(file.path, cwd) if inside else file.path).replace("\n", "?")
    spans = [Span(f"{SIGNS[file.what]} {name}")]
    if file.is_counted and file.what != "removed":
        spans += [Span(f" +{file.added}", "added"), Span(f" -{file.removed}", "removed")]
    return spans


def _took(block: Finished) -> str:
    cost = "price unknown" if block.dollars is None else dollars(block.dollars)
    parts = [f"{tokens(block.tokens)} tokens", cost, seconds(block.ended.ms / 1000)]
    return " · ".join(parts)


def _short(command: str) -> str:
    line = shown(" ".join(command.split()))
    return line if len(line) <= 40 else f"{line[:39]}…"
