"""Going back to an earlier prompt: the chat, the files, or both; what it means is shown first."""

from collections.abc import Callable, Sequence

from msgspec import Struct

from detent.sdk.undo import Part, Point
from detent.surfaces.counting import counted
from detent.surfaces.tui.dialogs.dialog import Dialog, Row, Rows
from detent.surfaces.tui.drawing.blocks import Look
from detent.surfaces.tui.screen.spans import clipped
from detent.surfaces.wording.shown import shown

HINT = "enter: choose · esc: leave · /redo takes it back"


class Wanted(Struct, frozen=True):
    point: Point
    part: Part


class RewindDialog(Dialog[Wanted | None]):
    def __init__(self, points: Sequence[Point], preview: Callable[[Point], None]) -> None:
        """`preview` finds out what going back would do, and calls `tell` with it."""
        super().__init__()
        self._preview = preview
        self._told: list[str] = []
        self._point: Point | None = None
        self._rows = Rows(tuple(_row(point) for point in points))
        self._rows.at = max(0, len(points) - 1)

    def tell(self, lines: Sequence[str]) -> None:
        self._told = list(lines)

    def press(self, key: str) -> None:
        if key in ("escape", "ctrl+c"):
            self.resolve(None)
        elif self._rows.press(key) and (row := self._rows.chosen) is not None:
            if self._point is None:
                self._begin(row.value)
            else:
                self.resolve(Wanted(self._point, row.value))

    def _begin(self, point: Point) -> None:
        self._point = point
        self._rows = Rows((
            Row("The chat and the files", value="both"),
            Row("The chat alone", value="chat"),
            Row("The files alone", value="files"),
        ))  # fmt: skip
        self._preview(point)

    def lines(self, look: Look, height: int) -> list[str]:
        what = "Go back to before which prompt?"
        if self._point is not None:
            what = f"Go back to before: {shown(' '.join(self._point.text.split()))}"
        told = [look.theme.paint("faint", clipped(f"  {shown(x)}", look.width)) for x in self._told]
        rows = self._rows.lines(look, max(3, height - 4 - len(told[:10])))
        hint = look.theme.paint("faint", clipped(HINT, look.width))
        head = look.theme.paint("asking", clipped(what, look.width))
        told = told[: max(0, height - 9)]
        return [head, *told, *([""] if told else []), *rows, hint]


def _row(point: Point) -> Row:
    files = counted(point.files, "file") + " changed since" if point.files else ""
    return Row(shown(" ".join(point.text.split()))[:70], files, point)
