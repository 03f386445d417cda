"""All processes below this one, and how they are brought to an end.

This process is their subreaper: whoever loses its parent becomes our child, so a daemon that forks
twice and opens a session of its own is found like any other.
"""

import os
import select
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from collections.abc import Callable, Collection, Iterable
else:  # the same functions and numbers without the enums, whose import takes longer than all else
    import _signal as signal

GRACE = 1.0
"""Between SIGTERM and SIGKILL: a cancelled command must be gone after two seconds in all."""
LAST = 20.0
"""How long we go on killing. Only a swarm that forks faster than we stop it takes any time."""
PR_SET_CHILD_SUBREAPER = 36
LIST = "/proc/{}/task/{}/children"


def become_subreaper() -> None:
    """Not inherited by a fork: each process must do it for itself."""
    import ctypes

    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "no subreaper")


class Family:
    """`died` gets pid and status of every child of ours that ended."""

    def __init__(self, died: "Callable[[int, int], None]") -> None:
        self._died = died
        self._woken, self._wake = os.pipe()
        os.set_blocking(self._woken, False)
        os.set_blocking(self._wake, False)
        signal.set_wakeup_fd(self._wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def close(self) -> None:
        os.close(self._woken)
        os.close(self._wake)

    def wait(self, seconds: float | None, line: int = -1) -> bool:
        """Until somebody dies, the time is up, or `line` has something to say: then True."""
        poll = select.poll()
        poll.register(self._woken, select.POLLIN)
        if line >= 0:
            poll.register(line, select.POLLIN)
        ready = [at for at, _ in poll.poll(None if seconds is None else max(seconds, 0) * 1000)]
        if self._woken in ready:
            os.read(self._woken, 4096)
        return line in ready

    def collect(self) -> bool:
        """Buries the dead. False when nobody is left."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            self._died(pid, status)

    def end(self) -> None:
        """Asks everybody to end, and ends those who do not."""
        everybody = members()
        send(everybody, signal.SIGTERM)
        send(everybody, signal.SIGCONT)  # who is stopped would not hear it
        until = time.monotonic() + GRACE
        while self.collect():
            left = until - time.monotonic()
            if left <= 0:
                self.kill()
                return
            self.wait(left)

    def kill(self, spared: "Collection[int]" = ()) -> None:
        """Stops all, so that none can fork any more, then kills them together."""
        if not spared:  # who goes on afterwards must not leave the hurry to its children
            _hurry()
        until = time.monotonic() + LAST
        while self.collect() and time.monotonic() < until:
            stopped: set[int] = set()
            while (found := members(spared, _stop)) - stopped and time.monotonic() < until:
                stopped |= found
            if spared and not stopped:
                return
            send(stopped, signal.SIGKILL)
            self.wait(0.05)


def _hurry() -> None:
    """Among hundreds that want the processor we would hardly get it."""
    try:
        os.setpriority(os.PRIO_PROCESS, 0, -20)
    except OSError:  # not for us; then it takes longer
        return


def _stop(pid: int) -> None:
    send((pid,), signal.SIGSTOP)


def send(pids: "Iterable[int]", number: int) -> None:
    for pid in pids:
        try:
            os.kill(pid, number)
        except OSError:  # gone by itself, or not ours to end (setuid)
            continue


def members(
    spared: "Collection[int]" = (), meet: "Callable[[int], None] | None" = None
) -> set[int]:
    """Everybody below this process, without those `spared` and who is below them.

    `meet` gets each before its children are asked for: who is stopped by it has no more of them.
    """
    children = _listed if os.path.exists(LIST.format(os.getpid(), os.getpid())) else _scanned()
    found: set[int] = set()
    ahead = [pid for pid in children(os.getpid()) if pid not in spared]
    for pid in ahead:  # grows on the way
        if pid not in found:
            found.add(pid)
            if meet is not None:
                meet(pid)
            ahead += children(pid)
    return found


def _listed(pid: int) -> list[int]:
    """As the kernel lists them, for each thread."""
    found: list[int] = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(LIST.format(pid, thread), "rb", buffering=0) as file:
                found += map(int, file.read().split())
    except OSError:  # gone
        pass
    return found


def _scanned() -> "Callable[[int], list[int]]":
    """Where the kernel has no such lists: everybody's parent."""
    below: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit() and (parent := _parent(name)):
            below.setdefault(parent, []).append(int(name))
    return lambda pid: below.get(pid, [])


def _parent(pid: str) -> int:
    try:
        with open(f"/proc/{pid}/stat", "rb", buffering=0) as file:
            # The program's name, in brackets, may itself hold brackets and spaces.
            return int(file.read().rpartition(b")")[2].split(None, 2)[1])
    except (OSError, IndexError):
        return 0
