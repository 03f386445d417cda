"""Programs as our own children, each held by its process group: the way of every Unix.

A program that leaves its group (a daemon) is out of reach, and so is everything when we are killed;
where the system allows better, the nursery does it.
"""

import asyncio
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress

from detent.host.child import Ended
from detent.host.groups import LAST, end_group, is_alive, signal_group
from detent.host.unreadable import protect_agent


async def spawn_directly(
    argv: Sequence[str],
    cwd: str,
    env: Mapping[str, str] | None,
    descriptors: tuple[int, int, int],
) -> "GroupHold":
    protect_agent()
    return GroupHold(_popen(argv, cwd, env, descriptors))


def _popen(
    argv: Sequence[str],
    cwd: str,
    env: Mapping[str, str] | None,
    descriptors: tuple[int, int, int],
) -> "subprocess.Popen[bytes]":
    """A new session per program: it has no terminal to steal, and its group can be ended whole."""
    stdin, stdout, stderr = descriptors
    return subprocess.Popen(
        argv, cwd=cwd, env=env, stdin=stdin, stdout=stdout, stderr=stderr, start_new_session=True
    )


class GroupHold:
    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._process = process
        self._pidfd = -1
        self._loop = asyncio.get_running_loop()
        self._ended: Ended | None = None

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_empty(self) -> bool:
        return self._process.poll() is not None and not is_alive(self.pid)

    def watch(self, ended: Ended) -> None:
        self._ended = ended
        try:
            self._pidfd = os.pidfd_open(self.pid)
        except (AttributeError, OSError):  # not Linux, an old kernel, or a strict sandbox
            waiting = asyncio.ensure_future(asyncio.to_thread(self._process.wait))
            waiting.add_done_callback(lambda _: self._tell())
        else:
            self._loop.add_reader(self._pidfd, self._tell)

    def _tell(self) -> None:
        """Reaps. The program has ended, so this does not block."""
        self._unwatch()
        code = self._process.poll()
        if self._ended is not None and code is not None:
            self._ended(code, "")

    def _unwatch(self) -> None:
        if self._pidfd >= 0:
            self._loop.remove_reader(self._pidfd)
            os.close(self._pidfd)
            self._pidfd = -1

    async def end(self) -> None:
        if not self.is_empty:  # its number may be somebody else's by now
            await end_group(self._process)
        self._tell()

    def drop(self) -> None:
        self._unwatch()
        signal_group(self.pid, signal.SIGKILL)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(LAST)
