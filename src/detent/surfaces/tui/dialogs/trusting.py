"""Whether this folder's files may do what they ask for. Nothing of them counts before."""

from collections.abc import Callable
from typing import Literal

from detent.sdk.trust import WouldRun
from detent.surfaces.tables.trust_table import lines as told
from detent.surfaces.tui.dialogs.dialog import Dialog, Row, Rows
from detent.surfaces.tui.drawing.blocks import Look
from detent.surfaces.tui.screen.spans import Span, clipped, painted, wrapped
from detent.surfaces.wording.shown import visible

Choice = Literal["for good", "this time", "no"]


class TrustDialog(Dialog[Choice]):
    comes_unasked = True

    def __init__(
        self, found: WouldRun, show: Callable[[list[str]], None] = lambda lines: None
    ) -> None:
        """`show` puts into the scrollback what has no room here: nobody trusts what is not seen."""
        super().__init__()
        self._found, self._show = found, show
        self._shown_for = 0
        self._rows = Rows((
            Row("Trust it, until one of these files asks for something else", value="for good"),
            Row("Trust it this time", value="this time"),
            Row("Do not trust it", "its rules that hold back still count", "no"),
        ))  # fmt: skip
        self._rows.at = 2

    def press(self, key: str) -> None:
        if key in ("escape", "ctrl+c"):
            self.resolve("no")
        elif self._rows.press(key) and self._rows.chosen is not None:
            self.resolve(self._rows.chosen.value)

    def lines(self, look: Look, height: int) -> list[str]:
        head = look.theme.paint("asking", f"Trust the files of {visible(self._found.root)}?")
        rows = self._rows.lines(look, 5)
        about = [row for line in told(self._found) for row in _whole(line, look)]
        most = max(2, height - len(rows) - 3)
        if len(about) > most:
            if self._shown_for != look.width:
                self._shown_for = look.width
                self._show(about)
            left = len(about) - most + 1
            about = [*about[: most - 1], f"  … {left} more lines: all of it stands above"]
        return [clipped(head, look.width), *about, "", *rows]


def _whole(line: str, look: Look) -> list[str]:
    """Broken where it is too long, never cut: it may be a command that somebody agrees to."""
    first, *others = wrapped([Span(line)], max(4, look.width - 8))
    margins = ["  ", *(" " * 8 for _ in others)]
    rows = zip(margins, (first, *others), strict=True)
    return [margin + painted(row, look.theme) for margin, row in rows]
