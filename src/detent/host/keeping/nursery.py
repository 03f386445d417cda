"""The nursery: forks a keeper for every command, and outlives the agent to see all of them end.

Its standard input is the line to the agent. Each message there carries the control socket of one
command; the end of the line means that the agent has gone, in whatever way.
"""

import _socket
import os
import resource
import sys
import time

from detent.host.keeping.family import GRACE, LAST, Family, become_subreaper
from detent.host.keeping.keeper import keep

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
else:
    import _signal as signal

DEAF_TO = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGTSTP", "SIGTTIN", "SIGTTOU", "SIGPIPE")
"""What a terminal or a tidy person sends: the agent hears it, and ends us by ending."""
READY = b"ready"


def main() -> None:
    _settle()
    become_subreaper()
    nursery = _Nursery()
    nursery.serve()
    nursery.close()


def _settle() -> None:
    os.chdir("/")
    # Whoever started the agent may have left descriptors open: they are not for commands.
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2:
            try:
                os.close(int(name))
            except OSError:  # the listing's own
                continue
    for name in DEAF_TO:
        signal.signal(getattr(signal, name), signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    try:  # when memory runs out, rather a command than the agent
        with open("/proc/self/oom_score_adj", "r+b", buffering=0) as file:
            score = int(file.read())
            file.write(b"%d" % min(score + 500, 1000))
    except OSError:
        pass


class _Nursery:
    def __init__(self) -> None:
        self._line = _socket.socket(fileno=0)
        self._keepers: set[int] = set()
        self._family = Family(self._died)
        self._has_strays = False

    def serve(self) -> None:
        self._line.send(READY)
        while True:
            is_called = self._family.wait(None, 0)
            self._family.collect()
            if self._has_strays:
                self._has_strays = False
                self._family.kill(spared=self._keepers)
            if is_called and not self._take():
                return

    def _died(self, pid: int, status: int) -> None:
        if pid in self._keepers:
            self._keepers.remove(pid)
            # A keeper that was killed has left its command to us.
            self._has_strays = self._has_strays or status != 0

    def _take(self) -> bool:
        """One order; False at the end of the line."""
        room = _socket.CMSG_LEN(4)
        try:
            data, extra, _, _ = self._line.recvmsg(1, room, _socket.MSG_CMSG_CLOEXEC)
        except OSError:
            return False
        for _, _, packed in extra:
            control = int.from_bytes(packed, sys.byteorder)
            try:
                self._keepers.add(os.fork() or self._become_keeper(control))
            except OSError as error:
                os.write(control, f"F {error.errno} program\n".encode())
            os.close(control)
        return bool(data)

    def _become_keeper(self, control: int) -> int:
        code = 1
        try:
            os.dup2(1, 0)  # the line must end when the nursery does
            self._family.close()
            keep(control)
            code = 0
        finally:
            os._exit(code)

    def close(self) -> None:
        """The keepers have lost the agent as well and are ending theirs; then the rest."""
        until = time.monotonic() + GRACE + LAST + 1
        while self._family.collect() and time.monotonic() < until:
            self._family.wait(until - time.monotonic())
        self._family.kill()
