"""HTTP/1.1 by hand: a raw server on loopback says exactly which bytes come back, and when."""

from __future__ import annotations

import asyncio
import gc
import socket
from pathlib import Path
from typing import Any

import pytest

from detent.http.proxy import proxy_for
from detent.http.transport import (
    HIGH_WATER,
    ConnectionCut,
    Origin,
    Target,
    Transport,
    parse_target,
    socket_address,
)
from detent.types.errors import ModelFailure
from loopback import (
    AUTHORITY,
    OK,
    Peer,
    Server,
    fetch,
    run,
    sends,
    server_side,
    serving,
    whole,
)


def test_a_request_is_sent_as_it_should_be() -> None:
    seen: list[Any] = []

    async def handler(peer: Peer) -> None:
        seen.append(await peer.request())
        await peer.send(OK)

    async def main() -> None:
        async with Server(handler) as server:
            transport = Transport({})
            exchange = await transport.post(server.url + "?beta=true", {"x-api-key": "k"}, b"hello")
            assert exchange.status == 200
            assert exchange.headers["content-length"] == "2"
            assert await whole(exchange) == b"ok"
            exchange.abort()
            assert seen == [
                (
                    "POST /v1/x?beta=true HTTP/1.1",
                    {
                        "host": f"127.0.0.1:{server.port}",
                        "content-length": "5",
                        "x-api-key": "k",
                    },
                    b"hello",
                )
            ]
            await transport.aclose()

    run(main)


def test_a_connection_is_used_again() -> None:
    async def main() -> None:
        async with Server(serving) as server:
            transport = Transport({})
            for _ in range(5):
                assert await fetch(transport, server.url) == b"ok"
            assert server.connections == 1
            await transport.aclose()

    run(main)


def test_two_at_once_take_two_connections() -> None:
    async def main() -> None:
        async with Server(serving) as server:
            transport = Transport({})
            first = await transport.post(server.url, {}, b"")
            second = await transport.post(server.url, {}, b"")
            for exchange in (first, second):
                await whole(exchange)
                transport.give_back(server.url, exchange)
            await asyncio.gather(*(fetch(transport, server.url) for _ in range(2)))
            assert server.connections == 2
            await transport.aclose()

    run(main)


@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok",
        b"HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nok",
    ],
)
def test_a_connection_the_server_will_close_is_not_used_again(head: bytes) -> None:
    async def handler(peer: Peer) -> None:
        await peer.request()
        await peer.send(head)
        await peer.reader.read()  # leaves the closing to the client

    async def main() -> None:
        async with Server(handler) as server:
            transport = Transport({})
            for _ in range(2):
                assert await fetch(transport, server.url) == b"ok"
            assert server.connections == 2
            await transport.aclose()

    run(main)


def test_an_idle_connection_that_died_is_replaced_without_a_word() -> None:
    async def once(peer: Peer) -> None:
        await peer.request()
        await peer.send(OK)
        peer.writer.close()
        await peer.writer.wait_closed()
        closed.set()

    async def main() -> None:
        async with Server(once, serving) as server:
            transport = Transport({})
            assert await fetch(transport, server.url) == b"ok"
            await closed.wait()
            assert await fetch(transport, server.url) == b"ok"
            assert server.connections == 2
            await transport.aclose()

    closed = asyncio.Event()
    run(main)


def test_a_connection_that_dies_at_the_next_request_is_replaced_once() -> None:
    """The race: the server closes while our request is on its way."""

    async def refuses_the_second(peer: Peer) -> None:
        await peer.request()
        await peer.send(OK)
        await peer.request()
        peer.writer.transport.abort()

    async def main() -> None:
        async with Server(refuses_the_second, serving) as server:
            transport = Transport({})
            assert await fetch(transport, server.url) == b"ok"
            assert await fetch(transport, server.url) == b"ok"
            assert server.connections == 2
            await transport.aclose()

    run(main)


