"""Where sessions lie and how one is found again.

`$DETENT_HOME/sessions/<folder of the project>/<session id>.jsonl`
"""

import os
from collections.abc import Iterator
from zlib import crc32

AGENTS = "agents"
"""In the folder beside a log: the logs of its subagents."""
FIRST_LINE = 65_536
"""Bytes that the first record of a log never takes: it names the session and its folder."""


class Store:
    def __init__(self, home: str) -> None:
        self._root = os.path.join(home, "sessions")

    def path(self, cwd: str, session: str) -> str:
        return os.path.join(self._folder(cwd), f"{session}.jsonl")

    def newest(self, cwd: str) -> str | None:
        """The session of this folder that was active last. One that was killed before it could
        write anything does not hide those before it."""
        return next(filter(_holds_something, self.files_of(cwd)), None)

    def find(self, wanted: str, cwd: str) -> str | None:
        """By id or by an unambiguous beginning of one; the session of this folder is preferred."""
        here = self.path(cwd, wanted)
        if os.path.exists(here):
            return here
        matches = [path for path in self.files() if _id(path).startswith(wanted)]
        exact = [path for path in matches if _id(path) == wanted]
        chosen = exact or matches
        return chosen[0] if len(chosen) == 1 else None

    def files(self) -> Iterator[str]:
        for folder in _listing(self._root):
            yield from self._files(os.path.join(self._root, folder))

    def files_of(self, cwd: str) -> list[str]:
        """Of one folder, the newest first; by file time, no file is opened."""
        return sorted(self._files(self._folder(cwd)), key=_modified, reverse=True)

    def _folder(self, cwd: str) -> str:
        return os.path.join(self._root, slug(cwd))

    def _files(self, folder: str) -> Iterator[str]:
        for name in _listing(folder):
            if name.endswith(".jsonl"):
                yield os.path.join(folder, name)


def home_of(path: str) -> str:
    """The program's home folder, from the log of a session or of one of its subagents, which lies
    at `<session>/agents/` beside that."""
    folder = os.path.dirname(path)
    if os.path.basename(folder) == AGENTS:
        folder = os.path.dirname(os.path.dirname(folder))
    return os.path.dirname(os.path.dirname(folder))


def slug(cwd: str) -> str:
    """A folder name for a path: readable, short, and another one for every other path."""
    name = "".join(char if char.isalnum() and char.isascii() else "-" for char in cwd)
    return f"{name.strip('-')[-80:]}-{crc32(os.fsencode(cwd)):08x}"


def _holds_something(path: str) -> bool:
    """A line, or a record that lacks nothing but the end of its line. After a power cut the
    beginning may be gone, and the rest be there."""
    first = b""
    try:
        with open(path, "rb", buffering=0) as file:
            while chunk := file.read(FIRST_LINE):
                if b"\n" in chunk:
                    return True
                first = first or chunk
    except OSError:
        return False
    return bool(first) and _is_a_record(first)


def _is_a_record(line: bytes) -> bool:
    from detent.session.reading import unframe

    try:
        unframe(line)
    except ValueError:
        return False
    return True


def _id(path: str) -> str:
    return os.path.basename(path).removesuffix(".jsonl")


def _listing(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _modified(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0
