"""Opening the index, whatever has become of its file: damaged or of another version, it is made
anew; where it cannot be written, the same is done in memory."""

import os
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from typing import TYPE_CHECKING, TypeVar

from msgspec import MsgspecError

from detent.session.index.catalogue import Catalogue
from detent.session.index.schema import Outdated, prepare

if TYPE_CHECKING:
    from sqlite3 import Connection

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

PATIENCE = 15.0
"""Seconds to wait for another process that writes the index."""
Found = TypeVar("Found")


class NoIndex(Exception):
    """This Python cannot search: it has no SQLite, or one without full-text search."""


def consult(home: str, ask: Callable[[Catalogue], Found]) -> Found:
    """What `ask` finds when the index is as the logs are now. Raises NoIndex."""
    try:
        from sqlite3 import Error
    except ImportError as error:
        raise NoIndex(str(error)) from None
    # a damaged file is not always seen by SQLite: it may give texts and numbers that are none
    faults = (Error, Outdated, MsgspecError, ValueError, TypeError, OverflowError)
    if os.path.isdir(os.path.join(home, "sessions")):
        for _ in range(2):
            try:
                return _on_file(home, ask)
            except faults as error:
                if not _is_beyond_repair(error):
                    break
        for how in ("mode=ro", "mode=ro&immutable=1"):
            with suppress(*faults), closing(_copied(home, how)) as db:
                return _answer(db, home, ask)
    try:
        with closing(_in_memory()) as db:
            return _answer(db, home, ask)
    except Error as error:
        if "fts5" in str(error):
            raise NoIndex(str(error)) from None
        raise


def _on_file(home: str, ask: Callable[[Catalogue], Found]) -> Found:
    """A file that is beyond repair is gone afterwards."""
    with closing(_opened(home)) as db:
        which = _number(file_of(home))  # no other file gets it while this one is open
        try:
            return _answer(db, home, ask)
        except Exception as error:
            if _is_beyond_repair(error):
                with suppress(OSError):
                    discard(home, which)
            raise


def _answer(db: "Connection", home: str, ask: Callable[[Catalogue], Found]) -> Found:
    prepare(db)
    catalogue = Catalogue(db, home)
    catalogue.refresh()
    return ask(catalogue)


def _opened(home: str) -> "Connection":
    import sqlite3

    path = file_of(home)
    with suppress(OSError):  # nobody else may read what is said in sessions
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    db = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)
    with suppress(sqlite3.Error, UnicodeDecodeError):  # what is wrong shows with the next question
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
    return db


def _copied(home: str, how: str) -> "Connection":
    """What the file holds, if it can be read at all, in memory."""
    import sqlite3
    from urllib.parse import quote

    name = quote(os.fsencode(os.path.abspath(file_of(home))))
    db = _in_memory()
    try:
        with closing(sqlite3.connect(f"file:{name}?{how}", uri=True, timeout=0.1)) as stored:
            stored.backup(db)
        return db
    except BaseException:
        db.close()
        raise


def _in_memory() -> "Connection":
    import sqlite3

    return sqlite3.connect(":memory:", isolation_level=None)


def _is_beyond_repair(error: Exception) -> bool:
    """Not the surroundings are at fault (a full disk, another process), but what is in the file."""
    import sqlite3

    if not isinstance(error, sqlite3.Error):
        return True
    faults = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR}
    faults |= {sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_MISMATCH}
    # without a code, it is Python that could not make anything of a value
    return (getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF) in faults


def discard(home: str, which: int = 0) -> None:
    """Removes the file; if `which` is given, only the one of this number: somebody may have put a
    sound one in its place. Raises OSError."""
    path = file_of(home)
    with _alone(home):
        if which and _number(path) != which:
            return
        for end in ("-wal", "-shm", ""):
            with suppress(FileNotFoundError):
                os.unlink(path + end)


@contextmanager
def _alone(home: str) -> Iterator[None]:
    """One process at a time removes a file: the second would hit what the first has made."""
    descriptor = os.open(home, os.O_RDONLY | os.O_CLOEXEC)
    try:
        if fcntl is not None:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def file_of(home: str) -> str:
    return os.path.join(home, "index.sqlite")


def _number(path: str) -> int:
    try:
        return os.stat(path).st_ino
    except OSError:
        return 0
