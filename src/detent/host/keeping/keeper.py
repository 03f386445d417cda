"""The keeper of one command: starts it, tells how it ended, and lets nothing of it stay.

Says over its control socket, a line each: `S pid` started; `F errno what` could not; `E code note`
the command itself has ended; `G` all that it started has gone as well, by itself: then the keeper
is as good as new and waits for another order; `D` it had to be ended, and the keeper goes with it.
Anything it hears while a command runs, and the end of the line, means: end everything.

To one that stays the end of the line means nothing: its command outlives the agent, and SIGTERM to
the keeper ends it.
"""

import _socket
import marshal
import os
import sys
import time

from detent.host.keeping.family import Family, become_subreaper, members
from detent.host.keeping.noting import Note

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal

    from detent.host.keeping.noting import Ended
else:
    import _signal as signal

Order = tuple[list[bytes], bytes, dict[bytes, bytes], bytes, list[int]]
"""Its words, folder, environment, the head of its notes, descriptors: the first three are its own,
the fourth takes notes, and the others are held."""
MOST_DESCRIPTORS = 5
MOST = 512
"""Processes of one command at the same time: far above any build, far below a machine's limit."""
FIRST_LOOK = 0.5
LOOK = 0.25
"""Seconds between counts. Short commands are never counted."""
CHEAP = 20
"""A count may take one part in so many of a processor."""
MOST_BYTES = 1_000_000_000
"""Of what a command prints into a file while nobody is there to look at it."""


def keep(control: int, *, stays: bool) -> None:
    """Waits for its orders with everything prepared: it was forked ahead of need."""
    become_subreaper()
    socket = _socket.socket(fileno=control)
    keeper = _Keeper(socket, stays=stays)
    while (order := _order(socket)) is not None:
        if keeper.begin(*order) and not keeper.watch():
            return


def _order(socket: "_socket.socket") -> "Order | None":
    """The length in four bytes, which carry the descriptors, then the rest.

    None when the line ends before the order does.
    """
    room, descriptors = _socket.CMSG_LEN(MOST_DESCRIPTORS * 4), []
    length, extra, _, _ = socket.recvmsg(4, room, _socket.MSG_CMSG_CLOEXEC)
    for _, _, packed in extra:
        descriptors = [
            int.from_bytes(packed[at : at + 4], sys.byteorder) for at in range(0, len(packed), 4)
        ]
    data, size = b"", int.from_bytes(length, "big")
    while len(data) < size:  # not a byte more: the next would be a word of its own
        more = socket.recv(size - len(data))
        if not more:
            return None
        data += more
    return (*marshal.loads(data), descriptors) if data else None


def _start(
    argv: list[bytes], folder: bytes, env: dict[bytes, bytes], descriptors: list[int]
) -> int:
    """With a session of its own, so that it has no terminal to steal."""
    os.chdir(folder)
    return os.posix_spawn(
        _program(argv[0], env),
        argv,
        env,
        file_actions=[(os.POSIX_SPAWN_DUP2, own, at) for at, own in enumerate(descriptors)],
        setsid=True,
        setsigmask=(),
        setsigdef=signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP},
    )


def _program(name: bytes, env: dict[bytes, bytes]) -> bytes:
    """As the command's own PATH has it, not ours."""
    if b"/" in name:
        return name
    for folder in env.get(b"PATH", os.defpath.encode()).split(b":"):
        path = os.path.join(folder, name)
        if os.access(path, os.X_OK) and not os.path.isdir(path):
            return path
    return name


class _Keeper:
    def __init__(self, socket: "_socket.socket", *, stays: bool) -> None:
        self.command = 0
        self._socket = socket
        self._stays = stays
        self._is_asked = False
        """To end everything."""
        self._why: Ended = "itself"
        self._words = self._end = ""
        self._note = Note()
        self._output = -1
        """The file of a command that stays."""
        self._family = Family(self._died)
        if stays:
            signal.signal(signal.SIGTERM, self._ask)

    def begin(
        self,
        argv: list[bytes],
        folder: bytes,
        env: dict[bytes, bytes],
        head: bytes,
        descriptors: list[int],
    ) -> bool:
        """False when it could not be started."""
        own, self._note, self._why = descriptors[:3], Note(head, descriptors[3:]), "itself"
        self._note.begins(stays=self._stays)
        try:
            self.command = _start(argv, folder, env, own)
            answer = f"S {self.command}"
        except OSError as error:
            self.command = 0
            self._note.ended(error.errno or 0, "failed")
            self._note.close()
            answer = f"F {error.errno} {'folder' if error.filename == folder else 'program'}"
        if self._stays:
            self._output = os.dup(own[1])
        for descriptor in own:
            os.close(descriptor)
        os.chdir("/")
        self.say(answer)
        return bool(self.command)

    def watch(self) -> bool:
        """To the last of the command's processes; whether they have gone by themselves."""
        due = time.monotonic() + FIRST_LOOK
        line = self._socket.fileno()
        while self._family.collect():
            self._tell_end()
            if self._family.wait(due - time.monotonic(), line) and not self._hears():
                line = -1  # the agent has gone
            if self._is_asked or (line < 0 and not self._stays):
                self._why = "asked" if self._is_asked else "gone"
                self._family.end()
                return self._gone(by_itself=False)
            now = time.monotonic()
            if now >= due:
                if excess := self._excess():
                    self._words = excess
                    self._family.kill()
                    return self._gone(by_itself=False)
                due = time.monotonic() + max(LOOK, CHEAP * (time.monotonic() - now))
        return self._gone(by_itself=not self._stays)

    def _excess(self) -> str:
        """What there is too much of."""
        if len(members()) > MOST:
            return f"Ended: more than {MOST} processes at a time."
        if self._output >= 0 and os.fstat(self._output).st_size > MOST_BYTES:
            return f"Ended: it printed more than {MOST_BYTES // 1_000_000_000} GB."
        return ""

    def _ask(self, *_: object) -> None:
        self._is_asked = True

    def _hears(self) -> bool:
        """A word on the line, whatever it is, asks; False at the line's end."""
        try:
            heard = self._socket.recv(1)
        except OSError:
            heard = b""
        self._is_asked = self._is_asked or bool(heard)
        return bool(heard)

    def _gone(self, *, by_itself: bool) -> bool:
        self._tell_end("\nG" if by_itself else "\nD")
        self._note.close()
        return by_itself

    def _died(self, pid: int, status: int) -> None:
        if pid == self.command:
            code = os.waitstatus_to_exitcode(status)
            self._end = f"E {code} {self._words}"
            self._note.ended(code, self._why, self._words)

    def _tell_end(self, more: str = "") -> None:
        """Once; for most commands in one message with the last word."""
        if self._end or more:
            self.say(self._end + more)
            self._end = ""

    def say(self, line: str) -> None:
        try:
            self._socket.send(line.encode() + b"\n")
        except OSError:  # nobody listens any more
            return
