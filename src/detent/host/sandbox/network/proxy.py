"""The network of a sandbox: one port that speaks HTTP CONNECT, plain HTTP and SOCKS5.

It runs in the agent, outside the sandbox, and is the only way out. Whoever connects is a command;
none is trusted, so everything is bounded, and each host is checked before anything is looked up.
"""

import asyncio
import socket
from collections.abc import Mapping
from contextlib import suppress

from detent.host.sandbox.network import socks
from detent.host.sandbox.network.allowed import LOCAL, Hosts
from detent.host.sandbox.network.asking import read_head
from detent.host.sandbox.network.outward import Outward, RefusedHost, Resolve, Way
from detent.host.sandbox.network.relay import Relay
from detent.http.transport import Origin

MOST_HEAD = 64 * 1024
MOST_CONNECTIONS = 256
HEAD_TIMEOUT = 30.0
MOST_REMEMBERED = 10_000
FAREWELL = 1.0
"""Seconds for a client to read why it is refused."""

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class NetworkProxy:
    """`environ` is the user's: it may name a proxy on the way out."""

    def __init__(
        self, hosts: Hosts, environ: Mapping[str, str], resolve: Resolve | None = None
    ) -> None:
        self._hosts = hosts
        self._outward = Outward(hosts, environ, resolve)
        self.refused: list[str] = []
        """Each host that was not let through, in order."""
        self._servers: list[asyncio.Server] = []
        self._talks: set[asyncio.Task[None]] = set()

    async def serve(self, listening: socket.socket) -> None:
        """From now on, and on any number of sockets; they are ours from here."""
        listening.setblocking(False)
        server = await asyncio.start_server(self._accept, sock=listening, limit=MOST_HEAD)
        self._servers.append(server)

    def variables(self, port: int) -> Mapping[str, str]:
        """What makes programs use it. All as HTTP: some Python programs fail at a SOCKS address
        that they would not even need."""
        here = f"http://127.0.0.1:{port}"
        around = ",".join(sorted(LOCAL - self._hosts.own))
        both = {"HTTP_PROXY": here, "HTTPS_PROXY": here, "ALL_PROXY": here, "NO_PROXY": around}
        lower = {name.lower(): value for name, value in both.items()}
        return {**both, **lower, "NODE_USE_ENV_PROXY": "1"}

    async def aclose(self) -> None:
        for server in self._servers:
            server.close()
        self._servers.clear()
        talks = list(self._talks)
        for talk in talks:
            talk.cancel()
        await asyncio.gather(*talks, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._talks) >= MOST_CONNECTIONS:
            writer.transport.abort()
            return
        talk = asyncio.get_running_loop().create_task(self._talk(reader, writer))
        self._talks.add(talk)
        talk.add_done_callback(self._talks.discard)

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        client = reader, writer
        try:
            async with asyncio.timeout(HEAD_TIMEOUT):
                first = await reader.readexactly(1)
            if first[0] == socks.VERSION:
                await self._socks(client)
            else:
                await self._http(client, first)
            await _let_read(client)
        except (OSError, asyncio.IncompleteReadError):  # it left, or took too long
            pass
        finally:
            writer.transport.abort()

    async def _http(self, client: Streams, first: bytes) -> None:
        reader, writer = client
        try:
            async with asyncio.timeout(HEAD_TIMEOUT):
                head = await reader.readuntil(b"\r\n\r\n")
            asked = read_head(first + head)
        except asyncio.LimitOverrunError:
            writer.write(_answer(431, "Header Too Large", "The head is too large."))
            return
        except ValueError as error:
            writer.write(_answer(400, "Bad Request", f"Not a request to a proxy: {error}."))
            return
        try:
            way = await self._open(asked.target.origin)
        except RefusedHost as refusal:
            writer.write(_answer(403, "Refused by the sandbox", str(refusal)))
        except OSError as error:
            writer.write(_answer(502, "Bad Gateway", f"Not reached: {error.strerror or error}."))
        else:
            if asked.is_tunnel:
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            else:
                head = asked.head(whole_address=way.forwards, credentials=way.credentials)
                way.writer.write(head)
            await _relayed(client, way)

    async def _socks(self, client: Streams) -> None:
        reader, writer = client
        try:
            async with asyncio.timeout(HEAD_TIMEOUT):
                place = await socks.wanted(reader, writer)
        except socks.BadSocks as error:
            writer.write(socks.reply(error.code))
            return
        except ValueError:  # no name of a host: a trick, or a mistake
            writer.write(socks.reply(socks.REFUSED))
            return
        if place is None:
            return
        try:
            way = await self._open(Origin("https", *place))
        except RefusedHost:
            writer.write(socks.reply(socks.REFUSED))
        except OSError:
            writer.write(socks.reply(socks.UNREACHABLE))
        else:
            writer.write(socks.reply(socks.GRANTED))
            await _relayed(client, way)

    async def _open(self, origin: Origin) -> Way:
        try:
            return await self._outward.open(origin)
        except RefusedHost as refusal:
            if len(self.refused) < MOST_REMEMBERED:
                self.refused.append(refusal.host)
            raise


async def _relayed(client: Streams, way: Way) -> None:
    try:
        await Relay().run(client, (way.reader, way.writer))
    finally:
        way.writer.transport.abort()


async def _let_read(client: Streams) -> None:
    """What a client sends while nobody reads would make the system throw our last words away."""
    reader, writer = client
    with suppress(OSError):
        async with asyncio.timeout(FAREWELL):
            await writer.drain()
            if not writer.is_closing():
                writer.write_eof()
            while await reader.read(MOST_HEAD):
                pass


def _answer(status: int, reason: str, sentence: str) -> bytes:
    body = f"{sentence}\n".encode()
    head = (
        f"HTTP/1.1 {status} {reason}\r\ncontent-type: text/plain; charset=utf-8\r\n"
        f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
    )
    return head.encode() + body
