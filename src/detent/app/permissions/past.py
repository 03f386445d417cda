"""What past sessions did: every call that came before the gate, and what became of it."""

import os
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct

from detent.app.grounds import Grounds
from detent.session.reading import read_log
from detent.session.store import Store
from detent.types.codec import arguments_object
from detent.types.content import AssistantBlock, Call
from detent.types.effects import Effect
from detent.types.errors import BadInput
from detent.types.events import CallEnded, CallStarted, Entry, Opened, Replied
from detent.types.outcomes import Refused


class PastCall(Struct, frozen=True):
    session: str
    tool: str
    arguments: dict[str, Any]
    effects: tuple[Effect, ...]
    """Of a call that ran, as it declared them then."""
    cwd: str
    allowed: bool
    by: str
    """The rule, mode, hook or person that decided."""


def past_calls(grounds: Grounds, wanted: Sequence[str] = ()) -> list[PastCall]:
    """Of these sessions, or of all of this folder, the oldest first."""
    calls: list[PastCall] = []
    for path in _paths(grounds, wanted):
        try:
            entries = read_log(path).entries
        except OSError as error:
            raise BadInput(f"{path}: cannot be read: {error.strerror}") from None
        calls += _calls(entries, os.path.basename(path).removesuffix(".jsonl"))
    return calls


def _paths(grounds: Grounds, wanted: Sequence[str]) -> list[str]:
    store = Store(grounds.home)
    if not wanted:
        return list(reversed(store.files_of(grounds.cwd)))
    found = []
    for name in wanted:
        path = store.find(name, grounds.cwd)
        if path is None:
            raise BadInput(f"there is no session {name}, or several begin so; see detent sessions")
        found.append(path)
    return found


def _calls(entries: Sequence[Entry], session: str) -> Iterator[PastCall]:
    """A refused call has no entry of its own: its arguments stand in the answer it came with, which
    is written when it is whole; a call may have ended before."""
    cwd = ""
    asked = {block.id: block for block in _blocks(entries) if isinstance(block, Call)}
    for entry in entries:
        match entry:
            case Opened():
                cwd = cwd or entry.cwd
            case CallStarted():
                given = arguments_object(entry.arguments) or {}
                source = entry.verdict.source
                yield PastCall(session, entry.name, given, entry.effects, cwd, True, source)
            case CallEnded(outcome=Refused(by=by), call_id=id) if id in asked:
                if (wanted := arguments_object(asked[id].arguments)) is not None:
                    yield PastCall(session, entry.name, wanted, (), cwd, False, by)
            case CallEnded(cwd=moved) if moved:
                cwd = moved


def _blocks(entries: Sequence[Entry]) -> Iterator[AssistantBlock]:
    for entry in entries:
        if isinstance(entry, Replied):
            yield from entry.content
