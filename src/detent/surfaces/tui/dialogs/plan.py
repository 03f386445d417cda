"""A plan that waits for a yes. The plan itself stands in the scrollback above."""

from detent.sdk.approval import Answer
from detent.surfaces.tui.dialogs.dialog import STOPPED, Dialog, Entry, Row, Rows
from detent.surfaces.tui.drawing.blocks import Look
from detent.surfaces.tui.screen.spans import clipped


class PlanDialog(Dialog[Answer]):
    comes_unasked = True

    def __init__(self) -> None:
        super().__init__()
        self._rows = Rows((
            Row("Yes, and accept edits without asking", value="acceptEdits"),
            Row("Yes, and ask before each edit", value="default"),
            Row("No, keep planning", value=None),
        ))  # fmt: skip

    def press(self, key: str) -> None:
        if key in ("escape", "ctrl+c"):
            self.resolve(Answer(False, STOPPED, interrupt=True, by="user"))
        elif self._rows.press(key):
            row = self._rows.chosen
            if row is not None and row.value is not None:
                self.resolve(Answer(True, mode=row.value, by="user"))
            else:
                self.entry = Entry("What should be different?")

    def give(self, text: str) -> None:
        self.entry = None
        self.resolve(Answer(False, text.strip(), by="user"))

    def lines(self, look: Look, height: int) -> list[str]:
        head = look.theme.paint("asking", "Carry out this plan?")
        last = look.theme.paint("faint", clipped("enter: choose · esc: no, and stop", look.width))
        if self.entry is not None:
            last = look.theme.paint("strong", self.entry.title)
        return [head, *self._rows.lines(look, 5), last]
