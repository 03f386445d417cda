"""The agent's end of the nursery, the process that owns every command (see `keeping/`)."""

import asyncio
import marshal
import os
import signal
import socket
import sys
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from weakref import WeakSet

from msgspec import Struct

from detent.host.child import insist
from detent.host.kept import KeptHold
from detent.host.notes import Note
from detent.host.unreadable import protect_agent

BIRTH = 10.0
"""Seconds until an interpreter that says nothing counts as one that cannot be used."""
MOST_IDLE = 4
TRIES = MOST_IDLE + 3
"""Any that wait may have been killed since."""
READY, CONFINED = b"ready", b"confined"
"""What a nursery says: one with a cell that says the first holds nothing."""
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = (
    "import sys; sys.path.append(sys.argv[1]); from detent.host.keeping.nursery import main; main()"
)


class NoNursery(Exception):
    """This system cannot have one."""


class Cell(Struct, frozen=True):
    """How a nursery is started that confines itself (see `keeping/confining.py`)."""

    wrapper: tuple[str, ...]
    """What starts its interpreter."""
    orders: bytes
    welcome: Callable[[socket.socket], Awaitable[None]] | None = None
    """Gets the socket that it sends, if it was ordered to: one of a network of its own."""


class Nursery:
    """Starts with the first command; when it was killed, another starts with the next. One with a
    cell starts confined or not at all."""

    def __init__(
        self,
        interpreter: str = sys.executable,
        cell: Cell | None = None,
        *,
        stays: bool = False,
    ) -> None:
        """One that `stays` outlives us until all its commands have ended."""
        self._interpreter = interpreter
        self._stays = stays
        self._cell = cell
        self._trouble = ""
        # A frozen program is its own interpreter and would only start itself.
        self.is_possible = sys.platform == "linux" and not getattr(sys, "frozen", False)
        self._line: socket.socket | None = None
        self._idle: list[socket.socket] = []
        """Of keepers that wait for an order."""
        self._pid = 0
        self._starting: asyncio.Task[None] | None = None
        self._holds: set[KeptHold] = set()
        _ALL.add(self)

    async def spawn(
        self,
        argv: Sequence[str],
        cwd: str,
        env: Mapping[str, str] | None,
        descriptors: tuple[int, int, int],
        note: Note | None = None,
    ) -> KeptHold:
        """Raises OSError when the program could not start, NoNursery when nothing ever will."""
        for left in [hold for hold in self._holds if hold.loop.is_closed()]:
            left.drop()
        order = _order(argv, cwd, os.environ if env is None else env, note)
        hold = await self._ordered(order, (*descriptors, *(note.files if note else ())))
        try:
            await hold.started(argv[0], cwd)
        except asyncio.CancelledError:
            await insist(hold.end())
            raise
        return hold

    async def _ordered(self, order: bytes, descriptors: tuple[int, ...]) -> KeptHold:
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
        raise NoNursery(f"it said nothing for {BIRTH:g} seconds")

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
        if not self.is_possible:
            raise NoNursery
        loop = asyncio.get_running_loop()
        if self._starting is None or self._starting.get_loop() is not loop:
            self._starting = loop.create_task(self._begin())
        await asyncio.shield(self._starting)
        if self._trouble or not self.is_possible:
            raise NoNursery(self._trouble)

    async def _begin(self) -> None:
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        self._trouble, fault, is_ready = "", "", False
        errors = os.memfd_create("errors")
        try:
            with theirs:
                self._pid = self._launch(theirs.fileno(), errors)
            protect_agent()  # while it starts
            if self._cell is not None and self._cell.wrapper:
                _offer(self._pid)
            async with asyncio.timeout(BIRTH):
                is_ready = await self._is_welcome(ours)
        except OSError as error:  # TimeoutError is one
            fault = str(error)
        finally:
            self._starting = None
            if is_ready:
                self._line = ours
            else:
                ours.close()
                self._trouble = self._trouble or _last_line(errors) or fault or "it ended at once"
            os.close(errors)
        if not is_ready:
            self.is_possible = self._cell is not None  # what it needs may be there the next time
            await _collected(self._pid)

    async def _is_welcome(self, line: socket.socket) -> bool:
        if self._cell is not None:
            orders = self._cell.orders
            await asyncio.get_running_loop().sock_sendall(
                line, len(orders).to_bytes(4, "big") + orders
            )
        word, descriptors = await _heard(line)
        is_ready = word == (READY if self._cell is None else CONFINED)
        if not is_ready:
            self._trouble = word.decode(errors="replace")
        elif self._cell is not None and self._cell.welcome is not None:
            await self._cell.welcome(socket.socket(fileno=descriptors.pop()))
        return is_ready

    def _launch(self, line: int, errors: int) -> int:
        """With nothing of our environment: whoever may look into it there finds no key."""
        libraries = "LD_LIBRARY_PATH"  # an interpreter may need it to start at all
        # A wrapper keeps the first three for itself, and with them the line open when its nursery
        # has died; so there the line is the fourth.
        wrapper, at = (self._cell.wrapper, 3) if self._cell else ((), 0)
        flags = [*([str(at)] if at else []), *(["stays"] if self._stays else [])]
        argv = [*wrapper, self._interpreter, "-I", "-S", "-c", PROGRAM, ROOT, *flags]
        return os.posix_spawn(
            argv[0],
            argv,
            {libraries: os.environ[libraries]} if libraries in os.environ else {},
            file_actions=[
                (os.POSIX_SPAWN_DUP2, errors, 2),
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDWR, 0),
                (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_RDWR, 0),
                (os.POSIX_SPAWN_DUP2, line, at),
            ],
            setsid=True,
            setsigmask=(),
            setsigdef=signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP},
        )

    @property
    def is_idle(self) -> bool:
        return not self._holds and self._starting is None

    async def rest(self) -> None:
        """Ends the nursery while nobody needs it; the next command starts another."""
        if self._line is None or not self.is_idle:
            return
        self._forget()
        if not self._stays:
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


