"""The text that is being typed, as lines with a cursor."""

from detent.surfaces.tables.widths import width_of
from detent.surfaces.tui.screen.themes import Theme
from detent.surfaces.wording.shown import UNSEEN

SIGN = "❯ "
ROLES = {"!": "warning", "#": "accent"}
"""What a prompt is that begins so: for the shell, for memory."""
SHORT = 4_000
"""Characters that are laid out as a whole."""
PLACEHOLDER = "Describe a task · / commands · @ files · ? keys"


def drawn(
    text: str, cursor: int, width: int, most: int, theme: Theme, *, hint: str = PLACEHOLDER
) -> tuple[list[str], tuple[int, int]]:
    """At most so many lines, those around the cursor; and where that stands in them."""
    role = ROLES.get(text[:1], "")
    sign = theme.paint(role or "prompt", SIGN)
    room = max(2, width - len(SIGN) - 1)
    start, near = _near(text, cursor, room * most)
    rows, at = _broken(near, cursor - start, room)
    first = max(0, min(at[0] - most // 2, len(rows) - most))
    lines = []
    for number, row in enumerate(rows[first : first + most], first):
        margin = sign if number == 0 and not start else " " * len(SIGN)
        lines.append(margin + theme.paint(role, row))
    if not text:
        lines = [sign + theme.paint("faint", hint)]
    return lines, (at[0] - first, at[1] + len(SIGN))


def _near(text: str, cursor: int, most: int) -> tuple[int, str]:
    """The part around the cursor that may be seen, from the beginning of a line on where one is
    near; and where that begins. A long text does not make a key slow."""
    if len(text) <= SHORT:
        return 0, text
    start = max(0, cursor - most)
    if start and (line := text.find("\n", start, cursor)) >= 0:
        start = line + 1
    return start, text[start : cursor + most]


def _broken(text: str, cursor: int, room: int) -> tuple[list[str], tuple[int, int]]:
    rows, taken = [""], 0
    at = (0, 0)
    for number, char in enumerate(text):
        if number == cursor:
            at = (len(rows) - 1, taken)
        if char == "\n":
            rows.append("")
            taken = 0
            continue
        char = "    " if char == "\t" else _seen(char)
        wide = width_of(char)
        if taken + wide > room:
            rows.append("")
            taken = 0
            if number == cursor:
                at = (len(rows) - 1, 0)
        rows[-1] += char
        taken += wide
    if cursor >= len(text):
        at = (len(rows) - 1, taken)
    return rows, at


def _seen(char: str) -> str:
    """What a terminal would obey is shown as a dot: it is there, and it is sent as it is."""
    return "·" if not char.isascii() and any(ord(char) in part for part in UNSEEN) else (
        char if char.isprintable() else "·"
    )  # fmt: skip
