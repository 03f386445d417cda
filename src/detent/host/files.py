"""Blocking file operations; the host runs them in a thread."""

import errno
import os
import stat
from collections.abc import Collection, Iterator
from contextlib import suppress

from detent.ports import FileFacts

SKIPPED = frozenset({".git", ".mypy_cache", ".venv", "__pycache__", "node_modules"})
"""Folders that a walk names but does not enter: large, generated, and never what is looked for."""

_RETRY_IN_PLACE = (errno.EACCES, errno.EPERM, errno.EBUSY, errno.EXDEV)


def read_file(path: str, limit: int) -> bytes:
    """The whole of a regular file. A FIFO or device would block or never end: refused."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
    try:
        facts = os.fstat(descriptor)
        _require_regular(facts, path)
        if facts.st_size > limit:
            raise _too_big(path)
        # Files in /proc say that they are empty, and a log may grow while it is read: the size
        # is only a hint.
        pieces, left = [], limit + 1
        while left > 0 and (piece := os.read(descriptor, min(left, 1 << 20))):
            pieces.append(piece)
            left -= len(piece)
    finally:
        os.close(descriptor)
    if left <= 0:
        raise _too_big(path)
    return b"".join(pieces)


def write_file(path: str, data: bytes) -> None:
    """All or nothing: a reader sees the old content or the new. A link stays a link."""
    target = os.path.realpath(path)
    old = _stat(target)
    if old is None:
        os.makedirs(os.path.dirname(target), exist_ok=True)
    else:
        _require_regular(old, path)
        if not os.access(target, os.W_OK):  # replacing would get round a write protection
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
    if old is not None and old.st_nlink > 1:  # its other names must go on naming the same file
        _overwrite(target, data)
        return
    try:
        _replace(target, data, old)
    except OSError as error:
        # The folder is closed or the file is mounted, but the file itself may be written.
        if old is None or error.errno not in _RETRY_IN_PLACE:
            # Without the name of the file beside it, which nobody knows.
            raise OSError(error.errno, error.strerror, path) from None
        _overwrite(target, data)


def _overwrite(target: str, data: bytes) -> None:
    with open(target, "wb") as file:
        file.write(data)


def _replace(target: str, data: bytes, old: os.stat_result | None) -> None:
    beside = os.path.join(os.path.dirname(target), f".detent-{os.urandom(6).hex()}.tmp")
    # A new file gets the mode that the umask leaves; an old one keeps its own.
    mode = 0o666 if old is None else 0o600
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode)
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
            if old is not None:
                _keep_owner_and_mode(file.fileno(), old)
                _keep_attributes(file.fileno(), target)
        os.replace(beside, target)
    except BaseException:
        os.unlink(beside)
        raise


def _keep_owner_and_mode(descriptor: int, old: os.stat_result) -> None:
    mine = os.fstat(descriptor)
    if (mine.st_uid, mine.st_gid) != (old.st_uid, old.st_gid):
        os.fchown(descriptor, old.st_uid, old.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(old.st_mode))


def _keep_attributes(descriptor: int, target: str) -> None:
    """The extended ones, as far as the system lets us."""
    with suppress(OSError):
        for name in os.listxattr(target):
            with suppress(OSError):
                os.setxattr(descriptor, name, os.getxattr(target, name))


def _stat(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _require_regular(facts: os.stat_result, path: str) -> None:
    if stat.S_ISDIR(facts.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    if not stat.S_ISREG(facts.st_mode):
        raise OSError(errno.EINVAL, "Not a regular file", path)


def _too_big(path: str) -> OSError:
    return OSError(errno.EFBIG, os.strerror(errno.EFBIG), path)


def file_facts(path: str) -> FileFacts | None:
    try:
        found = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    return _facts(path, found)


def _facts(path: str, found: os.stat_result, is_link: bool = False) -> FileFacts:
    is_dir, is_file = stat.S_ISDIR(found.st_mode), stat.S_ISREG(found.st_mode)
    is_special = not is_dir and not is_file
    return FileFacts(path, found.st_size, found.st_mtime, is_dir, is_link, is_special)


def walk_files(root: str, entering: Collection[str] = ()) -> Iterator[FileFacts]:
    """Breadth first, names in order: the entries of `root` itself come before any below them.

    Links to folders are named but not entered, so a loop of links ends.
    """
    folders, skipped = [root], SKIPPED.difference(entering)
    while folders:
        deeper: list[str] = []
        for folder in folders:
            for entry in _entries(folder):
                facts = _facts_of(entry)
                yield facts
                if facts.is_dir and not facts.is_link and entry.name not in skipped:
                    deeper.append(entry.path)
        folders = deeper


def _entries(folder: str) -> "list[os.DirEntry[str]]":
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:  # unreadable or gone since: a walk shows what it can
        return []


def _facts_of(entry: "os.DirEntry[str]") -> FileFacts:
    try:
        found = entry.stat()
    except OSError:  # a link that leads nowhere is still a name
        return FileFacts(entry.path, 0, 0.0, False, is_link=True)
    return _facts(entry.path, found, entry.is_symlink())