def test_a_request_that_was_half_answered_is_not_sent_again() -> None:
    """The server has seen it: only whoever asked may decide to ask twice."""

    async def half_the_second(peer: Peer) -> None:
        await peer.request()
        await peer.send(OK)
        await peer.request()
        await peer.send(b"HTTP/1.1 200 OK\r\n")

    async def main() -> None:
        async with Server(half_the_second, serving) as server:
            transport = Transport({})
            assert await fetch(transport, server.url) == b"ok"
            with pytest.raises(ConnectionCut, match="without an answer"):
                await fetch(transport, server.url)
            assert server.connections == 1
            await transport.aclose()

    run(main)


def test_a_fresh_connection_that_dies_is_a_fault() -> None:
    async def slams(peer: Peer) -> None:
        await peer.request()

    async def main() -> None:
        async with Server(slams) as server:
            transport = Transport({})
            with pytest.raises(ConnectionCut):
                await transport.post(server.url, {}, b"{}")
            assert server.connections == 1
            await transport.aclose()

    run(main)


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n8\r\nhalf",
    ],
)
def test_a_connection_cut_inside_the_body_is_noticed(answer: bytes) -> None:
    async def main() -> None:
        async with Server(sends(answer)) as server:
            transport = Transport({})
            exchange = await transport.post(server.url, {}, b"{}")
            assert await exchange.read() == b"half"
            with pytest.raises(ConnectionCut):
                await exchange.read()
            assert not exchange.reusable
            await transport.aclose()

    run(main)


def test_a_body_without_a_length_ends_with_the_connection() -> None:
    async def main() -> None:
        async with Server(sends(b"HTTP/1.0 200 OK\r\n\r\n", b"one ", b"two")) as server:
            transport = Transport({})
            exchange = await transport.post(server.url, {}, b"{}")
            assert await whole(exchange) == b"one two"
            assert not exchange.reusable
            transport.give_back(server.url, exchange)
            await transport.aclose()

    run(main)


def test_what_is_not_http_is_a_fault() -> None:
    async def main() -> None:
        async with Server(sends(b"SSH-2.0-OpenSSH_9.6\r\n")) as server:
            transport = Transport({})
            with pytest.raises(ConnectionCut):
                await transport.post(server.url, {}, b"{}")
            await transport.aclose()

    run(main)


def test_a_provisional_answer_is_passed_over() -> None:
    async def provisional(peer: Peer) -> None:
        await peer.request()
        await peer.send(b"HTTP/1.1 100 Continue\r\n\r\n")
        for _ in range(20):  # the client sees it on its own
            await asyncio.sleep(0)
        await peer.send(b"HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n" + OK)

    async def main() -> None:
        async with Server(provisional) as server:
            transport = Transport({})
            exchange = await transport.post(server.url, {}, b"{}")
            assert exchange.status == 200
            assert await whole(exchange) == b"ok"
            exchange.abort()
            await transport.aclose()

    run(main)


def test_a_large_body_goes_both_ways() -> None:
    big = bytes(range(256)) * 4096  # 1 MB

    async def handler(peer: Peer) -> None:
        _, _, body = await peer.request()
        await peer.send(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(body))
        await peer.send(body)

    async def main() -> None:
        async with Server(handler) as server:
            transport = Transport({})
            assert await fetch(transport, server.url, big) == big
            await transport.aclose()

    run(main)


def test_a_slow_reader_holds_the_server_back() -> None:
    sent = 0
    chunk = b"x" * 65536

    async def pours(peer: Peer) -> None:
        nonlocal sent
        peer.writer.transport.set_write_buffer_limits(high=0)
        await peer.request()
        await peer.send(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % (1024 * len(chunk)))
        for _ in range(1024):
            peer.writer.write(chunk)
            sent += len(chunk)
            await peer.writer.drain()

    async def main() -> None:
        async with Server(pours) as server:
            transport = Transport({})
            exchange = await transport.post(server.url, {}, b"{}")
            while not exchange._paused:
                await asyncio.sleep(0)
            kept = exchange._size
            for _ in range(50):
                await asyncio.sleep(0)
            assert exchange._size == kept, "nothing more is taken in"
            assert kept < HIGH_WATER + 1024 * 1024
            assert sent < 64 * 1024 * 1024
            total = 0
            while part := await exchange.read():
                total += len(part)
            assert total == 64 * 1024 * 1024, "and all of it comes when it is read"
            transport.give_back(server.url, exchange)
            await transport.aclose()

    run(main)


