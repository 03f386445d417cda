"""Finished blocks as lines of the scrollback."""

from typing import assert_never

from msgspec import Struct

from detent.surfaces.counting import counted
from detent.surfaces.tui.blocks import Block, Card, Finished, Output, Prose, Said, Thought, Told
from detent.surfaces.tui.drawing import cards, finished, flow, markdown
from detent.surfaces.tui.drawing.amounts import seconds
from detent.surfaces.tui.screen.spans import Span, painted, wrapped
from detent.surfaces.tui.screen.themes import Theme
from detent.surfaces.wording.shown import shown

MOST_SAID = 40
"""Lines of a prompt that are shown again."""
LEVELS = {"info": ("·", "faint"), "warning": ("!", "warning"), "error": ("✗", "bad")}


class Look(Struct, frozen=True):
    """What drawing goes by."""

    width: int
    theme: Theme
    cwd: str = ""
    detailed: bool = False
    """Everything, as the transcript shows it."""
    shows_thinking: bool = False


def is_apart(before: Block | None, block: Block) -> bool:
    """Whether a blank line goes between."""
    if before is None or (isinstance(before, Card) and isinstance(block, Card)):
        return False
    if isinstance(before, Prose) and isinstance(block, Prose):
        return block.chunk.spaced
    return not (isinstance(before, Told) and isinstance(block, Told))


def drawn(block: Block, look: Look) -> list[str]:
    theme, width = look.theme, look.width
    match block:
        case Said():
            return _said(block, look)
        case Prose(chunk=chunk):
            return markdown.drawn(chunk, width, theme)
        case Thought():
            return _thought(block, look)
        case Card():
            return cards.drawn(block, width, theme, look.cwd, detailed=look.detailed)
        case Told(text=text, level=level):
            sign, role = LEVELS.get(level, LEVELS["info"])
            return _hanging(f"{sign} ", text, role, look)
        case Output():
            return _output(block, look)
        case Finished():
            return finished.drawn(block, width, theme, look.cwd)
        case never:
            assert_never(never)


def _said(block: Said, look: Look) -> list[str]:
    lines = shown(block.text).expandtabs(4).split("\n")
    left = len(lines) - MOST_SAID
    if left > 0 and not look.detailed:
        lines = [*lines[:MOST_SAID], f"… {counted(left, 'more line')}"]
    if block.attached:
        lines.append(f"(with {counted(block.attached, 'attachment')})")
    sign = "+ " if block.steered else "❯ "
    return _hanging(sign, "\n".join(lines), "prompt", look)


def _thought(block: Thought, look: Look) -> list[str]:
    took = f" for {seconds(block.seconds)}" if block.seconds >= 1 else ""
    head = look.theme.paint("faint", f"∴ Thought{took}")
    if not (look.detailed or look.shows_thinking):
        return [head]
    return [head, *_hanging("  ", block.text, "quote", look)]


def _output(block: Output, look: Look) -> list[str]:
    lines = _hanging("❯ ", block.title, "prompt", look) if block.title else []
    if block.is_markdown:
        state, chunks = flow.feed(flow.Flow(), block.text)
        _, rest = flow.end(state)
        for chunk in (*chunks, *rest):
            lines += ([""] if chunk.spaced else []) + markdown.drawn(chunk, look.width, look.theme)
        return lines
    text = shown(block.text.expandtabs(4))
    role = "bad" if block.is_error else ""
    rows = text.splitlines()
    if block.is_diff:
        return [*lines, *(look.theme.paint(_side(row), row) for row in rows)]
    return [*lines, *(look.theme.paint(role, row) for row in rows)]


def _side(row: str) -> str:
    """Of a unified diff."""
    if row.startswith(("+++", "---", "diff ")):
        return "strong"
    return {"+": "added", "-": "removed", "@": "accent"}.get(row[:1], "")


def _hanging(sign: str, text: str, role: str, look: Look) -> list[str]:
    """Further lines stand below the first, not below the sign."""
    rows = wrapped([Span(shown(text).expandtabs(4), role)], max(4, look.width - len(sign)))
    lines = [painted(row, look.theme) for row in rows]
    first = look.theme.paint(role, sign)
    return [(first if number == 0 else " " * len(sign)) + line for number, line in enumerate(lines)]
