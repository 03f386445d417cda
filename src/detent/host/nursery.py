"""The agent's end of the nursery, the process that owns every command (see `keeping/`)."""

import asyncio
import marshal
import os
import signal
import socket
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from weakref import WeakSet

from detent.host.child import insist
from detent.host.kept import KeptHold

BIRTH = 10.0
"""Seconds until an interpreter that says nothing counts as one that cannot be used."""
MOST_IDLE = 4
TRIES = MOST_IDLE + 3
"""Any that wait may have been killed since."""
READY = b"ready"
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = (
    "import sys; sys.path.append(sys.argv[1]); from detent.host.keeping.nursery import main; main()"
)


class NoNursery(Exception):
    """This system cannot have one."""


class Nursery:
    """Starts with the first command; when it was killed, another starts with the next."""

    def __init__(self, interpreter: str = sys.executable) -> None:
        self._interpreter = interpreter
        # A frozen program is its own interpreter and would only start itself.
        self._is_possible = sys.platform == "linux" and not getattr(sys, "frozen", False)
        self._line: socket.socket | None = None
        self._idle: list[socket.socket] = []
        """Of keepers that wait for an order."""
        self._pid = 0
        self._starting: asyncio.Task[None] | None = None
        self._holds: set[KeptHold] = set()

    async def spawn(
        self,
        argv: Sequence[str],
        cwd: str,
        env: Mapping[str, str] | None,
        descriptors: tuple[int, int, int],
    ) -> KeptHold:
        """Raises OSError when the program could not start, NoNursery when nothing ever will."""
        for left in [hold for hold in self._holds if hold.loop.is_closed()]:
            left.drop()
        order = _order(argv, cwd, os.environ if env is None else env)
        hold = await self._ordered(order, descriptors)
        try:
            await hold.started(argv[0], cwd)
        except asyncio.CancelledError:
            await insist(hold.end())
            raise
        return hold

    async def _ordered(self, order: bytes, descriptors: tuple[int, int, int]) -> KeptHold:
        """A keeper that has its order. One without the whole of it does nothing: so another may
        be asked when it was killed before."""
        for _ in range(TRIES):
            control = await self._control()
            hold = KeptHold(control, self._holds.discard, self._take_back)
            self._holds.add(hold)
            try:
                sent = socket.send_fds(control, [order], list(descriptors))
                if sent < len(order):  # else its keeper may be done with it already, and gone
                    await hold.loop.sock_sendall(control, order[sent:])
                return hold
            except BaseException as error:
                hold.drop()
                if not isinstance(error, ConnectionError):
                    raise
        raise NoNursery

    async def _control(self) -> socket.socket:
        """The socket of a keeper that waits for its order."""
        with suppress(TimeoutError):
            async with asyncio.timeout(BIRTH):
                while True:
                    if self._line is not None and _is_collected(self._pid):
                        self._forget()  # killed since the last command
                    if self._line is None:
                        await self._start()
                        continue
                    if not self._idle:
                        self._call_one(self._line)
                    if self._idle:
                        return self._idle.pop()
                    await asyncio.sleep(0.001)  # hundreds at once, and the line is full
        raise NoNursery

    def _take_back(self, control: socket.socket) -> None:
        """A keeper whose command has gone by itself can have another."""
        control.setblocking(False)
        if self._line is not None and len(self._idle) < MOST_IDLE:
            self._idle.append(control)
        else:
            control.close()

    def _call_one(self, line: socket.socket) -> None:
        """Another keeper: a fork takes longer than all else that a command costs us."""
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        with theirs:
            try:
                socket.send_fds(line, [b"c"], [theirs.fileno()])
                self._idle.append(ours)
            except OSError:
                ours.close()

    async def _start(self) -> None:
        """Once for all commands that wait for it, even when the first of them is cancelled."""
        if not self._is_possible:
            raise NoNursery
        loop = asyncio.get_running_loop()
        if self._starting is None or self._starting.get_loop() is not loop:
            self._starting = loop.create_task(self._begin())
        await asyncio.shield(self._starting)
        if not self._is_possible:
            raise NoNursery

    async def _begin(self) -> None:
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        is_ready = False
        try:
            with theirs:
                self._pid = self._launch(theirs.fileno())
            async with asyncio.timeout(BIRTH):
                loop = asyncio.get_running_loop()
                is_ready = await loop.sock_recv(ours, len(READY)) == READY
        except OSError:  # TimeoutError is one
            pass
        finally:
            self._starting = None
            if is_ready:
                self._line = ours
            else:
                ours.close()
        if not is_ready:
            self._is_possible = False
            await _collected(self._pid)

    def _launch(self, line: int) -> int:
        """With nothing of our environment: whoever may look into it there finds no key."""
        libraries = "LD_LIBRARY_PATH"  # an interpreter may need it to start at all
        return os.posix_spawn(
            self._interpreter,
            [self._interpreter, "-I", "-S", "-c", PROGRAM, ROOT],
            {libraries: os.environ[libraries]} if libraries in os.environ else {},
            file_actions=[
                (os.POSIX_SPAWN_DUP2, line, 0),
                (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_RDWR, 0),
                (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_RDWR, 0),
            ],
            setsid=True,
            setsigmask=(),
            setsigdef=signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP},
        )

    async def rest(self) -> None:
        """Ends the nursery while nobody needs it; the next command starts another."""
        if self._line is None or self._holds or self._starting is not None:
            return
        self._forget()
        await _collected(self._pid)

    def abandon(self) -> None:
        """In a fork of the agent: all this is the parent's."""
        self._forget()
        self._starting = None
        while self._holds:
            self._holds.pop().abandon()

    def __del__(self) -> None:
        """With its thread: the line ends, and the nursery with it."""
        self._forget()

    def _forget(self) -> None:
        if self._line is not None:
            self._line.close()
        while self._idle:
            self._idle.pop().close()
        self._line = None


async def _collected(pid: int) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(1):
            while not _is_collected(pid):
                await asyncio.sleep(0.002)


def _is_collected(pid: int) -> bool:
    if pid == 0:  # none was ever started
        return True
    try:
        return os.waitpid(pid, os.WNOHANG) != (0, 0)
    except ChildProcessError:  # by somebody else
        return True


def _order(argv: Sequence[str], cwd: str, env: Mapping[str, str]) -> bytes:
    words = [os.fsencode(word) for word in argv]
    variables = {os.fsencode(name): os.fsencode(value) for name, value in env.items()}
    if b"\0" in b"".join((*words, *variables, *variables.values())):
        raise ValueError("embedded null byte")
    order = marshal.dumps((words, os.fsencode(cwd), variables))
    return len(order).to_bytes(4, "big") + order


_ALL: WeakSet[Nursery] = WeakSet()


class _Own(threading.local):
    def __init__(self) -> None:
        self.nursery = Nursery()
        _ALL.add(self.nursery)


_OWN = _Own()


def nursery() -> Nursery:
    """One for all sessions of a thread: they share its event loop."""
    return _OWN.nursery


def _after_fork() -> None:
    """In whichever thread: a line that stays open here would keep commands alive."""
    for one in list(_ALL):
        one.abandon()


os.register_at_fork(after_in_child=_after_fork)
