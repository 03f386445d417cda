"""A list of sessions of which one is chosen: what keys do to it, and how it looks."""

from collections.abc import Sequence

from detent.sdk.sessions import SessionCard
from detent.surfaces.tables.session_table import id_length, line_of
from detent.surfaces.tables.widths import fitted, one_line, width_of

MOST_ROWS = 15
UP, DOWN, PAGE_UP, PAGE_DOWN = "up", "down", "page up", "page down"
ERASE, ERASE_WORD, ERASE_ALL = "erase", "erase word", "erase all"
MOVES = {UP: -1, DOWN: 1, PAGE_UP: -MOST_ROWS, PAGE_DOWN: MOST_ROWS}


class Choice:
    def __init__(self, cards: Sequence[SessionCard]) -> None:
        self.typed = ""
        self._cards = tuple(cards)
        self._length = id_length(cards)
        self._at = 0

    @property
    def found(self) -> list[SessionCard]:
        """Those that have every typed word somewhere; a number alone chooses a line."""
        if self._number:
            return list(self._cards)
        words = self.typed.casefold().split()
        return [card for card in self._cards if _has(card, words)]

    @property
    def chosen(self) -> SessionCard | None:
        found = self.found
        return found[self._place(found)] if found else None

    def press(self, key: str) -> None:
        """A character, or one of the names above."""
        if key in MOVES:
            found = self.found
            if found:
                self._at = max(0, min(len(found) - 1, self._place(found) + MOVES[key]))
            if self._number:
                self.typed = ""
        elif key in (ERASE, ERASE_WORD, ERASE_ALL):
            shorter = {ERASE: self.typed[:-1], ERASE_WORD: self.typed.rstrip().rpartition(" ")[0]}
            self.typed, self._at = shorter.get(key, ""), 0
        elif key.isprintable():
            self.typed, self._at = self.typed + key, 0

    def lines(self, width: int, height: int) -> list[str]:
        """The part of the list around the one that is chosen, and below what was typed."""
        found = self.found
        at, rows = self._place(found), max(1, min(MOST_ROWS, height - 2))
        first = max(0, min(at - rows // 2, len(found) - rows))
        lines = []
        for number, card in enumerate(found[first : first + rows], first + 1):
            sign = ">" if number == at + 1 else " "
            lines.append(f"{sign}{number:>3}  {line_of(card, self._length)}")
        if not found:
            lines.append("  nothing fits")
        lines = [fitted(line, width - 1) for line in lines]
        return [*lines, self._question(f"{len(found)} of {len(self._cards)}", width - 1)]

    def _question(self, which: str, width: int) -> str:
        """With what was typed, the end of it at least: a person looks at it while typing."""
        typed = one_line(self.typed)
        question = f"Resume which ({which}; type to narrow, Enter, Esc)? "
        if width_of(question + typed) > width:
            question = f"{which}? "
        while typed and width_of(question + typed) > width:
            typed = typed[1:]
        return fitted(question + typed, width)

    @property
    def _number(self) -> int:
        """That of a line, where one was typed; 0 else: it may be a part of an id, or a year."""
        number = int(self.typed[:9]) if self.typed.isdecimal() else 0
        return number if number <= len(self._cards) else 0

    def _place(self, found: Sequence[SessionCard]) -> int:
        at = self._number - 1 if self._number else self._at
        return max(0, min(at, len(found) - 1))


def _has(card: SessionCard, words: Sequence[str]) -> bool:
    text = f"{card.id} {card.name} {card.title} {card.cwd}".casefold()
    return all(word in text for word in words)
