"""A program under a keeper, seen from the agent: one control socket (see `keeping/keeper.py`)."""

import asyncio
import os
import signal
from collections.abc import Callable
from contextlib import suppress
from socket import socket

from detent.host.child import Ended

PATIENCE = 2.5
"""For a keeper to end everything. It goes on when we do not wait any longer."""


class KeptHold:
    """Closing the socket is enough to make the keeper end everything; so is our own death."""

    def __init__(
        self,
        control: socket,
        closed: Callable[["KeptHold"], None],
        free: Callable[[socket], None],
    ) -> None:
        """`free` gets the socket of a keeper that can be given another order."""
        self.pid = 0
        self.loop = loop = asyncio.get_running_loop()
        self._control, self._closed, self._free = control, closed, free
        self._is_told = False
        """To end everything: it may still hear that, and take it for an order."""
        self._unread = b""
        self._code: int | None = None
        self._note = ""
        self._ended: Ended | None = None
        self._failure: OSError | None = None
        self._started: asyncio.Future[None] = loop.create_future()
        self._gone: asyncio.Future[None] = loop.create_future()
        loop.add_reader(control.fileno(), self._listen)

    @property
    def is_empty(self) -> bool:
        return self._gone.done()

    async def started(self, program: str, folder: str) -> None:
        """Raises OSError when it could not."""
        await asyncio.wait((self._started,))
        if self._failure is not None:
            self._set_free()
            number, what = self._failure.args
            name = folder if what == "folder" else program
            raise OSError(number, os.strerror(number), name)

    def watch(self, ended: Ended) -> None:
        self._ended = ended
        self._tell()

    async def end(self) -> None:
        if self.loop is asyncio.get_running_loop():
            self._is_told = True
            with suppress(OSError):
                self._control.send(b"e")
            await asyncio.wait((self._gone,), timeout=PATIENCE)
        self.drop()

    def drop(self) -> None:
        if self._control.fileno() < 0:
            return
        self.loop.remove_reader(self._control.fileno())
        self._control.close()
        self._leave()

    def _set_free(self) -> None:
        """The command has gone by itself, and all that it started; or there was none."""
        if self._control.fileno() < 0:
            return
        self.loop.remove_reader(self._control.fileno())
        self._free(socket(fileno=self._control.detach()))
        self._leave()

    def _leave(self) -> None:
        self._closed(self)
        if self.loop.is_closed():  # then nobody waits
            return
        for future in (self._started, self._gone):
            if not future.done():
                future.set_result(None)
        if self._code is None:  # nobody could tell: killed, and its keeper with it
            self._code = -signal.SIGKILL
            self._tell()

    def abandon(self) -> None:
        """Only our copy goes; the loop is the parent's and must not be touched."""
        self._control.close()

    def _listen(self) -> None:
        try:
            heard = self._control.recv(4096)
        except BlockingIOError:
            return
        except OSError:
            heard = b""
        *lines, self._unread = (self._unread + heard).split(b"\n")
        for line in lines:
            self._understand(line.decode())
        if not heard:
            self.drop()

    def _understand(self, line: str) -> None:
        word, _, rest = line.partition(" ")
        first, _, note = rest.partition(" ")
        match word:
            case "S":
                self.pid = int(first)
                self._started.set_result(None)
            case "F":
                self._failure = OSError(int(first), note)
                self._started.set_result(None)
            case "E":
                self._code, self._note = int(first), note
                self._tell()
            case "G" if not self._is_told:
                self._set_free()
            case "G" | "D":
                self.drop()

    def _tell(self) -> None:
        if self._ended is not None and self._code is not None:
            ended, self._ended = self._ended, None
            ended(self._code, self._note)
