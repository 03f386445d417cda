"""A look at what a session holds: no lock, no model, no key."""

import asyncio

from msgspec.structs import replace

from detent.app.grounds import grounds_of
from detent.app.ledger import ledger_of
from detent.app.options import Options
from detent.app.scales import scales_of
from detent.app.wire import assemble
from detent.session.log import read_log
from detent.session.store import Store
from detent.types.errors import BadInput
from detent.types.events import Entry, Opened, Replied
from detent.types.ledger import ContextLedger


def look(options: Options, session: str = "", step: int = 0) -> ContextLedger:
    """The newest session of the folder, where none is named. Raises BadInput."""
    grounds = grounds_of(options)
    store = Store(grounds.home)
    path = store.find(session, grounds.cwd) if session else store.newest(grounds.cwd)
    if path is None:
        raise BadInput(f"no session {session!r} was found" if session else "no sessions here yet")
    try:
        entries = read_log(path).entries
    except OSError as error:
        raise BadInput(f"the session cannot be read: {error.strerror} ({path})") from None
    opened = next((entry for entry in entries if isinstance(entry, Opened)), None)
    if opened is None:
        raise BadInput(f"no session can be read from {path}")
    there = _where_it_was(options, opened)
    settings = grounds_of(there).settings
    scales = scales_of(there, settings, grounds.environ, _answer(entries, step))
    engine = assemble(
        replace(there, resume=opened.session, persist=False, model=scales, fallback_models=())
    )
    try:
        return ledger_of(engine, step)
    finally:
        asyncio.run(engine.aclose())


def _answer(entries: "list[Entry] | tuple[Entry, ...]", step: int) -> Replied | None:
    replies = [entry for entry in entries if isinstance(entry, Replied)]
    return replies[step - 1 if 0 < step <= len(replies) else -1] if replies else None


def _where_it_was(options: Options, opened: Opened) -> Options:
    """Its own folder decides on the prompt, if it is still there."""
    if options.cwd:
        return options
    try:
        there = replace(options, cwd=opened.cwd)
        grounds_of(there)
    except BadInput:
        return options
    return there
