"""Runs one program: output as it comes, a time limit, and nothing left running that was cut.

This is the hot path of every shell step, so it costs little more than the spawn: no threads, no
asyncio subprocess transport, one vfork, one descriptor to learn of the end.
"""

import asyncio
import os
import signal
import subprocess
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from typing import Any

from detent.host.groups import LAST, end_group, signal_group
from detent.host.pipes import Drain, Feed
from detent.ports import Finished

LINGER = 0.5
"""How long the pipes are read on after the program has ended."""

Sink = Callable[[bytes], None]


async def run_process(
    argv: Sequence[str],
    *,
    cwd: str,
    timeout: float | None,
    output: Sink,
    errors: Sink | None = None,
    stdin: bytes = b"",
    env: Mapping[str, str] | None = None,
) -> Finished:
    """Runs `argv` to its end. Without `errors`, its error stream joins the output.

    A timeout or a cancellation ends the whole process group before this returns. So does an
    exception from a sink, which is then raised here.
    """
    child = _Child(_spawn(argv, cwd, errors is not None, bool(stdin), env))
    try:
        child.connect(output, errors, stdin)
        if not await child.ended(timeout):
            await end_group(child.process)
            await child.drained()
            return Finished(child.exit_code(), timed_out=True)
        # A background child may hold the pipes for ever. It is left running, as in any shell,
        # but nobody listens to it any more: its next write there fails.
        await child.drained()
        return Finished(child.exit_code())
    except BaseException:
        await _insist(end_group(child.process))
        raise
    finally:
        child.release()


def _spawn(
    argv: Sequence[str],
    cwd: str,
    separate: bool,
    fed: bool,
    env: Mapping[str, str] | None,
) -> "subprocess.Popen[bytes]":
    """A new session per program: it has no terminal to steal, and its group can be ended whole."""
    return subprocess.Popen(
        argv,
        cwd=cwd,
        env=env,
        stdin=subprocess.PIPE if fed else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE if separate else subprocess.STDOUT,
        bufsize=0,
        start_new_session=True,
    )


class _Child:
    """A running program and everything the event loop holds for it."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self.process = process
        self._loop = asyncio.get_running_loop()
        self._exit: asyncio.Future[None] = self._loop.create_future()
        self._drained: asyncio.Future[None] = self._loop.create_future()
        self._drains: set[Drain] = set()
        self._feed: Feed | None = None
        self._pidfd = -1
        self._fault: BaseException | None = None

    def connect(self, output: Sink, errors: Sink | None, stdin: bytes) -> None:
        process, loop = self.process, self._loop
        if process.stdout is not None:
            self._drains.add(Drain(process.stdout, output, self._closed, loop))
        if process.stderr is not None and errors is not None:
            self._drains.add(Drain(process.stderr, errors, self._closed, loop))
        if process.stdin is not None:
            self._feed = Feed(process.stdin, stdin, loop)
        try:
            self._pidfd = os.pidfd_open(process.pid)
        except (AttributeError, OSError):  # not Linux, an old kernel, or a strict sandbox
            waiting = asyncio.ensure_future(asyncio.to_thread(process.wait))
            waiting.add_done_callback(lambda _: _resolve(self._exit))
        else:
            loop.add_reader(self._pidfd, self._exited)

    def _exited(self) -> None:
        self._loop.remove_reader(self._pidfd)
        _resolve(self._exit)

    def _closed(self, drain: Drain, fault: BaseException | None) -> None:
        self._drains.discard(drain)
        self._fault = self._fault or fault
        if fault is not None:
            _resolve(self._exit)
        if fault is not None or not self._drains:
            _resolve(self._drained)

    async def ended(self, timeout: float | None) -> bool:
        """False when time ran out first."""
        done, _ = await asyncio.wait((self._exit,), timeout=timeout)
        self._raise_fault()
        return bool(done)

    async def drained(self) -> None:
        if self._drains:
            await asyncio.wait((self._drained,), timeout=LINGER)
        self._raise_fault()

    def _raise_fault(self) -> None:
        if self._fault is not None:
            raise self._fault

    def exit_code(self) -> int:
        """Reaps. The program has ended, so this does not block; one the kernel cannot end counts
        as killed."""
        code = self.process.poll()
        return -signal.SIGKILL if code is None else code

    def release(self) -> None:
        for drain in self._drains:
            drain.close()
        if self._feed is not None:
            self._feed.close()
        if self._pidfd >= 0:
            self._loop.remove_reader(self._pidfd)
            os.close(self._pidfd)
        if self.process.poll() is None:  # only when the loop itself was torn down under us
            signal_group(self.process.pid, signal.SIGKILL)
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(LAST)


async def _insist(work: Coroutine[Any, Any, None]) -> None:
    """Finishes `work` even when cancelled again: a second Ctrl-C must not leave a process."""
    task = asyncio.ensure_future(work)
    while not task.done():
        with suppress(asyncio.CancelledError):
            await asyncio.shield(task)


def _resolve(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)
