"""A warm process that forks a child for every run, and sees what each of them leaves behind.

Everything is imported once, so a run costs what its session costs. As a subreaper it inherits
whatever a killed child had started: an orphan cannot hide from it, by no name and in no group.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import os
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import NamedTuple

PATIENCE = 60.0
"""Seconds until a child counts as hung."""
GONE_WITHIN = 5.0
"""Seconds in which everything that a killed agent had started is gone."""
PR_SET_CHILD_SUBREAPER = 36


class Died(NamedTuple):
    code: int
    """Negative: killed by that signal."""
    left: float
    """Seconds until the last of what it had started was gone."""
    orphans: tuple[str, ...] = ()
    """What was not gone in time; it has been ended."""


def settle() -> None:
    """Become the one that collects orphans."""
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "no subreaper here")
    tempfile.gettempdir()  # it tries folders out by writing


def load(modules: Iterable[str]) -> None:
    """What a child has come to need: the next ones find it there."""
    for name in modules:
        with suppress(ImportError):
            importlib.import_module(name)
    gc.collect()
    gc.freeze()


def run(task: Callable[[], None], *, kill_after: float = 0.0) -> Died:
    """In a child of its own, until all that it started has gone too."""
    child = os.fork()
    if child == 0:
        _become(task)
    return followed(child, kill_after)


def followed(child: int, kill_after: float = 0.0) -> Died:
    """To its end, or to the one that is made of it; and until nothing is left of it."""
    if kill_after:
        time.sleep(kill_after)
        os.kill(child, signal.SIGKILL)
    code = _collected(child)
    since = time.monotonic()
    while _children() and time.monotonic() < since + GONE_WITHIN:
        if not _reaped():
            time.sleep(0.001)
    left = time.monotonic() - since
    return Died(code, left, _ended_by_force())


def _become(task: Callable[[], None]) -> None:
    code = 70
    try:
        signal.alarm(round(PATIENCE))
        task()
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def _collected(child: int) -> int:
    while True:
        pid, status = os.waitpid(-1, 0)
        if pid == child:
            return os.waitstatus_to_exitcode(status)


def _reaped() -> bool:
    try:
        return os.waitpid(-1, os.WNOHANG)[0] != 0
    except ChildProcessError:
        return False


def _children() -> list[int]:
    with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as file:
        return [int(word) for word in file.read().split()]


def _ended_by_force() -> tuple[str, ...]:
    found: list[str] = []
    while children := _children():
        for pid in children:
            found.append(_command(pid))
            os.kill(pid, signal.SIGKILL)
        os.waitpid(-1, 0)
    return tuple(found)


def _command(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().replace(b"\0", b" ").decode(errors="replace")[:200]
    except OSError:
        return str(pid)
