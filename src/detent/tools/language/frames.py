"""The framing of the Language Server Protocol: a header with the length, then that many bytes."""

import re

MOST_HEADER = 64 * 1024
MOST_BODY = 64 * 1024 * 1024
_END = b"\r\n\r\n"
_LENGTH = re.compile(rb"^content-length:[ \t]*(\d{1,12})[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)


class BadFrame(Exception):
    """The stream is not one of this protocol."""


def framed(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


class Frames:
    """Takes bytes as they come and gives the bodies that are complete.

    Lines that a program prints before or between its messages are passed over: some servers greet.
    """

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._wanted = -1
        """Length of the body being read; -1 while reading a header."""

    def feed(self, chunk: bytes) -> list[bytes]:
        self._buffer += chunk
        bodies = []
        while (body := self._next()) is not None:
            bodies.append(body)
        return bodies

    def _next(self) -> bytes | None:
        while self._wanted < 0:
            if not self._read_header():
                return None
        if len(self._buffer) < self._wanted:
            return None
        body = bytes(self._buffer[: self._wanted])
        del self._buffer[: self._wanted]
        self._wanted = -1
        return body

    def _read_header(self) -> bool:
        """False when its end has not come yet."""
        end = self._buffer.find(_END)
        if end > MOST_HEADER or (end < 0 and len(self._buffer) >= MOST_HEADER + len(_END)):
            raise BadFrame("what it prints are not messages of the protocol")
        if end < 0:
            return False
        lengths = _LENGTH.findall(self._buffer[:end])
        del self._buffer[: end + len(_END)]
        if lengths:
            self._wanted = int(lengths[-1])
            if self._wanted > MOST_BODY:
                raise BadFrame(f"a message of {self._wanted:,} bytes is too large")
        return True
