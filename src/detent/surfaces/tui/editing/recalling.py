"""What was typed before: one after the other with the arrows, or by some words of it."""

from detent.sdk.past_prompts import PastPrompts
from detent.surfaces.tui.dialogs.dialog import Dialog, Row, Rows
from detent.surfaces.tui.drawing.blocks import Look
from detent.surfaces.tui.screen.spans import clipped
from detent.surfaces.wording.shown import shown

MOST_ROWS = 10
HINT = "type to narrow · ctrl+r: older · enter: take it · esc: leave"


class Recall:
    def __init__(self, past: PastPrompts) -> None:
        self._past = past
        self._texts: list[str] | None = None
        self._at = 0
        self._draft = ""

    @property
    def texts(self) -> list[str]:
        """Read when the first is wanted."""
        if self._texts is None:
            self._texts = self._past.read()
            self._at = len(self._texts)
        return self._texts

    def add(self, text: str) -> None:
        self._past.add(text)
        if self._texts is not None and self._texts[-1:] != [text]:
            self._texts.append(text)
        self._at = len(self._texts or ())
        self._draft = ""

    def older(self, typed: str) -> str | None:
        texts = self.texts
        if self._at == len(texts):
            self._draft = typed
        if self._at == 0:
            return None
        self._at -= 1
        return texts[self._at]

    def newer(self) -> str | None:
        texts = self.texts
        if self._at >= len(texts):
            return None
        self._at += 1
        return self._draft if self._at == len(texts) else texts[self._at]


class SearchDialog(Dialog[str | None]):
    """Ctrl+R: those that hold every word that is typed, the newest first."""

    def __init__(self, texts: list[str], typed: str = "") -> None:
        super().__init__()
        self._texts = list(dict.fromkeys(reversed(texts)))
        self._typed = typed
        self._rows = Rows(())
        self._narrow(typed)

    def press(self, key: str) -> None:
        if key in ("escape", "ctrl+c"):
            self.resolve(None)
        elif key == "ctrl+r":
            self._rows.press("down")
        elif key in ("enter", "tab", "right"):
            row = self._rows.chosen
            self.resolve(row.value if row is not None else None)
        elif key in ("erase", "erase word", "erase all"):
            self._narrow(self._typed[:-1] if key == "erase" else "")
        elif key in ("up", "down", "page up", "page down", "home", "end"):
            self._rows.press(key)
        elif len(key) == 1:
            self._narrow(self._typed + key)

    def paste(self, text: str) -> None:
        self._narrow(self._typed + " ".join(text.split()))

    def _narrow(self, typed: str) -> None:
        self._typed = typed
        words = typed.casefold().split()
        fits = (text for text in self._texts if all(word in text.casefold() for word in words))
        self._rows = Rows(tuple(Row(shown(" ".join(text.split())), "", text) for text in fits))

    def lines(self, look: Look, height: int) -> list[str]:
        rows = self._rows.lines(look, max(1, min(MOST_ROWS, height - 2)))
        head = look.theme.paint("strong", "Search in earlier prompts: ") + shown(self._typed)
        hint = look.theme.paint("faint", clipped(HINT, look.width))
        return [clipped(head, look.width), *(rows or ["  nothing fits"]), hint]
