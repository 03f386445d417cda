"""Opening a session's log: a new one, an earlier one, or a fork of one."""

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from detent.app.clock import new_session_id
from detent.app.options import Options
from detent.session.log import FORMAT, FileLog, Locked, MemoryLog
from detent.session.store import Store
from detent.types.agents import Lineage
from detent.types.errors import BadInput
from detent.types.events import Entry, Opened
from detent.types.version import VERSION

if TYPE_CHECKING:
    from detent.session.reading import Reading


class InUse(BadInput):
    """Another process writes the session."""


class Journal:
    """A log, the session it belongs to, and what was found in it."""

    def __init__(
        self,
        session: str,
        log: MemoryLog,
        is_new: bool,
        notices: tuple[str, ...],
        earlier: str = "",
    ) -> None:
        self.session = session
        self.log = log
        self.is_new = is_new
        self.notices = notices
        self.earlier = earlier
        """The log that it goes on from."""
        self.lineage: Lineage | None = None
        """Of a subagent."""

    @property
    def path(self) -> str:
        return self.log.path if isinstance(self.log, FileLog) else ""

    def close(self) -> None:
        if isinstance(self.log, FileLog):
            self.log.close()


def open_journal(options: Options, cwd: str, home: str, now: Callable[[], float]) -> Journal:
    store = Store(home)
    earlier = _earlier(options, store, cwd, home)
    if earlier is not None and options.session_id and not options.fork:
        raise BadInput("a session that goes on keeps its id (--fork-session gives it a new one)")
    if earlier is None:
        session = _new_id(options, store, cwd)
        return Journal(session, _new_log(options, store.path(cwd, session), now, home), True, ())
    if options.resume_at:
        from detent.app.truncating import check

        check(options, earlier)
    if options.fork or not options.persist:
        return _apart(options, store, earlier, cwd, home, now)
    return go_on(earlier, home, now)


def go_on(path: str, home: str, now: Callable[[], float]) -> Journal:
    """Locked first, then read: whoever wrote it until now may have written more meanwhile."""
    from detent.session.reading import read_log

    log, session = FileLog(path, now, home=home), _name(path)
    try:
        log.lock()
        reading = read_log(path)
    except Locked:
        raise InUse(
            f"session {session} is in use by another process (--fork-session makes a copy)"
        ) from None
    except OSError as error:
        log.close()
        raise BadInput(
            f"the session cannot be written: {error.strerror} ({path}); --fork-session makes a copy"
        ) from None
    try:
        opened = opened_of(reading, path)
        if reading.strange:
            raise BadInput(
                f"session {session} cannot go on: it holds {reading.strange}, which a later "
                "version has written. Update detent, or --fork-session goes on from before that."
            )
    except BadInput:
        log.close()
        raise
    log.take_up(reading)
    return Journal(opened.session, log, False, _damage(path, reading.damaged), path)


def _apart(
    options: Options, store: Store, path: str, cwd: str, home: str, now: Callable[[], float]
) -> Journal:
    """A copy in a file of its own, or one that nobody saves. The log is only looked at."""
    from detent.session.reading import read_log

    try:
        reading = read_log(path)
    except OSError as error:
        raise BadInput(f"the session cannot be read: {error.strerror} ({path})") from None
    opened = opened_of(reading, path)
    entries = reading.entries[: reading.understood]
    notices = (*_damage(path, reading.damaged), *_left_out(reading))
    if not options.fork:
        return Journal(opened.session, MemoryLog(now, entries), False, notices, path)
    session = _new_id(options, store, cwd)
    log = _new_log(options, store.path(cwd, session), now, home)
    if opened not in entries[:1]:  # its record is damaged
        entries = (opened, *entries)
    with log.copying():
        _copy(entries, log, session, cwd, opened.session)
    return Journal(session, log, False, notices, path)


def opened_of(reading: "Reading", path: str) -> Opened:
    """Also where only its first record is damaged. Raises BadInput when there is no session."""
    if not reading.entries:
        why = f": it holds {reading.strange}; update detent" if reading.strange else ""
        raise BadInput(f"no session can be read from {path}{why}")
    opened = (entry for entry in reading.entries if isinstance(entry, Opened))
    return next(opened, Opened(seq=1, session=_name(path), cwd="", version=""))


def _name(path: str) -> str:
    return os.path.basename(path).removesuffix(".jsonl")


def opening(session: str, cwd: str, lineage: Lineage | None = None) -> Opened:
    return Opened(session=session, cwd=cwd, version=VERSION, format=FORMAT, lineage=lineage)


def _earlier(options: Options, store: Store, cwd: str, home: str) -> str | None:
    if options.resume:
        found = store.find(options.resume, cwd)
        if found is not None:
            return found
        from detent.app.sessions.finding import find

        return find(home, cwd, options.resume)
    if options.continue_newest:
        newest = store.newest(cwd)
        if newest is None:
            raise BadInput("there is no earlier session in this folder")
        return newest
    return None


def _new_id(options: Options, store: Store, cwd: str) -> str:
    """A new session must not write into an old one's log."""
    wanted = options.session_id
    if wanted and store.find(wanted, cwd) is not None:
        raise BadInput(f"session {wanted} exists already (--resume goes on with it)")
    return wanted or new_session_id()


def _new_log(options: Options, path: str, now: Callable[[], float], home: str) -> MemoryLog:
    return FileLog(path, now, home=home) if options.persist else MemoryLog(now)


def _copy(entries: Sequence[Entry], log: MemoryLog, session: str, cwd: str, parent: str) -> None:
    """Numbers are kept, for entries name one another by number."""
    for entry in entries:
        if isinstance(entry, Opened):
            entry = Opened(
                seq=entry.seq,
                at=entry.at,
                session=session,
                cwd=cwd,
                version=VERSION,
                format=FORMAT,
                parent=parent,
            )
        log.adopt(entry)


def _damage(path: str, lines: int) -> tuple[str, ...]:
    if not lines:
        return ()
    what, were = ("one line", "was") if lines == 1 else (f"{lines} lines", "were")
    return (f"{what} of {path} could not be read and {were} passed over",)


def _left_out(reading: "Reading") -> tuple[str, ...]:
    if not reading.strange:
        return ()
    return (f"it goes on from before {reading.strange}, which a later version has written",)
