"""The pipes between us and one program, served by the event loop without threads."""

import os
from asyncio import AbstractEventLoop
from collections.abc import Callable
from contextlib import suppress

CHUNK = 65_536
"""What a Linux pipe holds: more per wake-up gains nothing and lets one child starve the loop."""

Sink = Callable[[bytes], None]


class Drain:
    """Reads one pipe to its end and hands on every piece as it comes."""

    __slots__ = ("_closed", "_loop", "_pipe", "_sink")

    def __init__(
        self,
        pipe: int,
        sink: Sink,
        closed: Callable[["Drain", BaseException | None], None],
        loop: AbstractEventLoop,
    ) -> None:
        self._pipe, self._sink, self._closed, self._loop = pipe, sink, closed, loop
        os.set_blocking(pipe, False)
        loop.add_reader(pipe, self._ready)

    def _ready(self) -> None:
        fault: BaseException | None = None
        try:
            chunk = os.read(self._pipe, CHUNK)
            if chunk:
                self._sink(chunk)
        except BlockingIOError:
            return
        except Exception as error:
            fault, chunk = error, b""
        if not chunk:
            self.close()
            self._closed(self, fault)

    def close(self) -> None:
        if self._pipe >= 0:
            self._loop.remove_reader(self._pipe)
            os.close(self._pipe)
            self._pipe = -1


class Feed:
    """Writes the program's input as fast as it takes it; what waits is kept here."""

    __slots__ = ("_is_last", "_left", "_loop", "_pipe")

    def __init__(self, pipe: int, loop: AbstractEventLoop) -> None:
        self._pipe, self._left, self._is_last, self._loop = pipe, bytearray(), False, loop
        os.set_blocking(pipe, False)

    def write(self, data: bytes, last: bool = False) -> None:
        """The input ends after what is `last`. A program that closed its input loses the data."""
        if self._pipe < 0:
            return
        if not self._left:
            self._loop.add_writer(self._pipe, self._ready)
        self._left += data
        self._is_last = last

    def _ready(self) -> None:
        try:
            with memoryview(self._left) as left, left[:CHUNK] as piece:
                written = os.write(self._pipe, piece)
        except BlockingIOError:
            return
        except OSError:  # the program closed its input: it has read what it wanted
            self.close()
            return
        del self._left[:written]
        if not self._left and self._is_last:
            self.close()
        elif not self._left:
            self._loop.remove_writer(self._pipe)

    def close(self) -> None:
        if self._pipe >= 0:
            self._loop.remove_writer(self._pipe)
            os.close(self._pipe)
            self._pipe, self._left = -1, bytearray()


class Plumbing:
    """The descriptors of a program to be: `inner` for it, the others for us."""

    def __init__(self, output: Sink | str, errors: Sink | None, fed: bool) -> None:
        """`output` may be the path of a file, which then takes both streams."""
        self._mine: list[int] = []
        self._inner: list[int] = []
        self.sinks: list[tuple[int, Sink]] = []
        self.input: int | None = None
        try:
            self.inner = self._lay(output, errors, fed)
        except BaseException:
            self.close()
            raise

    def _lay(self, output: Sink | str, errors: Sink | None, fed: bool) -> tuple[int, int, int]:
        source = self._source() if fed else self._open("/dev/null", os.O_RDONLY)
        if isinstance(output, str):
            into = self._open(output, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
            return source, into, into
        into = self._drained(output)
        return source, into, into if errors is None else self._drained(errors)

    def _open(self, path: str, flags: int) -> int:
        self._inner.append(os.open(path, flags | os.O_CLOEXEC | os.O_NOCTTY, 0o600))
        return self._inner[-1]

    def _source(self) -> int:
        reads, self.input = os.pipe()
        self._inner.append(reads)
        self._mine.append(self.input)
        return reads

    def _drained(self, sink: Sink) -> int:
        reads, writes = os.pipe()
        self._mine.append(reads)
        self._inner.append(writes)
        self.sinks.append((reads, sink))
        return writes

    def hand_over(self) -> None:
        """The program has its ends: ours of those would keep the pipes open."""
        while self._inner:
            os.close(self._inner.pop())

    def close(self) -> None:
        """Nothing could start."""
        self.hand_over()
        while self._mine:
            with suppress(OSError):
                os.close(self._mine.pop())
