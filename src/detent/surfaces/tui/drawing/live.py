"""What is at work now: running calls, subagents, things to do, and the one live line."""

from collections.abc import Callable, Sequence

from msgspec import Struct

from detent.surfaces.counting import counted
from detent.surfaces.tables.widths import one_line
from detent.surfaces.tui.drawing import markdown
from detent.surfaces.tui.drawing.amounts import bar, dollars, seconds, tokens
from detent.surfaces.tui.drawing.blocks import Look
from detent.surfaces.tui.drawing.cards import subject
from detent.surfaces.tui.screen.spans import clipped, columns, middle_cut
from detent.surfaces.tui.view import Running, Todo, View, Worker
from detent.surfaces.wording.gist import BOXES
from detent.surfaces.wording.shown import shown
from detent.types.usage import Usage

SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
MOST_TAIL, MOST_CALLS, MOST_WORKERS, MOST_TODOS = 3, 6, 8, 10
LONGEST_OPEN = 4_000
"""Characters of an unfinished block that are drawn again with each frame."""
LONG = 2.0
"""Seconds after which how long it takes is worth telling."""
VERBS = {
    "waiting": "Waiting for the model",
    "thinking": "Thinking",
    "writing": "Writing",
    "calling": "Calling",
    "working": "Working",
    "compacting": "Making room",
    "retrying": "Trying again",
}


class Numbers(Struct, frozen=True):
    """What the session knows and no event tells."""

    dollars: float = 0.0
    is_unpriced: bool = False
    left: str = ""
    """Of a budget."""
    price: Callable[[str, Usage], float | None] = lambda model, usage: None
    """Of tokens, by model."""


def written(view: View, look: Look) -> list[str]:
    """The end of the answer, as far as it came."""
    lines: list[str] = []
    if view.thought and look.shows_thinking:
        thought = shown(view.thought[-400:]).expandtabs(4).split("\n")[-MOST_TAIL:]
        lines += [look.theme.paint("quote", clipped(f"  {line}", look.width)) for line in thought]
    chunk = view.flow.tail
    if chunk is not None:
        if len(chunk.text) > LONGEST_OPEN:
            chunk = type(chunk)(chunk.kind, chunk.text[-LONGEST_OPEN:], chunk.language)
        lines += ([""] if chunk.spaced else []) + markdown.drawn(chunk, look.width, look.theme)
    return lines


def running(calls: Sequence[Running], now: float, look: Look) -> list[str]:
    lines: list[str] = []
    for call in calls[-MOST_CALLS:]:
        took = now - call.begun
        time = f" · {seconds(took)}" if took >= LONG else ""
        name = look.theme.paint("strong", one_line(call.name))
        target = middle_cut(subject(call.arguments, look.cwd), look.width - len(call.name) - 14)
        lines.append(f"{look.theme.paint('accent', '▸')} {name} {target}"
                     + look.theme.paint("faint", time))  # fmt: skip
        lines += _tail(call, look)
    if len(calls) > MOST_CALLS:
        lines.append(look.theme.paint("faint", f"  … and {len(calls) - MOST_CALLS} more calls"))
    return lines


def _tail(call: Running, look: Look) -> list[str]:
    rows = [row for row in shown(call.tail).expandtabs(4).splitlines() if row.strip()]
    if rows and (done := _share(rows[-1])) is not None:
        rows[-1] = f"{bar(done)} {rows[-1]}"
    return [look.theme.paint("faint", clipped(f"  {row}", look.width)) for row in rows[-MOST_TAIL:]]


def _share(text: str) -> float | None:
    """`3 of 12 …`: how much of a known length is done."""
    match text.split()[:3]:
        case [done, "of", whole] if done.isdecimal() and whole.rstrip(",:;").isdecimal():
            return min(1.0, int(done[:15]) / max(1, int(whole.rstrip(",:;")[:15])))
        case _:
            return None


def workers(at_work: Sequence[Worker], numbers: Numbers, now: float, look: Look) -> list[str]:
    lines = []
    for one in at_work[:MOST_WORKERS]:
        parts = [seconds(now - one.begun)]
        if one.calls:
            parts.append(counted(one.calls, "call"))
        if one.usage.total:
            parts.append(f"{tokens(one.usage.total)} tokens")
        if cost := numbers.price(one.model, one.usage):
            parts.append(dollars(cost))
        if one.doing:
            parts.append(one_line(one.doing).replace(f"{look.cwd}/", ""))
        place = " (background)" if one.background else ""
        head = f"{'  ' * (one.depth - 1)}◦ {one_line(one.kind)} {one_line(one.title)}{place}"
        lines.append(
            clipped(head + look.theme.paint("faint", " · " + " · ".join(parts)), look.width)
        )
    if len(at_work) > MOST_WORKERS:
        lines.append(
            look.theme.paint("faint", f"  … and {len(at_work) - MOST_WORKERS} more agents")
        )
    return lines


def todos(items: Sequence[Todo], look: Look) -> list[str]:
    """The part of the list around what is being done."""
    at = next((n for n, item in enumerate(items) if item.status != "completed"), 0)
    first = max(0, min(at - 2, len(items) - MOST_TODOS))
    lines = []
    for item in items[first : first + MOST_TODOS]:
        box = BOXES.get(item.status, "[ ]")
        role = {"completed": "faint", "in_progress": "accent"}.get(item.status, "")
        text = clipped(f"  {box} {one_line(item.text)}", look.width)
        lines.append(look.theme.paint(role, text))
    return lines


def spin(now: float) -> str:
    return SPINNER[int(now * 8) % len(SPINNER)]


def live_line(view: View, numbers: Numbers, now: float, verb: str, look: Look) -> str:
    """One line that says that it lives, what it does, and how to stop it."""
    tally = view.tally
    if tally is None:
        return ""
    what = verb or VERBS[view.phase]
    if view.phase == "calling" and view.forming:
        what = f"Calling {one_line(view.forming)}"
    if view.phase == "retrying" and view.note:
        what = one_line(view.note[:1].upper() + view.note[1:])
    written_tokens = tally.usage.output + tally.written // 4
    read = tally.usage.input + tally.usage.cache_read + tally.usage.cache_write
    parts = [seconds(now - tally.begun), f"↑ {tokens(read)} ↓ {tokens(written_tokens)} tokens"]
    if numbers.dollars or not numbers.is_unpriced:
        parts.append(dollars(numbers.dollars))
    if numbers.left:
        parts.append(numbers.left)
    head = look.theme.paint("accent", f"{spin(now)} {what}…")
    told = _fitting(parts, look.width - columns(head))
    return clipped(head + look.theme.paint("faint", told), look.width)


def _fitting(parts: list[str], room: int) -> str:
    """How to stop it is told in any case, and before that as much as there is room for."""
    while True:
        told = f" ({' · '.join([*parts, 'esc to interrupt'])})"
        if columns(told) <= room or not parts:
            return told
        del parts[1 if len(parts) > 1 else 0]
