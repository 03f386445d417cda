"""Files that a call says it writes: as they are before, and what became of them."""

import errno
import os
import stat
from collections.abc import Callable, Iterable, Mapping

from detent.host.files import read_file
from detent.session.blobs import Blobs
from detent.session.mirror import kind_of
from detent.types.files import Change, FileState


def keep(paths: Iterable[str], blobs: Blobs, most: int) -> dict[str, FileState]:
    """The files, and the folders above them that are not there yet. Never raises."""
    found: dict[str, FileState] = {}
    for path in paths:
        if _is_text(path):
            found[path] = kept_state(path, blobs, most)
            found.update((folder, FileState()) for folder in _missing_above(path))
    return found


def changed_since(
    kept: Mapping[str, FileState], state: Callable[[str], FileState]
) -> tuple[Change, ...]:
    """What is not as it was kept, the outer folders first."""
    changes = []
    for path in sorted(kept):
        after = state(path)
        if after != kept[path]:
            changes.append(Change(path, kept[path], after))
    return tuple(changes)


def kept_state(path: str, blobs: Blobs, most: int) -> FileState:
    """What stands there now; the bytes of a file are kept if they can be."""
    try:
        facts = os.lstat(path)
        kind, mode = kind_of(facts.st_mode), stat.S_IMODE(facts.st_mode)
        if kind == "link":
            target = os.readlink(path)
            return FileState(kind, target=target) if _is_text(target) else FileState("other")
    except OSError:
        return FileState()
    if kind != "file":
        return FileState(kind, mode)
    try:
        data = read_file(path, most)
        return FileState(kind, mode, len(data), blobs.put(data))
    except OSError as error:
        size = facts.st_size
        is_gone = error.errno in (errno.ENOENT, errno.ENOTDIR) and not os.path.lexists(path)
        return FileState() if is_gone else FileState(kind, mode, size)


def _missing_above(path: str) -> Iterable[str]:
    folder = os.path.dirname(path)
    while folder != os.path.dirname(folder) and not os.path.lexists(folder):
        yield folder
        folder = os.path.dirname(folder)


def _is_text(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True
