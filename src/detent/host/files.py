"""Blocking file operations; the host runs them in a thread."""

import errno
import os
import stat
from collections.abc import Collection, Iterator
from contextlib import suppress

from detent.host.beneath import NO_LINK, bent, folder_of, open_real
from detent.host.partials import hold, partial_name
from detent.ports import FileFacts

WORKTREES = ".detent-worktrees"
"""In a folder that is worked in: copies of it in which subagents work for themselves."""
SKIPPED = frozenset({".git", WORKTREES, ".mypy_cache", ".venv", "__pycache__", "node_modules"})
"""Folders that a walk names but does not enter: large, generated, and never what is looked for."""

_RETRY_IN_PLACE = (errno.EACCES, errno.EPERM, errno.EBUSY, errno.EXDEV)


def read_file(path: str, limit: int, *, real: bool = False) -> bytes:
    """The whole of a regular file. A FIFO or device would block or never end: refused."""
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY
    descriptor = open_real(path, flags) if real else os.open(path, flags)
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


def write_file(path: str, data: bytes, *, real: bool = False) -> None:
    """All or nothing: a reader sees the old content or the new. A link stays a link."""
    target = path if real else os.path.realpath(path)
    try:
        with folder_of(target, makes=True) as (folder, name):
            _write(folder, name, target, data)
    except OSError as error:
        # Without the name of the file beside it, which nobody knows.
        raise OSError(error.errno, error.strerror, path) from None


def _write(folder: int | None, name: str, target: str, data: bytes) -> None:
    old = _stat(folder, name)
    if old is None:
        _replace(folder, name, data, None)
        return
    if stat.S_ISLNK(old.st_mode):
        raise bent(target)
    _require_regular(old, target)
    if not os.access(name, os.W_OK, dir_fd=folder):  # replacing would get round a write protection
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    if old.st_nlink > 1:  # its other names must go on naming the same file
        _overwrite(folder, name, data)
        return
    try:
        _replace(folder, name, data, old)
    except OSError as error:
        # The folder is closed or the file is mounted, but the file itself may be written.
        if error.errno not in _RETRY_IN_PLACE:
            raise
        _overwrite(folder, name, data)


def _overwrite(folder: int | None, name: str, data: bytes) -> None:
    with open(os.open(name, os.O_WRONLY | os.O_TRUNC | NO_LINK, dir_fd=folder), "wb") as file:
        file.write(data)


def _replace(folder: int | None, name: str, data: bytes, old: os.stat_result | None) -> None:
    beside = os.path.join(os.path.dirname(name), partial_name())
    # A new file gets the mode that the umask leaves; an old one keeps its own.
    mode, flags = 0o666 if old is None else 0o600, os.O_WRONLY | os.O_CREAT | os.O_EXCL | NO_LINK
    descriptor = os.open(beside, flags, mode, dir_fd=folder)
    try:
        with open(descriptor, "wb") as file:
            hold(descriptor)
            file.write(data)
            if old is not None:
                _keep_owner_and_mode(descriptor, old)
                _keep_attributes(descriptor, folder, name)
            file.flush()
            os.replace(beside, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        os.unlink(beside, dir_fd=folder)
        raise


def _keep_owner_and_mode(descriptor: int, old: os.stat_result) -> None:
    mine = os.fstat(descriptor)
    if (mine.st_uid, mine.st_gid) != (old.st_uid, old.st_gid):
        os.fchown(descriptor, old.st_uid, old.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(old.st_mode))


def _keep_attributes(descriptor: int, folder: int | None, name: str) -> None:
    """The extended ones, as far as the system lets us."""
    if not hasattr(os, "listxattr"):
        return
    with suppress(OSError):
        old = os.open(name, os.O_RDONLY | os.O_NONBLOCK | NO_LINK, dir_fd=folder)
        try:
            for attribute in os.listxattr(old):
                with suppress(OSError):
                    os.setxattr(descriptor, attribute, os.getxattr(old, attribute))
        finally:
            os.close(old)


def _stat(folder: int | None, name: str) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
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
