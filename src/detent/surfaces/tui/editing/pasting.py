"""What is pasted: a long text is folded to a chip until it is sent, a picture's name becomes the
picture."""

import re
from collections.abc import Callable

from detent.surfaces.counting import counted

MOST_LINES, MOST_CHARACTERS = 8, 1_000
"""More is folded."""
_CHIP = re.compile(r"\[Pasted text #(\d+)[^\]]*\]")
_PICTURE = re.compile(r"\[Picture #(\d+)[^\]]*\]")
ENDINGS = (".png", ".jpg", ".jpeg", ".gif", ".webp")


class Pasted:
    """The chips of the prompt that is being written."""

    def __init__(self, is_file: Callable[[str], bool]) -> None:
        self._is_file = is_file
        self._texts: dict[int, str] = {}
        self._pictures: dict[int, str] = {}

    def take(self, text: str) -> str:
        """What is put into the text box for it."""
        if path := self._picture(text):
            return self.add_picture(path)
        lines = text.count("\n") + 1
        if lines <= MOST_LINES and len(text) <= MOST_CHARACTERS:
            return text
        known = (number for number, other in self._texts.items() if other == text)
        number = next(known, len(self._texts) + 1)
        self._texts[number] = text
        size = counted(lines, "line") if lines > 1 else counted(len(text), "character")
        return f"[Pasted text #{number}: {size}]"

    def add_picture(self, path: str) -> str:
        number = len(self._pictures) + 1
        self._pictures[number] = path
        return f"[Picture #{number}]"

    def unfolded(self, text: str) -> str:
        """With every chip as what it stands for; one that somebody has typed is just text."""
        return _CHIP.sub(lambda chip: self._texts.get(int(chip[1]), chip[0]), text)

    def pictures(self, text: str) -> list[str]:
        """Of those that the text still names."""
        numbers = (int(chip[1]) for chip in _PICTURE.finditer(text))
        return [self._pictures[number] for number in numbers if number in self._pictures]

    def _picture(self, text: str) -> str:
        """A path as terminals paste it when a file is dropped on them."""
        path = text.strip()
        if "\n" in path or not path.lower().rstrip("'\"").endswith(ENDINGS):
            return ""
        path = path.removeprefix("file://").strip("'\"").replace("\\ ", " ")
        return path if self._is_file(path) else ""
