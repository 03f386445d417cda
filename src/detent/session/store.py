"""Where sessions lie and how one is found again.

`$DETENT_HOME/sessions/<folder of the project>/<session id>.jsonl`
"""

import os
from collections.abc import Iterator
from zlib import crc32

from msgspec import Struct

from detent.session.log import read_log
from detent.types.content import Text
from detent.types.events import Opened, Prompted, TurnEnded


class SessionCard(Struct, frozen=True):
    """What a listing shows of a session."""

    id: str
    path: str
    cwd: str
    active: float
    """When something was last written."""
    title: str
    turns: int


class Store:
    def __init__(self, home: str) -> None:
        self._root = os.path.join(home, "sessions")

    def path(self, cwd: str, session: str) -> str:
        return os.path.join(self._root, slug(cwd), f"{session}.jsonl")

    def newest(self, cwd: str) -> str | None:
        """The session of this folder that was active last; by file time, no file is opened."""
        files = self._files(os.path.join(self._root, slug(cwd)))
        return max(files, key=_modified, default=None)

    def find(self, wanted: str, cwd: str) -> str | None:
        """By id or by an unambiguous beginning of one; the session of this folder is preferred."""
        here = self.path(cwd, wanted)
        if os.path.exists(here):
            return here
        matches = [path for path in self.files() if _id(path).startswith(wanted)]
        exact = [path for path in matches if _id(path) == wanted]
        chosen = exact or matches
        return chosen[0] if len(chosen) == 1 else None

    def files(self) -> Iterator[str]:
        for folder in _listing(self._root):
            yield from self._files(os.path.join(self._root, folder))

    def cards(self, cwd: str | None = None) -> list[SessionCard]:
        """Newest first; of one folder, or of all."""
        files = self.files() if cwd is None else self._files(os.path.join(self._root, slug(cwd)))
        cards = [card for path in files if (card := read_card(path)) is not None]
        return sorted(cards, key=lambda card: card.active, reverse=True)

    def _files(self, folder: str) -> Iterator[str]:
        for name in _listing(folder):
            if name.endswith(".jsonl"):
                yield os.path.join(folder, name)


def read_card(path: str) -> SessionCard | None:
    """None when the file holds no readable session."""
    try:
        entries = read_log(path).entries
    except OSError:
        return None
    opened = next((entry for entry in entries if isinstance(entry, Opened)), None)
    if opened is None:
        return None
    prompts = [entry for entry in entries if isinstance(entry, Prompted)]
    title = _title(prompts[0]) if prompts else ""
    turns = sum(isinstance(entry, TurnEnded) for entry in entries)
    return SessionCard(opened.session, path, opened.cwd, _modified(path), title, turns)


def _title(prompt: Prompted) -> str:
    """The instruction; what was piped in stands before it."""
    texts = [block.text for block in prompt.content if isinstance(block, Text)]
    return " ".join(texts[-1].split())[:80] if texts else ""


def slug(cwd: str) -> str:
    """A folder name for a path: readable, short, and another one for every other path."""
    name = "".join(char if char.isalnum() and char.isascii() else "-" for char in cwd)
    return f"{name.strip('-')[-80:]}-{crc32(os.fsencode(cwd)):08x}"


def _id(path: str) -> str:
    return os.path.basename(path).removesuffix(".jsonl")


def _listing(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _modified(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0
