"""A list to choose from, narrowed by typing."""

from collections.abc import Callable

from detent.surfaces.tui.dialogs.dialog import Dialog, Row, Rows
from detent.surfaces.tui.drawing.blocks import Look
from detent.surfaces.tui.screen.spans import Span, clipped, painted, wrapped
from detent.surfaces.wording.shown import shown

FEW = 6
"""Rows that need not be narrowed."""
HINT = "enter: choose · esc: leave"


class Listing(Dialog[Row | None]):
    """None: the person left without choosing."""

    def __init__(
        self,
        title: str,
        rows: tuple[Row, ...],
        *,
        moved: Callable[[Row], None] = lambda row: None,
        start: int = 0,
    ) -> None:
        super().__init__()
        self._title, self._all, self._moved = title, rows, moved
        self._typed = ""
        self._rows = Rows(rows)
        self._rows.at = start

    def lines(self, look: Look, height: int) -> list[str]:
        title = [Span(shown(self._title), "strong")]
        if self._typed:
            title.append(Span(f"  {shown(self._typed)}", "faint"))
        head = [painted(row, look.theme) for row in wrapped(title, look.width)]
        found = self._rows.lines(look, max(3, height - 3 - len(head))) or ["  nothing fits"]
        hint = f"type to narrow · {HINT}" if len(self._all) > FEW else HINT
        return [*head, *found, look.theme.paint("faint", clipped(hint, look.width))]

    def press(self, key: str) -> None:
        if key == "escape" and self._typed:
            self._narrow("")
        elif key in ("escape", "ctrl+c", "ctrl+d"):
            self.resolve(None)
        elif key in ("erase", "erase word", "erase all"):
            self._narrow(self._typed[:-1] if key == "erase" else "")
        elif len(key) == 1 and (self._typed or not key.isdecimal()):
            self._narrow(self._typed + key)
        elif self._rows.press(key):
            self.resolve(self._rows.chosen)
        if (row := self._rows.chosen) is not None:
            self._moved(row)

    def paste(self, text: str) -> None:
        self._narrow(self._typed + " ".join(text.split()))

    def _narrow(self, typed: str) -> None:
        self._typed = typed
        words = typed.casefold().split()
        fits = (
            row for row in self._all
            if all(word in f"{row.label} {row.about}".casefold() for word in words)
        )  # fmt: skip
        self._rows = Rows(tuple(fits))
