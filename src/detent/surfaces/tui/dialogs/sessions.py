"""Which session to go on with."""

from collections.abc import Sequence

from detent.sdk.sessions import SessionCard
from detent.surfaces.tables.choice import ERASE, ERASE_ALL, ERASE_WORD, MOVES, Choice
from detent.surfaces.tui.dialogs.dialog import Dialog
from detent.surfaces.tui.drawing.blocks import Look


class SessionDialog(Dialog[SessionCard | None]):
    def __init__(self, cards: Sequence[SessionCard]) -> None:
        super().__init__()
        self._choice = Choice(cards)

    def lines(self, look: Look, height: int) -> list[str]:
        *rows, question = self._choice.lines(look.width, max(4, height - 2))
        roles = ("accent" if row.startswith(">") else "" for row in rows)
        painted = [look.theme.paint(role, row) for role, row in zip(roles, rows, strict=True)]
        return [*painted, look.theme.paint("strong", question)]

    def press(self, key: str) -> None:
        if key in ("escape", "ctrl+c", "ctrl+d"):
            self.resolve(None)
        elif key == "enter":
            if self._choice.chosen is not None:
                self.resolve(self._choice.chosen)
        elif len(key) == 1 or key in (*MOVES, ERASE, ERASE_WORD, ERASE_ALL):
            self._choice.press(key)