def test_a_connection_with_an_unread_rest_is_not_used_again() -> None:
    body = b"x" * (HIGH_WATER + 500_000)

    async def handler(peer: Peer) -> None:
        await peer.request()
        await peer.send(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(body) + body)
        await peer.reader.read()

    async def main() -> None:
        async with Server(handler, serving) as server:
            transport = Transport({})
            exchange = await transport.post(server.url, {}, b"{}")
            while not exchange.complete:
                if exchange._paused:
                    await exchange.read()
                await asyncio.sleep(0)
            transport.give_back(server.url, exchange)
            # The old one may be paused for good: an answer on it would never be seen.
            assert await fetch(transport, server.url) == b"ok"
            assert server.connections == 2
            await transport.aclose()

    run(main)


def test_cancelling_while_waiting_for_the_head_closes_the_socket() -> None:
    async def silent(peer: Peer) -> None:
        await peer.request()
        asked.set()
        assert await peer.reader.read() == b""
        left.set()

    async def main() -> None:
        async with Server(silent) as server:
            transport = Transport({})
            task = asyncio.create_task(transport.post(server.url, {}, b"{}"))
            await asked.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await asyncio.wait_for(left.wait(), 10)
            await transport.aclose()

    asked, left = asyncio.Event(), asyncio.Event()
    run(main)


def test_giving_back_an_unfinished_answer_closes_the_socket() -> None:
    async def half(peer: Peer) -> None:
        await peer.request()
        await peer.send(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n")
        await peer.reader.read()
        left.set()

    async def main() -> None:
        async with Server(half) as server:
            transport = Transport({})
            exchange = await transport.post(server.url, {}, b"{}")
            assert await exchange.read() == b"half"
            transport.give_back(server.url, exchange)
            await asyncio.wait_for(left.wait(), 10)
            await transport.aclose()

    left = asyncio.Event()
    run(main)


def test_closing_the_transport_closes_idle_connections() -> None:
    async def handler(peer: Peer) -> None:
        await peer.request()
        await peer.send(OK)
        await peer.reader.read()
        left.set()

    async def main() -> None:
        async with Server(handler) as server:
            transport = Transport({})
            await fetch(transport, server.url)
            await transport.aclose()
            await asyncio.wait_for(left.wait(), 10)

    left = asyncio.Event()
    run(main)


def test_nobody_listening_is_an_os_error() -> None:
    async def main() -> None:
        async with Server(serving) as server:
            url = server.url
        with pytest.raises(OSError):
            await Transport({}).post(url, {}, b"{}")

    run(main)


SOCKET = Origin("http+unix", "/run/m.sock", 0)


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("http://h/a?b=c", Target(Origin("http", "h", 80), "/a?b=c")),
        ("https://h", Target(Origin("https", "h", 443), "/")),
        ("http://127.0.0.1:8080/v1", Target(Origin("http", "127.0.0.1", 8080), "/v1")),
        ("http://[::1]:9/x", Target(Origin("http", "::1", 9), "/x")),
        ("HTTPS://h/", Target(Origin("https", "h", 443), "/")),
        (
            "http+unix://%2Frun%2Fm.sock/v1?a=b",
            Target(SOCKET, "/v1?a=b"),
        ),
        ("http+unix://%2Frun%2Fm", Target(Origin("http+unix", "/run/m", 0), "/")),
        ("unix:///run/m.sock", Target(SOCKET, "/")),
        ("unix:/run/m.sock", Target(SOCKET, "/")),
        ("unix:///run/m.sock/v1/x", Target(SOCKET, "/v1/x")),
        (
            "unix:///run/a.socks/m.sock/v1",
            Target(Origin("http+unix", "/run/a.socks/m.sock", 0), "/v1"),
        ),
    ],
)
def test_addresses(url: str, target: Target) -> None:
    assert parse_target(url) == target


