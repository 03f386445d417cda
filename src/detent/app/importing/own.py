"""`detent sessions export --format json`, read back: the same entries under the same numbers."""

import os

import msgspec

from detent.app.importing.record import Found, Unreadable, is_id
from detent.session.folding import MOST_ENTRIES
from detent.types.events import Entry, Opened

FORMAT = 1
LATEST = 1e11
"""Seconds: some thousand years from now."""


class Exported(msgspec.Struct, frozen=True):
    detent: str
    v: int
    entries: tuple[Entry, ...] = ()


class Head(msgspec.Struct, frozen=True):
    detent: str = ""
    v: int = 0


def is_own(beginning: bytes) -> bool:
    return beginning.lstrip()[:10].startswith(b'{"detent":')


def read_own(data: bytes) -> Found:
    try:
        head = msgspec.json.decode(data, type=Head)
        if head.detent == "snapshot":
            raise Unreadable("a snapshot is not the whole session; --format json exports it")
        if head.detent != "session":
            raise Unreadable("it is no session")
        if head.v > FORMAT:
            raise Unreadable(f"format {head.v} is of a later version of detent")
        entries = msgspec.json.decode(data, type=Exported).entries
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise Unreadable(f"it cannot be read: {error}") from None
    opened = next((entry for entry in entries if isinstance(entry, Opened)), None)
    if opened is None or not is_id(opened.session):
        raise Unreadable("it does not say which session it is")
    numbers = [entry.seq for entry in entries]
    if numbers != sorted(set(numbers)) or not 0 < numbers[0] <= numbers[-1] < MOST_ENTRIES:
        raise Unreadable("its entries are not in their order")
    if not all(0 <= entry.at < LATEST for entry in entries):
        raise Unreadable("its entries have times that cannot be")
    if not os.path.isabs(opened.cwd) or "\0" in opened.cwd:
        raise Unreadable("it does not say in which folder it ran")
    return Found(opened.session, opened.cwd, entries)
