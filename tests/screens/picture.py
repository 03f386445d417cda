"""A screen as a text and as a picture. The same screen gives the same bytes."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from msgspec import Struct
from pyte.screens import Char

from .screen import Cells, Screen

WIDE, HIGH, SIZE, MARGIN = 8, 17, "13.29px", 10
"""A cell, the size of a font whose characters are as wide, and the margin around all."""
FONTS = "'DejaVu Sans Mono','Menlo','Cascadia Mono','Noto Sans Mono CJK SC',monospace"
GROUNDS = {"dark": ("1b1d1f", "d4d4d4"), "light": ("ffffff", "24292e")}
"""Background and text."""
SIXTEEN = {
    "black": "3b4048", "red": "e06c75", "green": "98c379", "brown": "d19a66", "blue": "61afef",
    "magenta": "c678dd", "cyan": "56b6c2", "white": "abb2bf", "brightblack": "7f848e",
}  # fmt: skip
"""By the names that pyte has for them."""
NONE = "default"


class Shot(Struct, frozen=True):
    text: str
    picture: str


class Run(Struct, frozen=True):
    """Cells of one look, side by side."""

    column: int
    wide: int
    text: str
    char: Char


def shot_of(screen: Screen, ground: str) -> Shot:
    """With what has gone up into the scrollback, without the empty lines below."""
    above = len(screen.history.top)
    rows = [*screen.history.top, *(screen.buffer[n] for n in range(screen.lines))]
    used = max((n for n, row in enumerate(rows, 1) if _text(row, screen.columns)), default=0)
    cursor = screen.cursor
    at = None if cursor.hidden else (above + cursor.y, min(cursor.x, screen.columns - 1))
    rows = rows[: max(used, at[0] + 1 if at else 0)]
    lines = [_text(row, screen.columns) for row in rows]
    place = f"line {at[0] + 1}, column {at[1] + 1}" if at else "hidden"
    up = f"; {above} above the screen" if above else ""
    text = "\n".join([*lines, f"-- cursor: {place}{up}", ""])
    return Shot(text, _svg(rows, screen.columns, GROUNDS[ground], at))


def _text(row: Cells, columns: int) -> str:
    return "".join(row[at].data for at in range(columns)).rstrip()


def _svg(
    rows: list[Cells], columns: int, ground: tuple[str, str], cursor: tuple[int, int] | None
) -> str:
    width, height = columns * WIDE + 2 * MARGIN, len(rows) * HIGH + 2 * MARGIN
    used: set[str] = set()
    body: list[str] = []
    for number, row in enumerate(rows):
        for run in _runs(row, columns):
            body += _drawn(run, MARGIN + number * HIGH, ground, used)
    if cursor is not None:
        x, y = MARGIN + cursor[1] * WIDE, MARGIN + cursor[0] * HIGH
        body.append(f'<rect x="{x}" y="{y}" width="{WIDE}" height="{HIGH}" class="at"/>')
    colours = "".join(f".x{colour}{{fill:#{colour}}}" for colour in sorted(used))
    style = (
        f"text{{font:{SIZE} {FONTS}}}.b{{font-weight:bold}}.i{{font-style:italic}}"
        ".u{text-decoration:underline}.s{text-decoration:line-through}.f{opacity:.6}"
        f".at{{fill:none;stroke:#{ground[1]}}}{colours}"
    )
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'xml:space="preserve">',
        f"<style>{style}</style>",
        f'<rect width="{width}" height="{height}" fill="#{ground[0]}"/>',
        *body,
        "</svg>",
        "",
    ])  # fmt: skip


def _runs(row: Cells, columns: int) -> Iterator[Run]:
    """A wide character stands by itself: fonts differ in how wide it is."""
    start, text = 0, ""
    for at in range(columns):
        char, is_wide = row[at], at + 1 < columns and row[at + 1].data == ""
        if not char.data:
            continue
        if text and (is_wide or _look(char) != _look(row[start])):
            yield Run(start, at - start, text, row[start])
            text = ""
        if is_wide:
            yield Run(at, 2, char.data, char)
        else:
            start = start if text else at
            text += char.data
    if text:
        yield Run(start, columns - start, text, row[start])


def _look(char: Char) -> Char:
    return char._replace(data="")


def _drawn(run: Run, y: int, ground: tuple[str, str], used: set[str]) -> Iterator[str]:
    char = run.char
    front, back = _colour(char.fg, ground[1]), _colour(char.bg, ground[0])
    if char.reverse:
        front, back = back, front
    if back != ground[0]:
        used.add(back)
        x, wide = MARGIN + run.column * WIDE, run.wide * WIDE
        yield f'<rect x="{x}" y="{y}" width="{wide}" height="{HIGH}" class="x{back}"/>'
    text = run.text if char.underscore else run.text.strip()
    if not text:
        return
    before = 0 if char.underscore else len(run.text) - len(run.text.lstrip())
    wide = run.wide if len(text) == len(run.text) else len(text)
    used.add(front)
    names = [f"x{front}"]
    names += ["b"] * char.bold + ["i"] * char.italics + ["u"] * char.underscore
    names += ["s"] * char.strikethrough + ["f"] * char.blink
    x = MARGIN + (run.column + before) * WIDE
    yield (
        f'<text x="{x}" y="{y + 13}" textLength="{wide * WIDE}" class="{" ".join(names)}">'
        f"{escape(text, quote=False)}</text>"
    )


def _colour(name: str, otherwise: str) -> str:
    return otherwise if name == NONE else SIXTEEN.get(name, name)
