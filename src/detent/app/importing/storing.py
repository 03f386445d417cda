"""Files that may hold sessions of others, read and put among our own."""

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Literal

from msgspec import Struct

from detent.app.importing.claude_code import read_claude_code
from detent.app.importing.own import is_own, read_own
from detent.app.importing.record import Found, Unreadable, is_id
from detent.session.log import FileLog
from detent.session.store import Store
from detent.types.errors import BadInput
from detent.types.events import Prompted, Replied

LARGEST = 512 * 1024 * 1024
"""Bytes of a file."""
BEGINNING = 64


class Imported(Struct, frozen=True, omit_defaults=True):
    """What became of one file."""

    path: str
    status: Literal["imported", "here already", "would be imported", "failed"]
    session: str = ""
    cwd: str = ""
    prompts: int = 0
    answers: int = 0
    left_out: dict[str, int] = {}
    why: str = ""
    """It failed."""


def import_all(paths: Sequence[str], home: str, *, is_trial: bool = False) -> Iterator[Imported]:
    """Each file by itself; one that fails does not keep the others out. Raises BadInput."""
    store = Store(home)
    for path in paths:
        if not os.path.exists(path):
            raise BadInput(f"there is no {path}")
    for file in dict.fromkeys(file for path in paths for file in _files(path)):
        try:
            yield _stored(file, _read(file), store, home, is_trial=is_trial)
        except (Unreadable, OSError) as error:
            why = (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
            yield Imported(file, "failed", why=why)


def _files(path: str) -> Iterator[str]:
    """Of a folder, what is named like a session; transcripts of subagents lie in folders below."""
    if not os.path.isdir(path):
        yield path
        return
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(name for name in folders if name not in ("subagents", "tool-results"))
        for name in sorted(names):
            stem, ending = os.path.splitext(name)
            if ending == ".jsonl" and is_id(stem.lower()):
                yield os.path.join(folder, name)


def _read(path: str) -> Found:
    if not os.path.isfile(path):
        raise Unreadable("it is no file")  # a pipe might never end
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size > LARGEST:
            raise Unreadable(f"it is larger than {LARGEST >> 20} MB")
        if is_own(file.read(BEGINNING)):
            file.seek(0)
            return read_own(file.read(LARGEST))
        file.seek(0)
        return read_claude_code(file, path)


def _stored(path: str, found: Found, store: Store, home: str, *, is_trial: bool) -> Imported:
    earlier = store.find(found.session, found.cwd)
    result = Imported(
        path,
        "here already" if earlier else "would be imported" if is_trial else "imported",
        session=found.session,
        cwd=found.cwd,
        prompts=sum(isinstance(entry, Prompted) for entry in found.entries),
        answers=sum(isinstance(entry, Replied) for entry in found.entries),
        left_out=dict(found.left_out),
    )
    if result.status == "imported":
        _write(store.path(found.cwd, found.session), found, home)
    return result


def _write(path: str, found: Found, home: str) -> None:
    """Under its name only when it is whole. It is as old as its last entry: what was done here
    since is newer. Raises OSError."""
    partial = f"{path}.{os.getpid()}.partial"
    log = FileLog(partial, time.time, home=home)
    try:
        for entry in found.entries:
            log.adopt(entry)
            if log.trouble:
                raise OSError(0, log.trouble)
        log.close()
        last = min(found.entries[-1].at, time.time())
        os.utime(partial, (last, last))
        os.rename(partial, path)
    except BaseException:
        log.close()
        with suppress(OSError):
            os.unlink(partial)
        raise
