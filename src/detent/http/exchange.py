"""One HTTP/1.1 connection: a request out, an answer in, with llhttp (httptools) as the parser.

Nothing a server sends can make it grow: the head is bounded, an unread body pauses the socket, a
packed body is unpacked at the reader's pace. Every early end has a sentence. How long a server may
be silent is for `watch` to say, and how much an answer may hold for `assemble`.
"""

import asyncio
from typing import TYPE_CHECKING, Any

import httptools

if TYPE_CHECKING:
    from detent.http.tape import Taped

HIGH_WATER = 1024 * 1024
"""Bytes kept unread before the socket is paused: a slow reader holds the server back."""
MOST_HEAD = 64 * 1024
"""Bytes before the body, provisional answers included."""


class ConnectionCut(ConnectionError):
    """The connection ended before the answer was complete, or what came was no answer."""


class Exchange(asyncio.Protocol):
    """Carries one request at a time. The callbacks are called by httptools."""

    through_proxy = False
    """The other end is a proxy that forwards plain http: it wants whole addresses."""
    credentials = ""
    """A header line for such a proxy."""
    taped: "Taped | None" = None
    """Keeps what comes, where the user wants that."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._reset()
        self.closed = False

    def _reset(self) -> None:
        self._parser = httptools.HttpResponseParser(self)
        self.status = 0
        self.headers: dict[str, str] = {}
        self.head_done = False
        self.complete = False
        self.heard = False
        self._keep_alive = False
        self._head_size = self._fields_size = 0
        self._body: list[bytes] = []
        self._size = 0
        self._paused = False
        self._unpacked: Any = None
        self._fault: Exception | None = None

    @property
    def transport(self) -> asyncio.Transport | None:
        return self._transport

    def send(self, head: bytes, body: bytes) -> None:
        self._reset()
        assert self._transport is not None
        self._transport.write(head + body if len(body) < 65536 else head)
        if len(body) >= 65536:
            self._transport.write(body)

    async def head(self) -> None:
        while not self.head_done:
            await self._wait()
        if "content-encoding" in self.headers:
            from detent.http.body import unpacking

            self._unpacked = unpacking(self.headers["content-encoding"])

    async def read(self) -> bytes:
        """What has arrived, at least one byte; empty at the end of the answer."""
        if self._unpacked is None:
            return await self.read_raw()
        data: bytes = await self._unpacked.read(self.read_raw)
        return data

    async def read_raw(self) -> bytes:
        """The same, as it came over the wire."""
        while not self._body:
            if self.complete:
                return b""
            await self._wait()
        data = self._body[0] if len(self._body) == 1 else b"".join(self._body)
        self._body, self._size = [], 0
        if self._paused and self._transport is not None:
            self._transport.resume_reading()
            self._paused = False
        return data

    @property
    def reusable(self) -> bool:
        """An unread rest may have paused the socket: such a connection is not used again."""
        return not self.closed and self.complete and not self._body and self._keep_alive

    def abort(self) -> None:
        self.closed = True
        self._tell_tape("left")
        if self._transport is not None:
            self._transport.abort()

    def _tell_tape(self, how: str) -> None:
        if self.taped is not None:
            self.taped.end(how)

    def _give_up(self, why: str) -> None:
        """What has come of a whole answer can still be read: only those who wait learn of it."""
        self._fault = ConnectionCut(why)
        self._tell_tape(f"left: {why}")
        self.abort()

    async def _wait(self) -> None:
        if self.closed:
            raise self._fault or ConnectionCut(
                "the server closed the connection in the middle of its answer"
                if self.head_done
                else "the server closed the connection without an answer"
            )
        self._waiter = asyncio.get_running_loop().create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    # asyncio.Protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self.heard = True
        if self.taped is not None:
            self.taped.heard(data)
        if not self.head_done:
            self._head_size += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self._give_up("the server wants to speak another protocol than HTTP")
        except httptools.HttpParserError as error:
            self._give_up(str(error.__context__ or f"the server does not speak HTTP: {error}"))
        if not self.head_done and self._head_size > MOST_HEAD:
            self._give_up("the server sent an endless head")
        if self._size > HIGH_WATER and not self._paused and self._transport is not None:
            self._transport.pause_reading()
            self._paused = True
        self._wake()

    def eof_received(self) -> bool:
        # Without a length an answer ends with the connection; the parser knows which case it is.
        # httptools has no call for "end of input", so a body of unknown length is taken as whole.
        if self.head_done and not self.complete and self._until_close():
            self.complete = True
            self._tell_tape("closed")
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        self.closed = True
        if exc is not None and self._fault is None:
            self._fault = _explained(exc)
        self._tell_tape(f"cut: {exc}" if exc is not None else "cut")
        self._wake()

    def _until_close(self) -> bool:
        return "content-length" not in self.headers and "transfer-encoding" not in self.headers

    # httptools callbacks; what they raise comes back as the context of a parser error

    def on_message_begin(self) -> None:
        if self.complete:
            raise ConnectionCut("the server said more than it was asked")
        self.headers = {}  # those of a provisional answer are not those of the answer

    def on_header(self, name: bytes, value: bytes) -> None:
        self._fields_size += len(name) + len(value) + len(": \r\n")
        if self._fields_size > MOST_HEAD:
            raise ConnectionCut("the server sent an endless head")
        self.headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        status = self._parser.get_status_code()
        if status >= 200:  # 100 Continue and its kin are followed by the real answer
            self.status = status
            self.head_done = True

    def on_body(self, body: bytes) -> None:
        self._body.append(body)
        self._size += len(body)

    def on_message_complete(self) -> None:
        self.complete = self.head_done
        if self.complete:
            self._tell_tape("whole")
        self._keep_alive = self._parser.should_keep_alive()  # only known at this moment


def _explained(error: Exception) -> Exception:
    if hasattr(error, "reason"):  # one of TLS: some say what the user must do
        from detent.http.tls import explained

        return explained(error)
    return ConnectionCut(f"the connection broke: {error}")