@pytest.mark.parametrize(
    "url",
    [
        "unix://run/m.sock",
        "unix:m.sock",
        "http+unix://run/v1",
        "unix:///m.sock/a\r\nb",
        "http://h/ ",
    ],
)
def test_what_is_no_address(url: str) -> None:
    with pytest.raises(ValueError):
        parse_target(url)


def test_a_server_behind_a_unix_socket(tmp_path: Path) -> None:
    seen: list[Any] = []

    async def handler(peer: Peer) -> None:
        while True:
            seen.append(await peer.request())
            await peer.send(OK)

    async def main() -> None:
        path = str(tmp_path / "model.sock")
        async with Server(handler, socket=path) as server:
            transport = Transport({"ALL_PROXY": "http://127.0.0.1:1"})
            assert await fetch(transport, f"unix://{path}/v1/x") == b"ok"
            assert await fetch(transport, socket_address(path, "/v1") + "/y") == b"ok"
            assert server.connections == 1, "both are the same place"
            await transport.aclose()

    run(main)
    assert [first for first, _, _ in seen] == ["POST /v1/x HTTP/1.1", "POST /v1/y HTTP/1.1"]
    assert seen[0][1]["host"] == "localhost"


def test_a_header_with_a_line_end_is_not_sent() -> None:
    async def main() -> None:
        async with Server(serving) as server:
            transport = Transport({})
            with pytest.raises(ModelFailure, match="line end"):
                await transport.post(server.url, {"x": "a\r\ny: b"}, b"{}")
            await transport.aclose()

    run(main)


# Answers that are no streams


def test_a_small_answer_is_fetched_whole() -> None:
    seen: list[Any] = []

    async def handler(peer: Peer) -> None:
        while True:
            seen.append(await peer.request())
            await peer.send(OK)

    async def main() -> None:
        async with Server(handler) as server:
            transport = Transport({})
            got = await transport.get(server.url, {"x-api-key": "k"})
            assert (got.status, got.body, got.headers["content-length"]) == (200, b"ok", "2")
            assert (await transport.submit(server.url, {}, b"a=b")).body == b"ok"
            assert server.connections == 1
            await transport.aclose()

    run(main)
    assert seen[0][0] == "GET /v1/x HTTP/1.1"
    assert seen[0][1]["x-api-key"] == "k" and "content-length" not in seen[0][1]
    assert (seen[1][0], seen[1][2]) == ("POST /v1/x HTTP/1.1", b"a=b")


