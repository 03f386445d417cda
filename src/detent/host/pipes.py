"""The parent's ends of a child's pipes, served by the event loop without threads."""

import os
from asyncio import AbstractEventLoop
from collections.abc import Callable
from typing import IO

CHUNK = 65_536
"""What a Linux pipe holds: more per wake-up gains nothing and lets one child starve the loop."""


class Drain:
    """Reads one pipe to its end and hands on every piece as it comes."""

    __slots__ = ("_closed", "_loop", "_pipe", "_sink")

    def __init__(
        self,
        pipe: IO[bytes],
        sink: Callable[[bytes], None],
        closed: Callable[["Drain", BaseException | None], None],
        loop: AbstractEventLoop,
    ) -> None:
        self._pipe, self._sink, self._closed, self._loop = pipe, sink, closed, loop
        os.set_blocking(pipe.fileno(), False)
        loop.add_reader(pipe.fileno(), self._ready)

    def _ready(self) -> None:
        fault: BaseException | None = None
        try:
            chunk = self._pipe.read(CHUNK)
            if chunk:
                self._sink(chunk)
        except Exception as error:
            fault, chunk = error, b""
        if chunk == b"":  # None would mean "nothing yet"
            self.close()
            self._closed(self, fault)

    def close(self) -> None:
        if not self._pipe.closed:
            self._loop.remove_reader(self._pipe.fileno())
            self._pipe.close()


class Feed:
    """Writes the child's input as fast as the child takes it."""

    __slots__ = ("_left", "_loop", "_pipe")

    def __init__(self, pipe: IO[bytes], data: bytes, loop: AbstractEventLoop) -> None:
        self._pipe, self._left, self._loop = pipe, memoryview(data), loop
        os.set_blocking(pipe.fileno(), False)
        loop.add_writer(pipe.fileno(), self._ready)

    def _ready(self) -> None:
        try:
            self._left = self._left[self._pipe.write(self._left[:CHUNK]) or 0 :]
        except OSError:  # the child closed its input: it has read what it wanted
            self._left = self._left[:0]
        if not self._left:
            self.close()

    def close(self) -> None:
        if not self._pipe.closed:
            self._loop.remove_writer(self._pipe.fileno())
            self._pipe.close()
