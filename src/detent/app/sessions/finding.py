"""Listing and finding sessions, by the index."""

import os
from collections.abc import Sequence

from detent.session.facts import SessionCard
from detent.session.index.catalogue import Catalogue
from detent.session.index.opening import NoIndex, consult
from detent.session.index.searching import Hit, search
from detent.session.index.wording import query
from detent.session.store import Store
from detent.types.errors import BadInput

MOST_CANDIDATES = 10


class Several(BadInput):
    """More than one session is meant; `cards` are the likeliest."""

    def __init__(self, wanted: str, cards: Sequence[SessionCard]) -> None:
        what = (
            f"{wanted!r} may be one of several sessions." if wanted else "which session is meant?"
        )
        lines = "".join(f"\n  {line(card)}" for card in cards[:MOST_CANDIDATES])
        super().__init__(f"{what} Name one by its id:{lines}")
        self.cards = tuple(cards)


def cards(home: str, cwd: str | None = None) -> list[SessionCard]:
    """Newest first; of one folder, or of all."""
    try:
        return consult(home, lambda catalogue: catalogue.cards(cwd))
    except NoIndex:
        from detent.app.sessions.without_index import cards_read

        return cards_read(home, cwd)


def hits(home: str, words: str, most: int, cwd: str | None = None) -> list[Hit]:
    """The best first. Raises BadInput."""
    if not query(words):
        raise BadInput(f"there is no word to search for in {words!r}")
    try:
        return consult(home, lambda catalogue: search(catalogue, words, most, cwd))
    except NoIndex as error:
        raise BadInput(f"this Python cannot search: {error}") from None


def find(home: str, cwd: str, wanted: str, *, by_words: bool = True) -> str:
    """The log of the session that is meant: by its id or the beginning of it, its name, or words
    that only it holds; those of this folder come first. Raises Several, and BadInput."""
    path = Store(home).find(wanted, cwd) if wanted and os.sep not in wanted else None
    if path is not None:
        return path
    everywhere = cards(home)
    named = [card for card in everywhere if card.name and card.name == wanted]
    begun = [card for card in everywhere if wanted and card.id.startswith(wanted)]
    found = named or begun
    if not found and by_words:
        found = _holding(home, cwd, wanted, everywhere)
    if not found:
        raise BadInput(f"no session {wanted!r} was found; see detent sessions --all")
    if len(found) > 1:
        raise Several(wanted, found)
    return found[0].path


def _holding(
    home: str, cwd: str, words: str, everywhere: Sequence[SessionCard]
) -> list[SessionCard]:
    """Sessions that hold these words; of this folder, if there are any."""
    if not query(words) or _looks_like_id(words):
        return []
    by_path = {card.path: card for card in everywhere}

    def look(catalogue: Catalogue) -> list[Hit]:
        here = search(catalogue, words, MOST_CANDIDATES, cwd, of_one=1)
        return here or search(catalogue, words, MOST_CANDIDATES, of_one=1)

    try:
        found = consult(home, look)
    except NoIndex:
        return []
    meant = [by_path[hit.path] for hit in found if hit.path in by_path]
    return sorted(meant, key=lambda card: card.active, reverse=True)


def _looks_like_id(text: str) -> bool:
    """A whole one: it is not looked for in what others have said."""
    return [len(part) for part in text.split("-")] == [8, 4, 4, 4, 12]


def line(card: SessionCard) -> str:
    """A session in one line."""
    import time

    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(card.active))
    title = f"{card.name}: {card.title}" if card.name else card.title
    clean = "".join(char if char.isprintable() else " " for char in title)
    return f"{card.id}  {when}  {clean}".rstrip()