def test_a_small_answer_that_is_huge_is_refused() -> None:
    async def pours(peer: Peer) -> None:
        await peer.request()
        await peer.send(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            await peer.send(b"x" * 65536)

    async def main() -> None:
        async with Server(pours) as server:
            transport = Transport({})
            with pytest.raises(ConnectionCut, match="longer than"):
                await transport.get(server.url, {})
            await transport.aclose()

    run(main)


# Redirects


def redirects(status: int, location: str, *, then: list[Any] | None = None) -> Any:
    async def handler(peer: Peer) -> None:
        while True:
            request = await peer.request()
            if then is not None and "/moved" in request[0]:
                then.append(request)
                await peer.send(OK)
            else:
                head = f"HTTP/1.1 {status} Go\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n"
                await peer.send(head.encode())

    return handler


@pytest.mark.parametrize("status", [301, 302, 307, 308])
@pytest.mark.parametrize("location", ["/moved", "moved?a=b", "http://127.0.0.1:{port}/moved"])
def test_a_redirect_within_the_origin_is_followed(status: int, location: str) -> None:
    seen: list[Any] = []

    async def main() -> None:
        server = Server(serving)
        async with server:
            place = location.format(port=server.port)
            server._handlers = (redirects(status, place, then=seen),)
            transport = Transport({})
            exchange = await transport.post(server.url, {"x-api-key": "k"}, b"body")
            assert (exchange.status, await whole(exchange)) == (200, b"ok")
            transport.give_back(server.url, exchange)
            await transport.aclose()

    run(main)
    ((first, headers, body),) = seen
    assert first.startswith("POST /") and "moved" in first
    assert (headers["x-api-key"], body) == ("k", b"body")


@pytest.mark.parametrize(
    ("status", "location", "text"),
    [
        (307, "https://127.0.0.1:{port}/v1", "redirects to https://127.0.0.1"),
        (307, "http://127.0.0.1:1/v1", "redirects to http://127.0.0.1:1/v1; set the base URL"),
        (308, "//other.test/v1?key=secret", "redirects to //other.test/v1; set"),
        (302, "http://u:secret@other.test/\x9b31m", r"redirects to http://other.test/\?+31m"),
        (301, "ftp://other.test/", "redirects to ftp://other.test/"),
        (303, "/moved", "answers with a page at /moved"),
        (307, "", "does not say where"),
        (307, "http://[", "no address"),
        (308, "/v1/x", "in circles"),
    ],
)
def test_any_other_redirect_is_a_failure_that_names_the_place(
    status: int, location: str, text: str
) -> None:
    async def main() -> None:
        server = Server(serving)
        async with server:
            server._handlers = (redirects(status, location.format(port=server.port)),)
            transport = Transport({})
            with pytest.raises(ModelFailure, match=text) as caught:
                await transport.post(server.url, {"x-api-key": "k"}, b"{}")
            assert caught.value.kind == "invalid_request"
            assert "secret" not in caught.value.message
            assert server.connections <= 4
            await transport.aclose()

    run(main)


# Proxies

HTTPS, HTTP = Origin("https", "api.model.test", 443), Origin("http", "api.model.test", 80)
TEN, SIX = Origin("http", "10.1.2.3", 80), Origin("http", "fd00::1", 80)


@pytest.mark.parametrize(
    ("environ", "origin", "proxy"),
    [
        ({}, HTTPS, None),
        ({"https_proxy": "http://p:1"}, HTTPS, "http://p:1"),
        ({"HTTPS_PROXY": "http://p:1"}, HTTPS, "http://p:1"),
        ({"https_proxy": "http://low", "HTTPS_PROXY": "http://up"}, HTTPS, "http://low"),
        ({"HTTPS_PROXY": "http://p:1"}, HTTP, None),
        ({"HTTP_PROXY": "http://p:1"}, HTTP, "http://p:1"),
        ({"ALL_PROXY": "http://a"}, HTTP, "http://a"),
        ({"ALL_PROXY": "http://a", "HTTPS_PROXY": "http://p"}, HTTPS, "http://p"),
        ({"ALL_PROXY": "http://a", "NO_PROXY": "*"}, HTTPS, None),
        ({"ALL_PROXY": "http://a", "NO_PROXY": "api.model.test"}, HTTPS, None),
        ({"ALL_PROXY": "http://a", "NO_PROXY": "x, .model.test"}, HTTPS, None),
        ({"ALL_PROXY": "http://a", "no_proxy": "MODEL.test"}, HTTPS, None),
        ({"ALL_PROXY": "http://a", "NO_PROXY": "*.model.test"}, HTTPS, None),
        ({"ALL_PROXY": "http://a", "NO_PROXY": "del.test"}, HTTPS, "http://a"),
        ({"ALL_PROXY": "http://a", "NO_PROXY": ""}, HTTPS, "http://a"),
        ({"ALL_PROXY": "http://a", "NO_PROXY": "api.model.test:443"}, HTTPS, None),
        ({"ALL_PROXY": "http://a", "NO_PROXY": "api.model.test:443"}, HTTP, "http://a"),
        ({"ALL_PROXY": "http://a", "NO_PROXY": "10.0.0.0/8"}, TEN, None),
        ({"ALL_PROXY": "http://a", "NO_PROXY": "10.9.9.9/8"}, TEN, None),
        ({"ALL_PROXY": "http://a", "NO_PROXY": "11.0.0.0/8,x/y,1/2/3"}, TEN, "http://a"),
        ({"ALL_PROXY": "http://a", "NO_PROXY": "10.0.0.0/8"}, HTTPS, "http://a"),
        ({"ALL_PROXY": "http://a", "NO_PROXY": "10.1.2.3:80"}, TEN, None),
        ({"ALL_PROXY": "http://a", "NO_PROXY": "fd00::/8"}, SIX, None),
        ({"ALL_PROXY": "http://a", "NO_PROXY": "fd00::1"}, SIX, None),
        ({"ALL_PROXY": "http://a", "NO_PROXY": "[fd00::1]:80"}, SIX, None),
        ({"ALL_PROXY": "http://a", "NO_PROXY": "[fd00::1]:81"}, SIX, "http://a"),
        ({"ALL_PROXY": "http://a"}, Origin("http", "localhost", 1), None),
        ({"ALL_PROXY": "http://a"}, Origin("http", "127.9.9.9", 1), None),
        ({"ALL_PROXY": "http://a"}, Origin("http", "::1", 1), None),
        ({"ALL_PROXY": "http://a"}, Origin("http", "0:0::0:1", 1), None),
        ({"ALL_PROXY": "http://a"}, Origin("http", "127.evil.example", 1), "http://a"),
        ({"ALL_PROXY": "http://a"}, Origin("http", "127.1.2.3.example", 1), "http://a"),
        ({"ALL_PROXY": "http://a"}, Origin("http", "::2", 1), "http://a"),
    ],
)
def test_which_proxy(environ: dict[str, str], origin: Origin, proxy: str | None) -> None:
    assert proxy_for(origin, environ) == proxy


def test_a_proxy_without_a_port_is_at_that_of_http(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        asked: list[Any] = []

        async def nobody(make: Any, host: str, port: int) -> Any:
            asked.append((host, port))
            raise ConnectionRefusedError

        monkeypatch.setattr(asyncio.get_running_loop(), "create_connection", nobody)
        for proxy in ("http://proxy.test", "proxy.test", "http://proxy.test:8080"):
            with pytest.raises(ConnectionRefusedError):
                await Transport({"http_proxy": proxy}).post("http://model.test/", {}, b"")
        assert asked == [("proxy.test", 80), ("proxy.test", 80), ("proxy.test", 8080)]

    run(main)


def test_plain_http_goes_to_the_proxy_with_the_whole_address() -> None:
    seen: list[Any] = []

    async def proxy(peer: Peer) -> None:
        while True:
            seen.append(await peer.request())
            await peer.send(OK)

    async def main() -> None:
        async with Server(proxy) as server:
            environ = {"http_proxy": f"http://us%40er:pa%3Ass@127.0.0.1:{server.port}"}
            transport = Transport(environ)
            for _ in range(2):
                assert await fetch(transport, "http://api.model.test/v1/x") == b"ok"
            assert server.connections == 1
            await transport.aclose()

    run(main)
    first, headers, _ = seen[0]
    assert first == "POST http://api.model.test/v1/x HTTP/1.1"
    assert headers["host"] == "api.model.test"
    assert headers["proxy-authorization"] == "Basic dXNAZXI6cGE6c3M="
    assert seen[1] == seen[0]


class Tunnel:
    """A CONNECT proxy that takes everybody to one port."""

    def __init__(self, port: int, answer: bytes = b"HTTP/1.1 200 Connection established\r\n\r\n"):
        self.port, self.answer = port, answer
        self.heads: list[str] = []

    async def __call__(self, peer: Peer) -> None:
        head = await peer.reader.readuntil(b"\r\n\r\n")
        self.heads.append(head.decode())
        await peer.send(self.answer)
        if b" 200 " not in self.answer:
            return
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            await asyncio.gather(pipe(peer.reader, writer), pipe(reader, peer.writer))
        finally:
            writer.transport.abort()


async def pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()
    writer.close()


def test_https_tunnels_through_the_proxy() -> None:
    async def main() -> None:
        async with Server(serving, tls=server_side()) as origin:
            tunnel = Tunnel(origin.port)
            async with Server(tunnel) as proxy:
                environ = {
                    "HTTPS_PROXY": f"http://u:p@127.0.0.1:{proxy.port}",
                    "DETENT_CA_BUNDLE": AUTHORITY,
                }
                transport = Transport(environ)
                url = "https://api.model.test/v1/x"
                exchange = await transport.post(url, {"x-api-key": "our-key"}, b"{}")
                assert await whole(exchange) == b"ok"
                transport.give_back(url, exchange)
                gc.collect()  # nobody but the tunnel may hold the socket
                assert await fetch(transport, "https://api.model.test/v1/x") == b"ok"
                assert proxy.connections == 1, "the tunnel is used again"
                await transport.aclose()
            (head,) = tunnel.heads
            assert head.startswith("CONNECT api.model.test:443 HTTP/1.1\r\n")
            assert "proxy-authorization: Basic dTpw\r\n" in head
            assert "our-key" not in head

    asyncio.run(main())


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 403 Forbidden\r\n\r\n",
        b"HTTP/1.1 502 Bad",
        b"",
    ],
    ids=["refused", "cut", "silent"],
)
def test_a_proxy_that_refuses_is_an_os_error(answer: bytes) -> None:
    async def main() -> None:
        async with Server(Tunnel(0, answer)) as proxy:
            transport = Transport({"HTTPS_PROXY": f"http://127.0.0.1:{proxy.port}"})
            with pytest.raises(OSError):
                await transport.post("https://api.model.test/v1/x", {}, b"{}")
            await transport.aclose()

    run(main)