async def _heard(line: socket.socket) -> tuple[bytes, list[int]]:
    loop, ready = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(line, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(line)
    word, descriptors, _, _ = socket.recv_fds(line, 4096, 1)
    return word, descriptors


def _offer(pid: int) -> None:
    """When memory runs out, rather a command than the agent: a nursery does that for itself, but
    not where it can write nothing of the kernel's."""
    with suppress(OSError, ValueError), open(f"/proc/{pid}/oom_score_adj", "r+") as file:
        score = int(file.read())
        file.write(str(min(score + 500, 1000)))


def _last_line(file: int) -> str:
    """What the one who could not start has said."""
    text = os.pread(file, 65_536, 0).decode(errors="replace").strip()
    return text.rpartition("\n")[2]


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


def _order(
    argv: Sequence[str], cwd: str, env: Mapping[str, str], note: Note | None = None
) -> bytes:
    words = [os.fsencode(word) for word in argv]
    variables = {os.fsencode(name): os.fsencode(value) for name, value in env.items()}
    if b"\0" in b"".join((*words, *variables, *variables.values())):
        raise ValueError("embedded null byte")
    order = marshal.dumps((words, os.fsencode(cwd), variables, note.head if note else b""))
    return len(order).to_bytes(4, "big") + order


_ALL: WeakSet[Nursery] = WeakSet()


class _Own(threading.local):
    def __init__(self) -> None:
        self.nursery = Nursery()
        self.staying = Nursery(stays=True)


_OWN = _Own()


def nursery() -> Nursery:
    """One for all sessions of a thread: they share its event loop."""
    return _OWN.nursery


def staying_nursery() -> Nursery:
    """The same for what outlives us."""
    return _OWN.staying


def _after_fork() -> None:
    """In whichever thread: a line that stays open here would keep commands alive."""
    for one in list(_ALL):
        one.abandon()


os.register_at_fork(after_in_child=_after_fork)
