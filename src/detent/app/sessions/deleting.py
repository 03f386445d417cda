"""Deleting sessions, with everything that only they need."""

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress

from detent.app.kept_jobs import running_in
from detent.app.sessions.records import Deleted
from detent.session.blobs import Blobs
from detent.session.facts import SessionCard
from detent.session.index.opening import NoIndex, consult
from detent.session.log import FileLog, Locked
from detent.session.sweeping import sweep


def delete(home: str, cards: Sequence[SessionCard]) -> Deleted:
    """One that is in use stays."""
    done, kept, freed = list[str](), dict[str, str](), 0
    for card in cards:
        try:
            freed += _delete(card.path)
            done.append(card.id)
        except Locked:
            kept[card.id] = "it is in use by another process"
        except OSError as error:
            kept[card.id] = f"{error.strerror or error}"
    if done:
        with suppress(NoIndex):
            consult(home, lambda catalogue: None)  # what it knows of them goes, too
        with suppress(OSError):  # what cannot be read may name any blob: all are kept
            freed += sweep(Blobs(home), _logs(os.path.join(home, "sessions")))
    return Deleted(tuple(done), kept, freed)


def _logs(root: str) -> Iterator[str]:
    """All of them, those of subagents too. Raises OSError for a folder that cannot be looked
    into."""
    for folder in (os.path.join(root, name) for name in os.listdir(root)):
        for name in os.listdir(folder) if os.path.isdir(folder) else ():
            path = os.path.join(folder, name)
            agents = os.path.join(path, "agents")
            if name.endswith(".jsonl"):
                yield path
            elif os.path.isdir(agents):
                beside = (os.path.join(agents, one) for one in os.listdir(agents))
                yield from (log for log in beside if log.endswith(".jsonl"))


def _delete(path: str) -> int:
    """The log goes last, so that what is left after a crash can be deleted again. Nobody can take
    it up meanwhile: it is locked until it is gone."""
    log = FileLog(path, lambda: 0.0)
    log.lock()
    try:
        outputs = path.removesuffix(".jsonl")
        if running := running_in(outputs):
            pids = " ".join(map(str, running))
            raise OSError(f"a background job of it still runs (kill {pids} ends it)")
        size = _size(outputs) + os.stat(path).st_size
        if os.path.isdir(outputs) and not os.path.islink(outputs):
            from shutil import rmtree

            if os.path.isdir(os.path.join(outputs, "agents")):
                from detent.app.agents.files.leftovers import remove_worktrees

                remove_worktrees(path)
            rmtree(outputs)
        os.unlink(path)
        with suppress(OSError):  # it holds others
            os.rmdir(os.path.dirname(path))
        return size
    finally:
        log.close()


def _size(folder: str) -> int:
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                total += os.lstat(os.path.join(place, name)).st_size
    return total