def test_a_proxy_that_never_ends_its_head_is_left() -> None:
    async def pours(peer: Peer) -> None:
        await peer.reader.readuntil(b"\r\n\r\n")
        await peer.send(b"HTTP/1.1 200 x\r\nx: " + b"x" * 70_000)
        await peer.reader.read()

    async def main() -> None:
        async with Server(pours) as proxy:
            transport = Transport({"HTTPS_PROXY": f"http://127.0.0.1:{proxy.port}"})
            with pytest.raises(OSError, match="endless head"):
                await transport.post("https://api.model.test/v1/x", {}, b"{}")
            await transport.aclose()

    run(main)


def test_a_proxy_that_wants_a_password_says_so() -> None:
    async def main() -> None:
        async with Server(Tunnel(0, b"HTTP/1.1 407 Who are you\r\n\r\n")) as proxy:
            transport = Transport({"HTTPS_PROXY": f"http://127.0.0.1:{proxy.port}"})
            with pytest.raises(ModelFailure, match="user and password") as caught:
                await transport.post("https://api.model.test/v1/x", {}, b"{}")
            assert caught.value.kind == "invalid_request"
            await transport.aclose()

    run(main)


def test_cancelling_while_the_proxy_thinks_closes_the_socket() -> None:
    async def thinks(peer: Peer) -> None:
        await peer.reader.readuntil(b"\r\n\r\n")
        asked.set()
        await peer.reader.read()
        left.set()

    async def main() -> None:
        async with Server(thinks) as proxy:
            transport = Transport({"HTTPS_PROXY": f"http://127.0.0.1:{proxy.port}"})
            task = asyncio.create_task(transport.post("https://api.model.test/", {}, b"{}"))
            await asked.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await asyncio.wait_for(left.wait(), 10)
            await transport.aclose()

    asked, left = asyncio.Event(), asyncio.Event()
    run(main)


