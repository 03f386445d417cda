"""`detent fork`: a new session from any step of another, with the files as they were there."""

import os
from collections.abc import Sequence
from shutil import rmtree

from msgspec import Struct
from msgspec.structs import replace

from detent.app.clock import new_session_id
from detent.app.grounds import Grounds, grounds_of
from detent.app.looking import entries_of, where_it_was
from detent.app.options import Options
from detent.app.scratch import copy_tree, put_back
from detent.app.undo.doing import Report, look, undo
from detent.app.undo.judging import Left
from detent.app.undo.planning import Wish
from detent.app.undo.standing_on import looked_at, stored
from detent.session.blobs import Blobs
from detent.session.cutting import after_step, moved, results_lacking, whole
from detent.session.log import FORMAT, FileLog
from detent.session.store import Store
from detent.types.errors import BadInput
from detent.types.events import Entry, Opened, Reminded, Replied
from detent.types.running import Named
from detent.types.version import VERSION

MOVED = "[The session goes on in {new}: a copy of {old} as it was at this point. Work there only.]"


class Fork(Struct, frozen=True):
    """What is to be forked, where it was found to be."""

    parent: str
    cwd: str
    """Of the parent."""
    at: int
    """The last entry that the fork has."""
    step: int
    """How many answers that are."""
    entries: tuple[Entry, ...]
    """Those of the parent, all of them."""


class Forked(Struct, frozen=True, omit_defaults=True):
    session: str
    path: str
    parent: str
    at: int
    step: int
    cwd: str
    is_in_place: bool = False
    left: tuple[Left, ...] = ()
    """Files that are not as they were there."""


def find(options: Options, session: str, at: str) -> Fork:
    """Raises BadInput."""
    opened, entries = entries_of(options, session)
    seq = _cut(entries, at)
    step = sum(isinstance(entry, Replied) and entry.seq <= seq for entry in entries)
    cwd = grounds_of(where_it_was(options, opened)).cwd
    return Fork(opened.session, cwd, seq, step, tuple(entries))


def look_in_place(options: Options, fork: Fork) -> Report:
    """What `in_place` would do to the folder."""
    with looked_at(options, fork.parent) as ground:
        return look(ground, Wish(since=fork.at))


def beside(options: Options, fork: Fork) -> Forked:
    """In the same folder, whose files stay as they are: from the end of a session that is open."""
    grounds = grounds_of(replace(options, cwd=fork.cwd))
    session, path = _written(grounds, fork, fork.cwd)
    return Forked(session, path, fork.parent, fork.at, fork.step, fork.cwd, True)


def in_place(options: Options, fork: Fork) -> Forked:
    """The files go back where they are. The parent's log tells of it: there it can be redone."""
    with stored(options, fork.parent) as ground:
        report = undo(ground, Wish(since=fork.at))
    grounds = grounds_of(replace(options, cwd=fork.cwd))
    session, path = _written(grounds, fork, fork.cwd)
    return Forked(session, path, fork.parent, fork.at, fork.step, fork.cwd, True, report.left)


def into(options: Options, fork: Fork, folder: str = "") -> Forked:
    """A copy of the folder, in which everything that calls did since is put back. Blocks."""
    grounds = grounds_of(replace(options, cwd=fork.cwd))
    session = new_session_id()
    new = _fresh(folder or _scratch(session, fork.cwd), fork.cwd)
    try:
        copy_tree(fork.cwd, new, without=os.path.realpath(grounds.home))
    except OSError as error:
        rmtree(new, ignore_errors=True)
        raise BadInput(
            f"the folder cannot be copied: {error.strerror} ({error.filename})"
        ) from None
    left = put_back(fork.entries, fork.at, fork.cwd, new, Blobs(grounds.home))
    _, path = _written(grounds, fork, new, session)
    return Forked(session, path, fork.parent, fork.at, fork.step, new, left=left)


def _cut(entries: Sequence[Entry], at: str) -> int:
    last = entries[-1].seq
    name, colon, number = at.rpartition(":")
    if not at:
        return whole(entries, last)
    if not number.isdecimal() or (colon and name != "seq") or not int(number):
        raise BadInput(f"--at is the number of a step, or seq:N for an entry; not {at!r}")
    if colon:
        if int(number) > last:
            raise BadInput(f"there is no entry {number}: the last is {last}")
        return whole(entries, int(number))
    found = after_step(entries, int(number))
    if found is None:
        had = sum(isinstance(entry, Replied) for entry in entries)
        raise BadInput(f"there is no step {number}: the session has had {had or 'none yet'}")
    return found


def _written(grounds: Grounds, fork: Fork, cwd: str, session: str = "") -> tuple[str, str]:
    """The log of the fork. Numbers are kept, for entries name one another by number; what people
    call its parent is not."""
    session = session or new_session_id()
    path = Store(grounds.home).path(cwd, session)
    log = FileLog(path, grounds.clock.now, home=grounds.home)
    try:
        with log.copying():
            for entry in fork.entries:
                if entry.seq <= fork.at and not isinstance(entry, Named):
                    log.adopt(_adopted(entry, fork, cwd, session))
        for lacking in results_lacking(log.entries):
            log.append(lacking)
        if cwd != fork.cwd:
            log.append(Reminded(text=MOVED.format(new=cwd, old=fork.cwd), source="fork"))
        if log.trouble:
            raise BadInput(f"the fork cannot be written: {log.trouble}")
    finally:
        log.close()
    return session, path


def _adopted(entry: Entry, fork: Fork, cwd: str, session: str) -> Entry:
    if isinstance(entry, Opened):
        return replace(
            entry,
            session=session,
            cwd=cwd,
            version=VERSION,
            format=FORMAT,
            parent=fork.parent,
            forked_at=fork.at,
        )
    return moved(entry, fork.cwd, cwd) if cwd != fork.cwd else entry


def _scratch(session: str, cwd: str) -> str:
    from tempfile import gettempdir

    name = os.path.basename(cwd) or "root"
    return os.path.join(os.path.realpath(gettempdir()), f"detent-fork-{session[:8]}", name)


def _fresh(folder: str, cwd: str) -> str:
    """Where nothing is yet, and not inside of what is copied. Raises BadInput."""
    new = os.path.realpath(os.path.join(os.getcwd(), folder))
    if f"{new}/".startswith(f"{cwd.rstrip('/')}/"):
        raise BadInput(f"{new} lies in the folder that is copied: choose one beside it")
    try:
        os.makedirs(new, mode=0o700, exist_ok=True)
        if os.listdir(new):
            raise BadInput(f"{new} is not empty")
    except OSError as error:
        raise BadInput(f"{new} cannot be made: {error.strerror}") from None
    return new
