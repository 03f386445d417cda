"""What a server may do to a connection: every fault ends at once, with a sentence."""

from __future__ import annotations

import asyncio

import pytest

from detent.http.exchange import MOST_HEAD
from detent.http.transport import ConnectionCut, Transport
from loopback import OK, Peer, Server, fetch, run, sends, serving, whole

LONG = b"x" * (MOST_HEAD + 1)


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (b"HTTP/1.1 200 OK\r\nx: " + LONG, "endless head"),
        (b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 20_000 + b"\r\n", "endless head"),
        (b"HTTP/1.1 100 Go on\r\n\r\n" * 5_000, "endless head"),
        (b"HTTP/1.1 101 Up\r\nupgrade: h2c\r\nconnection: upgrade\r\n\r\nPRI", "another protocol"),
        (b"SSH-2.0-OpenSSH_9.6\r\n", "does not speak HTTP"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n", "not speak HTTP"),
        (b"HTTP/1.1 200 OK\r\n", "without an answer"),
        (b"", "without an answer"),
    ],
    ids=["line", "lines", "provisional", "upgrade", "ssh", "lengths", "cut", "nothing"],
)
def test_a_head_that_is_none(answer: bytes, text: str) -> None:
    async def main() -> None:
        async with Server(sends(answer)) as server:
            transport = Transport({})
            with pytest.raises(ConnectionCut, match=text):
                await transport.post(server.url, {}, b"{}")
            await transport.aclose()

    run(main)


def test_an_endless_head_that_never_pauses_is_left() -> None:
    async def pours(peer: Peer) -> None:
        await peer.request()
        await peer.send(b"HTTP/1.1 200 OK\r\n")
        while True:
            await peer.send(b"HTTP/1.1 100 Go on\r\n\r\n" * 100)

    async def main() -> None:
        async with Server(pours) as server:
            transport = Transport({})
            with pytest.raises(ConnectionCut):
                await transport.post(server.url, {}, b"{}")
            await asyncio.wait_for(server.gone.wait(), 10)
            await transport.aclose()

    run(main)


def test_a_large_body_in_one_piece_with_its_head_is_no_large_head() -> None:
    body = LONG * 3

    async def main() -> None:
        answer = b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(body) + body
        async with Server(sends(answer)) as server:
            transport = Transport({})
            assert await fetch(transport, server.url) == body
            await transport.aclose()

    run(main)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b"content-length: 9\r\n\r\nhalf", "in the middle"),
        (b"transfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n", "in the middle"),
        (b"transfer-encoding: chunked\r\n\r\n4\r\nhalf\r\nzz\r\n", "does not speak HTTP"),
    ],
)
def test_a_body_that_breaks_off(body: bytes, text: str) -> None:
    async def main() -> None:
        async with Server(sends(b"HTTP/1.1 200 OK\r\n" + body)) as server:
            transport = Transport({})
            exchange = await transport.post(server.url, {}, b"{}")
            with pytest.raises(ConnectionCut, match=text):
                await whole(exchange)
            transport.give_back(server.url, exchange)
            await transport.aclose()

    run(main)


@pytest.mark.parametrize(
    "more",
    [b"garbage", OK, b"HTTP/1.1 500 Oh\r\ncontent-length: 5\r\n\r\nwrong", b"\0\0"],
    ids=["garbage", "another", "a failure", "zeros"],
)
@pytest.mark.parametrize("at_once", [True, False])
def test_what_follows_an_answer_does_not_spoil_it(more: bytes, at_once: bool) -> None:
    async def talkative(peer: Peer) -> None:
        await peer.request()
        if at_once:
            await peer.send(OK + more)
        else:
            await peer.send(OK)
            await peer.send(more)
        await peer.reader.read()

    async def main() -> None:
        async with Server(talkative, serving) as server:
            transport = Transport({})
            exchange = await transport.post(server.url, {}, b"{}")
            assert await whole(exchange) == b"ok"
            while not exchange.closed:
                await asyncio.sleep(0)
            assert (exchange.status, exchange.headers) == (200, {"content-length": "2"})
            transport.give_back(server.url, exchange)
            assert await fetch(transport, server.url) == b"ok"
            assert server.connections == 2, "its connection is not used again"
            await transport.aclose()

    run(main)


def test_the_headers_of_a_provisional_answer_are_not_those_of_the_answer() -> None:
    async def main() -> None:
        hints = b"HTTP/1.1 103 Early Hints\r\ncontent-encoding: br\r\nlink: x\r\n\r\n"
        async with Server(sends(hints + OK)) as server:
            transport = Transport({})
            exchange = await transport.post(server.url, {}, b"{}")
            assert exchange.headers == {"content-length": "2"}
            assert await whole(exchange) == b"ok"
            exchange.abort()
            await transport.aclose()

    run(main)
