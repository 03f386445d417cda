"""A look at what a session holds: no lock, no model, no key."""

import asyncio
from collections.abc import Sequence

from msgspec.structs import replace

from detent.app.engine import Engine
from detent.app.grounds import grounds_of
from detent.app.journal import opened_of
from detent.app.ledger import ledger_of
from detent.app.options import Options
from detent.app.scales import scales_of
from detent.app.sessions.meant import log_meant
from detent.app.wire import assemble
from detent.session.reading import read_log
from detent.types.errors import BadInput
from detent.types.events import Entry, Opened, Replied
from detent.types.ledger import ContextLedger


async def look(options: Options, session: str = "", step: int = 0) -> ContextLedger:
    """The newest session of the folder, where none is named. Raises BadInput."""
    engine = _assembled(options, session, step)
    try:
        return await asyncio.to_thread(ledger_of, engine, step)
    finally:
        await engine.aclose()


async def look_at_prompt(options: Options, session: str = "") -> str:
    """The system prompt as a request would hold it, with the marker where the session's own part
    begins. Raises BadInput."""
    from detent.context.prompt import shown

    engine = _assembled(options, session)
    try:
        return shown(engine.kit.system)
    finally:
        await engine.aclose()


def entries_of(options: Options, session: str = "") -> tuple[Opened, tuple[Entry, ...]]:
    """What its log holds. Raises BadInput."""
    grounds = grounds_of(options)
    path = log_meant(grounds.home, grounds.cwd, session)
    try:
        reading = read_log(path)
    except OSError as error:
        raise BadInput(f"the session cannot be read: {error.strerror} ({path})") from None
    return opened_of(reading, path), reading.entries


def _assembled(options: Options, session: str, step: int = 0) -> Engine:
    opened, entries = entries_of(options, session)
    there = where_it_was(options, opened)
    grounds = grounds_of(there)
    scales = scales_of(there, grounds.settings, grounds.environ, _answer(entries, step))
    return assemble(
        replace(there, resume=opened.session, persist=False, model=scales, fallback_models=())
    )


def _answer(entries: Sequence[Entry], step: int) -> Replied | None:
    replies = [entry for entry in entries if isinstance(entry, Replied)]
    return replies[step - 1 if 0 < step <= len(replies) else -1] if replies else None


def where_it_was(options: Options, opened: Opened) -> Options:
    """Its own folder decides on the prompt, if it is still there."""
    if options.cwd:
        return options
    try:
        there = replace(options, cwd=opened.cwd)
        grounds_of(there)
    except BadInput:
        return options
    return there
