"""Commands that outlive the agent, and how they are found again.

Beside the output of each lies a small file: what it is, and, when it has ended, how. As long as
anything of it runs, its keeper holds a lock on that file, and the kernel says whose the lock is: so
no number of a process is ever kept that might by now be another's.
"""

import asyncio
import fcntl
import os
import signal
import struct
from collections.abc import Mapping, Sequence
from contextlib import suppress

from detent.host.notes import Line, Note, head_of, joined, lines_of, open_notes
from detent.host.pipes import Plumbing
from detent.host.processes import Spawn, spawn_freely
from detent.ports import Finished

LOOK = 0.1
"""Seconds between two looks whether it still runs."""
PATIENCE = 2.5
"""For its keeper to end everything."""
_LOCK = struct.Struct("hhqqi4x")
"""`struct flock`, as Linux has it."""


class Staying:
    """One that runs, or ran, wherever it was started from."""

    stays = True

    def __init__(self, path: str) -> None:
        self._path = path

    @property
    def pid(self) -> int:
        """Of its keeper; 0 when nothing of it runs."""
        return keeper_of(self._path)

    @property
    def sandbox(self) -> str:
        return read_state(self._path).sandbox

    def write(self, data: bytes) -> None:
        """It has no input."""

    def lift_limit(self) -> None:
        """It has none."""

    async def wait(self) -> Finished:
        while keeper_of(self._path):
            await asyncio.sleep(LOOK)
        known = read_state(self._path)
        if not known.ended:
            note = "How it ended is not known: its keeper was killed, or the machine went down."
            return Finished(-signal.SIGKILL, note=note, sandbox=known.sandbox)
        return Finished(known.code, note=known.note, sandbox=known.sandbox)

    async def end(self) -> Finished:
        self._ask()
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE):
                return await self.wait()
        return Finished(-signal.SIGTERM, note="It was asked to end, and has not yet.")

    def _ask(self) -> None:
        """Whoever holds the lock while we hold its descriptor is the keeper, and nobody else."""
        if (pid := keeper_of(self._path)) <= 0:
            return
        with suppress(OSError):
            keeper = os.pidfd_open(pid)
            try:
                if keeper_of(self._path) == pid:
                    signal.pidfd_send_signal(keeper, signal.SIGTERM)
            finally:
                os.close(keeper)


async def start_staying(
    argv: Sequence[str],
    cwd: str,
    output: str,
    env: Mapping[str, str],
    facts: Mapping[str, str],
    spawn: Spawn | None = None,
) -> Staying:
    """Raises OSError when nothing could start, NoNursery where nothing can stay."""
    path, plumbing = state_path(output), Plumbing(output, None, fed=False)
    notes = open_notes(path)
    try:
        os.write(notes, head_of(**facts) + b"}\n")
        note = Note((notes,), head_of(call=facts.get("call", "")), stays=True)
        hold, _ = await (spawn or spawn_freely)(argv, cwd, env, plumbing.inner, note)
        hold.drop()  # from now on it is on its own
    except BaseException:
        with suppress(OSError):
            os.unlink(path)
        raise
    finally:
        plumbing.close()
        os.close(notes)
    return Staying(path)


def state_path(output: str) -> str:
    return f"{output.removesuffix('.txt')}.state"


def read_state(path: str) -> Line:
    known = Line()
    for line in lines_of(path):
        known = joined(known, line)
    return known


def keeper_of(path: str) -> int:
    """The process that holds the lock; 0 when nobody does, -1 for one that is out of sight."""
    try:
        file = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return 0
    try:
        asked = fcntl.fcntl(file, fcntl.F_GETLK, _LOCK.pack(fcntl.F_WRLCK, 0, 0, 0, 0))
    except OSError:
        return 0
    finally:
        os.close(file)
    kind, _, _, _, pid = _LOCK.unpack(asked)
    return 0 if kind == fcntl.F_UNLCK else int(pid) or -1
