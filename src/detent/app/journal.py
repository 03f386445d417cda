"""Opening a session's log: a new one, an earlier one, or a fork of one."""

from collections.abc import Callable, Sequence

from detent.app.clock import new_session_id
from detent.app.options import Options
from detent.session.log import FileLog, Locked, MemoryLog, read_log
from detent.session.store import Store
from detent.types.errors import BadInput
from detent.types.events import Entry, Opened
from detent.types.version import VERSION


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

    @property
    def path(self) -> str:
        return self.log.path if isinstance(self.log, FileLog) else ""

    def close(self) -> None:
        if isinstance(self.log, FileLog):
            self.log.close()


def open_journal(options: Options, cwd: str, home: str, now: Callable[[], float]) -> Journal:
    store = Store(home)
    earlier = _earlier(options, store, cwd)
    if earlier is not None and options.session_id and not options.fork:
        raise BadInput("a session that goes on keeps its id (--fork-session gives it a new one)")
    if earlier is None:
        session = _new_id(options, store, cwd)
        return Journal(session, _new_log(options, store.path(cwd, session), now), True, ())
    try:
        reading = read_log(earlier)
    except OSError as error:
        raise BadInput(f"the session cannot be read: {error.strerror} ({earlier})") from None
    opened = next((entry for entry in reading.entries if isinstance(entry, Opened)), None)
    if opened is None:
        raise BadInput(f"no session can be read from {earlier}")
    notices = _damage(earlier, reading.damaged)
    if options.fork:
        session = _new_id(options, store, cwd)
        log = _new_log(options, store.path(cwd, session), now)
        _copy(reading.entries, log, session, cwd, opened.session)
        return Journal(session, log, False, notices, earlier)
    if not options.persist:
        return Journal(opened.session, MemoryLog(now, reading.entries), False, notices, earlier)
    log = FileLog(earlier, now, reading.entries, reading.torn)
    try:
        log.lock()
    except OSError as error:
        raise BadInput(f"the session cannot be opened: {error.strerror} ({earlier})") from None
    except Locked:
        raise InUse(
            f"session {opened.session} is in use by another process (--fork-session makes a copy)"
        ) from None
    return Journal(opened.session, log, False, notices, earlier)


def opening(session: str, cwd: str) -> Opened:
    return Opened(session=session, cwd=cwd, version=VERSION)


def _earlier(options: Options, store: Store, cwd: str) -> str | None:
    if options.resume:
        found = store.find(options.resume, cwd)
        if found is None:
            raise BadInput(f"no session {options.resume!r} was found")
        return found
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


def _new_log(options: Options, path: str, now: Callable[[], float]) -> MemoryLog:
    return FileLog(path, now) if options.persist else MemoryLog(now)


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
                parent=parent,
            )
        log.adopt(entry)


def _damage(path: str, lines: int) -> tuple[str, ...]:
    if not lines:
        return ()
    what = "one line" if lines == 1 else f"{lines} lines"
    return (f"{what} of {path} could not be read and were passed over",)
