"""What an undo stands on: the session that runs, or a stored one that nobody has open."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING

from msgspec.structs import replace

from detent.app.desk import KeptFiles
from detent.app.gating import workspace_of
from detent.app.grounds import Grounds, grounds_of
from detent.app.journal import InUse, Journal, open_journal
from detent.app.looking import entries_of, where_it_was
from detent.app.options import Options
from detent.app.undo.doing import Ground
from detent.session.blobs import Blobs
from detent.types.errors import BadInput
from detent.types.events import Entry
from detent.types.files import Undone

if TYPE_CHECKING:
    from detent.app.engine import Engine


def of_engine(engine: "Engine") -> Ground:
    """For a thread beside the loop that runs now: entries are recorded there, as all others."""
    loop = asyncio.get_running_loop()

    def record(entry: Entry) -> None:
        asyncio.run_coroutine_threadsafe(engine.recorder.emit(entry), loop).result()

    return _ground(engine.grounds, engine.journal, record)


@asynccontextmanager
async def beside_commands(engine: "Engine") -> AsyncIterator[None]:
    """Subagents in the background may be at work: what an undo changes is not their doing."""
    kept, log = engine.kit.checkpoints, engine.journal.log
    keeper = kept.loaded if isinstance(kept, KeptFiles) else None
    if keeper is None:
        yield
        return
    before = len(log.entries)
    async with keeper.beside() as paths:
        try:
            yield
        finally:
            undone = (entry for entry in log.entries[before:] if isinstance(entry, Undone))
            paths.update(change.path for entry in undone for change in entry.changes)


@contextmanager
def stored(options: Options, session: str = "") -> Iterator[Ground]:
    """The newest of the folder where none is named. Raises BadInput when there is none, or another
    process writes it."""
    opened, _ = entries_of(options, session)
    grounds = grounds_of(where_it_was(options, opened) if session else options)
    wanted = replace(
        grounds.options, resume=opened.session, continue_newest=False, fork=False, persist=True
    )
    try:
        journal = open_journal(wanted, grounds.cwd, grounds.home, grounds.clock.now)
    except InUse:
        raise BadInput(
            f"session {opened.session} is in use by another process: end that first, or say /undo "
            "or /rewind to it"
        ) from None
    try:
        yield _ground(grounds, journal, lambda entry: _append(journal, entry))
    finally:
        journal.close()


@contextmanager
def looked_at(options: Options, session: str = "") -> Iterator[Ground]:
    """For a look: nobody's lock is in the way, and nothing can be recorded."""
    opened, entries = entries_of(options, session)
    grounds = grounds_of(where_it_was(options, opened) if session else options)
    yield Ground(
        session=opened.session,
        entries=lambda: entries,
        record=_not_now,
        trouble=lambda: "",
        blobs=Blobs(grounds.home),
        roots=workspace_of(grounds, tuple).roots,
        cwd=grounds.cwd,
    )


def _ground(grounds: Grounds, journal: Journal, record: Callable[[Entry], None]) -> Ground:
    return Ground(
        session=journal.session,
        entries=lambda: journal.log.entries,
        record=record,
        trouble=lambda: journal.log.trouble,
        blobs=getattr(journal.log, "blobs", None) or Blobs(grounds.home),
        roots=workspace_of(grounds, tuple).roots,
        cwd=grounds.cwd,
    )


def _append(journal: Journal, entry: Entry) -> None:
    """On disk before files are touched, and before anybody hears that it is done."""
    journal.log.append(entry)
    journal.log.sync()


def _not_now(entry: Entry) -> None:
    raise RuntimeError("a session that is only looked at records nothing")
