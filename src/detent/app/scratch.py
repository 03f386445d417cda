"""A folder copied for a fork, and the files in it as they were at an entry."""

import os
import shutil
import stat
from collections.abc import Sequence
from contextlib import suppress

from detent.app.undo.applying import apply
from detent.app.undo.judging import Left
from detent.app.undo.present import state_of
from detent.session.blobs import Blobs
from detent.session.undo import Move, deeds_of
from detent.types.events import Entry
from detent.types.files import FileState

NOT_COPIED = "it lies in another folder, which was not copied"


def copy_tree(old: str, new: str, *, without: str = "") -> None:
    """Bytes, modes, times and links; a link into the old folder leads into the new one. Pipes and
    sockets are left out. Raises OSError."""
    for folder, names, files in os.walk(old, onerror=_raise):
        there = new + folder[len(old.rstrip("/")) :]
        names[:] = [name for name in names if os.path.join(folder, name) != without]
        links = [name for name in names if os.path.islink(os.path.join(folder, name))]
        for name in names:
            if name not in links:
                os.mkdir(os.path.join(there, name))
        for name in (*links, *files):
            _copy(os.path.join(folder, name), os.path.join(there, name), old, new)
    for folder, names, _ in os.walk(new, topdown=False):
        for name in names:
            path = os.path.join(folder, name)
            if not os.path.islink(path):
                shutil.copystat(old + path[len(new) :], path)


def put_back(
    entries: Sequence[Entry], seq: int, old: str, new: str, blobs: Blobs
) -> tuple[Left, ...]:
    """Every path that deeds have changed since this entry, as the first of them found it: whatever
    became of it later is no matter, it is a copy. Gives what could not be brought back."""
    first: dict[str, FileState] = {}
    for deed in deeds_of(entries):
        if deed.seq > seq:
            for change in deed.changes:
                first.setdefault(change.path, change.before)
    start = old.rstrip("/")
    inside = [path for path in first if path.startswith(f"{start}/")]
    theres = {new + path[len(start) :]: first[path] for path in inside}
    moves = [Move(there, state_of(there), target) for there, target in theres.items()]
    wanted = [move for move in moves if move.present != move.target]
    left = apply(wanted, blobs, (new,), is_again=False, merges=False).left
    elsewhere = [Left(path, NOT_COPIED) for path in first if path not in inside]
    return (*left, *elsewhere)


def _copy(path: str, there: str, old: str, new: str) -> None:
    kind = os.lstat(path).st_mode
    if stat.S_ISLNK(kind):
        target = os.readlink(path)
        inside = f"{target}/".startswith(f"{old.rstrip('/')}/")
        os.symlink(new + target[len(old.rstrip("/")) :] if inside else target, there)
    elif stat.S_ISREG(kind):
        with suppress(FileNotFoundError):  # gone meanwhile: then it is not there
            shutil.copy2(path, there)


def _raise(error: OSError) -> None:
    raise error