def test_only_http_proxies_are_spoken_to() -> None:
    async def main() -> None:
        transport = Transport({"ALL_PROXY": "socks5://127.0.0.1:1"})
        for scheme in ("https", "http"):
            with pytest.raises(ModelFailure, match="socks5") as caught:
                await transport.post(f"{scheme}://api.model.test/", {}, b"{}")
            assert caught.value.kind == "invalid_request", "asking again is of no use"

    run(main)


def test_no_proxy_goes_straight(monkeypatch: pytest.MonkeyPatch) -> None:
    resolve = socket.getaddrinfo

    def everybody_is_here(host: str, *rest: Any, **more: Any) -> Any:
        return resolve("127.0.0.1", *rest, **more)

    monkeypatch.setattr(socket, "getaddrinfo", everybody_is_here)

    async def main() -> None:
        async with Server(serving) as server:
            # Were the proxy asked, there would be nobody.
            transport = Transport({"ALL_PROXY": "http://127.0.0.1:1", "NO_PROXY": ".model.test"})
            url = f"http://api.model.test:{server.port}/"
            assert await fetch(transport, url) == b"ok"
            with pytest.raises(OSError):
                await transport.post(f"http://elsewhere.test:{server.port}/", {}, b"{}")
            await transport.aclose()

    run(main)
