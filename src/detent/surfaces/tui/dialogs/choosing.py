"""Questions that the model puts to the person: options to choose from, or words of one's own."""

from typing import Any

from msgspec.structs import replace

from detent.sdk.approval import Answer
from detent.surfaces.tui.dialogs.dialog import Dialog, Entry, Row, Rows
from detent.surfaces.tui.drawing.blocks import Look
from detent.surfaces.tui.screen.spans import Span, clipped, painted, wrapped
from detent.surfaces.wording.shown import shown

OTHER = "Something else"
HINT = "enter: answer · esc: do not answer"


class ChoosingDialog(Dialog[Answer]):
    """One question after the other; leaving any of them leaves all."""

    comes_unasked = True

    def __init__(self, arguments: dict[str, Any]) -> None:
        super().__init__()
        self._arguments = arguments
        self._answers: dict[str, str] = {}
        self._left = list(arguments["questions"])
        self._begin()

    def _begin(self) -> None:
        options = (
            Row(shown(option["label"]), shown(option.get("description", "")), option["label"])
            for option in self._now["options"]
        )
        self._rows = Rows((*options, Row(OTHER, "in your own words", None)))
        self._marked: set[int] = set()

    @property
    def _now(self) -> dict[str, Any]:
        now: dict[str, Any] = self._left[0]
        return now

    @property
    def _is_multiple(self) -> bool:
        return bool(self._now.get("multiSelect"))

    def press(self, key: str) -> None:
        if key in ("escape", "ctrl+c"):
            self.resolve(Answer(False, "The person did not want to answer.", by="user"))
        elif key == " " and self._is_multiple:
            self._marked ^= {self._rows.at} & set(range(len(self._rows.rows) - 1))
        elif self._is_multiple and len(key) == 1 and key.isdecimal() and key != "0":
            self._marked ^= {int(key) - 1} & set(range(len(self._rows.rows) - 1))
        elif self._rows.press(key):
            self._chosen()

    def _chosen(self) -> None:
        row = self._rows.chosen
        if row is not None and row.value is None:
            self.entry = Entry("Your answer")
            return
        marked = [self._rows.rows[at].value for at in sorted(self._marked)]
        marked = [label for label in marked if label] or [row.value if row else ""]
        self._answered(", ".join(marked) if self._is_multiple else marked[-1])

    def give(self, text: str) -> None:
        self.entry = None
        if text.strip():
            self._answered(text.strip())

    def _answered(self, text: str) -> None:
        self._answers[self._now["question"]] = text
        self._left.pop(0)
        if self._left:
            self._begin()
        else:
            arguments = {**self._arguments, "answers": self._answers}
            self.resolve(Answer(True, arguments=arguments, by="user"))

    def lines(self, look: Look, height: int) -> list[str]:
        if not self._left:
            return []
        text = shown(self._now["question"])
        lines = [painted(row, look.theme) for row in wrapped([Span(text, "asking")], look.width)]
        rows = self._boxed() if self._is_multiple else self._rows
        hint = HINT if not self._is_multiple else f"space: mark several · {HINT}"
        last = look.theme.paint("faint", clipped(hint, look.width))
        if self.entry is not None:
            last = look.theme.paint("strong", self.entry.title)
        return [*lines, *rows.lines(look, max(3, height - len(lines) - 2)), last]

    def _boxed(self) -> Rows:
        """Words of one's own cannot be marked beside others."""
        boxes = ("[x]" if at in self._marked else "[ ]" for at in range(len(self._rows.rows)))
        labels = zip(self._rows.rows, boxes, strict=True)
        rows = Rows(tuple(
            row if row.value is None else replace(row, label=f"{box} {row.label}")
            for row, box in labels
        ))  # fmt: skip
        rows.at = self._rows.at
        return rows
