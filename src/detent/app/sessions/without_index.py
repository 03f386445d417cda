"""A listing where there is no SQLite to help: every log is read."""

import os

from detent.session.facts import Facts, SessionCard
from detent.session.folding import add
from detent.session.locks import is_locked
from detent.session.reading import Reading, read_log
from detent.session.store import Store
from detent.types.errors import BadInput


def cards_read(home: str, cwd: str | None = None) -> list[SessionCard]:
    store = Store(home)
    files = store.files() if cwd is None else store.files_of(cwd)
    found = [card for path in files if (card := card_read(path)) is not None]
    return sorted(found, key=lambda card: card.active, reverse=True)


def card_read(path: str) -> SessionCard | None:
    """None when the file holds no session that can be read."""
    try:
        return card_of(path, read_log(path))
    except OSError:
        return None


def read_with_card(path: str) -> tuple[Reading, SessionCard]:
    """Raises BadInput where there is no session to read."""
    try:
        reading = read_log(path)
        card = card_of(path, reading)
    except OSError as error:
        raise BadInput(f"the session cannot be read: {error.strerror} ({path})") from None
    if card is None:
        raise BadInput(f"no session can be read from {path}")
    return reading, card


def card_of(path: str, reading: Reading) -> SessionCard | None:
    """Raises OSError."""
    facts, active = Facts(), os.stat(path).st_mtime_ns / 1e9
    for entry in reading.entries:
        add(facts, entry)
    facts.damaged, facts.is_strange = reading.damaged, bool(reading.strange)
    return facts.card(path, active, is_running=is_locked(path)) if facts.id else None
