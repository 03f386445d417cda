"""The nursery: forks a keeper for every command, and outlives the agent to see all of them end.

Its standard input is the line to the agent, or the descriptor that it was told of if it is to
confine itself first. Each message there carries the control socket of one
command; the end of the line means that the agent has gone, in whatever way. Then it ends them all;
one that stays waits until they have ended by themselves.
"""

import _socket
import marshal
import os
import resource
import sys
import time

from detent.host.keeping.family import GRACE, LAST, Family, become_subreaper, send
from detent.host.keeping.keeper import keep

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
else:
    import _signal as signal

DEAF_TO = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGTSTP", "SIGTTIN", "SIGTTOU", "SIGPIPE")
"""What a terminal or a tidy person sends: the agent hears it, and ends us by ending."""
READY, CONFINED = b"ready", b"confined"
STAYS = "stays"


def main() -> None:
    """Its arguments, behind where we are: the line's descriptor, if confined, and `stays`."""
    words = sys.argv[2:]
    stays, is_confined = STAYS in words, bool(words) and words[0] != STAYS
    if is_confined:
        os.dup2(int(words[0]), 0)
    _settle()
    become_subreaper()
    line = _socket.socket(fileno=0)
    try:
        listening = _confine(line) if is_confined else None
    except OSError as error:
        line.send(f"{error.strerror or error}".encode())
        return
    os.dup2(1, 2)  # until now somebody read our errors
    nursery = _Nursery(line, stays=stays)
    _say(line, CONFINED if is_confined else READY, listening)
    nursery.serve()
    nursery.close()


def _confine(line: "_socket.socket") -> "_socket.socket | None":
    """As the agent orders: the length in four bytes, then the orders. Raises OSError."""
    from detent.host.keeping.confining import confine

    size = int.from_bytes(line.recv(4, _socket.MSG_WAITALL), "big")
    return confine(marshal.loads(line.recv(size, _socket.MSG_WAITALL)))


def _say(line: "_socket.socket", word: bytes, descriptor: "_socket.socket | None") -> None:
    if descriptor is None:
        line.send(word)
        return
    packed = descriptor.fileno().to_bytes(4, sys.byteorder)
    line.sendmsg([word], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, packed)])
    descriptor.close()


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
    def __init__(self, line: "_socket.socket", *, stays: bool) -> None:
        self._line = line
        self._stays = stays
        self._keepers: set[int] = set()
        self._family = Family(self._died)
        self._has_strays = False

    def serve(self) -> None:
        while True:
            is_called = self._family.wait(None, 0)
            self._bury()
            if is_called and not self._take():
                return

    def _bury(self) -> bool:
        """False when nobody is left."""
        is_left = self._family.collect()
        if self._has_strays:
            self._has_strays = False
            self._family.kill(spared=self._keepers)
        return is_left

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
            keep(control, stays=self._stays)
            code = 0
        finally:
            os._exit(code)

    def close(self) -> None:
        """The keepers have lost the agent as well and are ending theirs; then the rest."""
        while self._stays and self._bury():
            self._family.wait(None)
        send(self._keepers, signal.SIGCONT)  # who is stopped would not hear of it
        until = time.monotonic() + GRACE + LAST + 1
        while self._family.collect() and time.monotonic() < until:
            self._family.wait(until - time.monotonic())
        self._family.kill()
