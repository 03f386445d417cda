"""Faults at a chosen operation: the n-th write, sync, rename or spawn of this process is its last.

The layer lies over the names of `os`, `socket` and `subprocess` by which Python reaches the kernel,
and over `open`, whose files then write through it. It holds for all threads, from `install` on.
"""

from __future__ import annotations

import builtins
import io
import os
import signal
import socket
import subprocess
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

BEFORE, HALF, AFTER = "before", "half", "after"

WRITES = ("write", "pwrite", "writev", "sendfile", "copy_file_range")
SYNCS = ("fsync", "fdatasync", "sync")
NAMES = ("rename", "replace", "link", "symlink", "unlink", "remove", "rmdir", "truncate",
         "ftruncate", "mkdir")  # fmt: skip
SPAWNS = ("posix_spawn", "posix_spawnp", "fork", "forkpty")

SYNCED = "synced"

HALVED = frozenset({"write", "pwrite", "file", "send_fds"})
"""Operations of which a part can be done."""


class Point(NamedTuple):
    """`at` counts from 1. With `error`, that write fails so, and all behind it."""

    at: int = 0
    how: str = BEFORE
    error: int = 0


NOWHERE = Point()


class Heard(NamedTuple):
    """One operation: its name, and the file that it is about."""

    name: str
    what: str


Hear = Callable[[Heard], None]

_real = {
    "open": builtins.open,
    "send_fds": socket.send_fds,
    "fork_exec": getattr(subprocess, "_fork_exec"),  # noqa: B009
    **{name: getattr(os, name) for name in (*WRITES, *SYNCS, *NAMES, *SPAWNS)},
}
real_write = os.write


class Layer:
    """`hear` is told of every operation before it is done; of a sync also when it is: `SYNCED`."""

    def __init__(self, point: Point = NOWHERE, hear: Hear | None = None, under: str = "") -> None:
        self._point = point
        self._hear = hear
        self._under = under
        """Errors hit only files below this folder."""
        self._count = 0
        self._lock = threading.Lock()

    def install(self) -> None:
        for name in (*WRITES, *SYNCS, *NAMES, *SPAWNS):
            setattr(os, name, self._wrapped(name))
        socket.send_fds = self._wrapped("send_fds")
        subprocess._fork_exec = self._wrapped("fork_exec")  # type: ignore[attr-defined]
        layer = self

        class Watched(io.FileIO):
            def write(self, data: Any, /) -> Any:
                return layer._through(
                    "file", super().write, (data,), lambda part: io.FileIO.write(self, part(data)),
                    lambda: str(self.name),
                )  # fmt: skip

        builtins.open = io.open = _opener(Watched)  # type: ignore[assignment]

    def _wrapped(self, name: str) -> Callable[..., Any]:
        real = _real[name]

        def faulty(*args: Any, **named: Any) -> Any:
            def halfway(part: Callable[[Any], bytes]) -> Any:
                first, data, *rest = args
                data = [part(b"".join(data))] if name == "send_fds" else part(data)
                return real(first, data, *rest, **named)

            def what() -> str:
                return _named(name, args, named)

            return self._through(name, lambda *_: real(*args, **named), (), halfway, what)

        return faulty

    def _through(
        self,
        name: str,
        do: Callable[..., Any],
        args: tuple[Any, ...],
        halfway: Callable[[Callable[[Any], bytes]], Any],
        what: Callable[[], str],
    ) -> Any:
        how = self._reached(name, what)
        if how == BEFORE:
            _die()
        if how == HALF and name in HALVED:
            halfway(_half)
            _die()
        done = do(*args)
        if name in SYNCS and self._hear is not None:
            self._hear(Heard(SYNCED, what()))
        if how:
            _die()
        return done

    def _reached(self, name: str, what: Callable[[], str]) -> str:
        """What is to happen to this one. Raises OSError where it is to fail."""
        point = self._point
        if point.error and not self._fails(name, what()):
            return ""
        with self._lock:
            self._count += 1
            is_here = self._count == point.at
            is_behind = bool(point.at) and self._count >= point.at
        if point.error:
            if is_behind:
                raise OSError(point.error, os.strerror(point.error))
            return ""
        if self._hear is not None:
            self._hear(Heard(name, what()))
        return point.how if is_here else ""

    def _fails(self, name: str, what: str) -> bool:
        """A disk that is full or read-only has nothing against a pipe or a process."""
        return name not in (*SPAWNS, "send_fds", "fork_exec") and what.startswith(self._under)


def path_of(descriptor: int) -> str:
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}")
    except OSError:
        return ""


def _named(name: str, args: tuple[Any, ...], named: dict[str, Any]) -> str:
    """Of what gets a name: that name."""
    found = args[name in ("rename", "replace", "link", "symlink")] if args else ""
    if isinstance(found, int):
        return path_of(found)
    folder = named.get("dst_dir_fd", named.get("dir_fd"))
    path = os.fsdecode(found) if isinstance(found, str | bytes | os.PathLike) else ""
    return path if folder is None else os.path.join(path_of(folder), path)


def _half(data: Any) -> bytes:
    whole = bytes(data)
    return whole[: len(whole) // 2]


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _opener(watched: type[io.FileIO]) -> Callable[..., Any]:
    """`open` whose files write through the layer; those that only read are the usual ones."""

    def opened(
        file: Any,
        mode: str = "r",
        buffering: int = -1,
        encoding: str | None = None,
        errors: str | None = None,
        newline: str | None = None,
        closefd: bool = True,
        opener: Any = None,
    ) -> Any:
        if not set("wax+") & set(mode):
            return _real["open"](file, mode, buffering, encoding, errors, newline, closefd, opener)
        raw = watched(file, mode.replace("b", "").replace("t", ""), closefd, opener)
        if buffering == 0:
            return raw
        size = buffering if buffering > 1 else io.DEFAULT_BUFFER_SIZE
        buffered = (io.BufferedRandom if "+" in mode else io.BufferedWriter)(raw, size)
        if "b" in mode:
            return buffered
        return io.TextIOWrapper(buffered, encoding, errors, newline, buffering == 1)

    return opened
