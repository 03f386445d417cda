"""HTTP/1.1 by hand: a raw server on loopback says exactly which bytes come back, and when."""

from __future__ import annotations

import asyncio
import gc
import socket
import ssl
import subprocess
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from detent.models.transport import (
    HIGH_WATER,
    ConnectionCut,
    Exchange,
    Origin,
    Target,
    Transport,
    parse_target,
    proxy_for,
)

OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"
Handler = Callable[["Peer"], Awaitable[None]]


class Peer:
    """The server's side of one connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def request(self) -> tuple[str, dict[str, str], bytes]:
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode()
        first, *lines = head.strip().split("\r\n")
        headers = dict(line.split(": ", 1) for line in lines)
        body = await self.reader.readexactly(int(headers.get("content-length", "0")))
        return first, headers, body

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()


class Server:
    """One handler per connection, in order; the last serves all that follow."""

    def __init__(self, *handlers: Handler, tls: ssl.SSLContext | None = None) -> None:
        self._handlers = handlers
        self._tls = tls
        self.connections = 0
        self.gone = asyncio.Event()
        """Set when a client has left before its handler was done."""
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Server:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self._tls)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *exc: object) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1/x"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        handler = self._handlers[min(self.connections, len(self._handlers) - 1)]
        self.connections += 1
        try:
            await handler(Peer(reader, writer))
        except (ConnectionError, asyncio.IncompleteReadError):
            self.gone.set()
        except asyncio.CancelledError:
            pass
        finally:
            writer.transport.abort() if self.gone.is_set() else writer.close()
            self._tasks.discard(task)


async def serving(peer: Peer) -> None:
    while True:
        await peer.request()
        await peer.send(OK)


def sends(*parts: bytes) -> Handler:
    """Answers one request with these bytes, then closes."""

    async def handler(peer: Peer) -> None:
        await peer.request()
        for part in parts:
            await peer.send(part)

    return handler


async def whole(exchange: Exchange) -> bytes:
    parts = []
    while part := await exchange.read():
        parts.append(part)
    return b"".join(parts)


async def fetch(transport: Transport, url: str, body: bytes = b"{}") -> bytes:
    exchange = await transport.post(url, {}, body)
    data = await whole(exchange)
    transport.give_back(url, exchange)
    return data


def run(main: Callable[[], Awaitable[None]]) -> None:
    async def checked() -> None:
        await main()
        assert asyncio.all_tasks() - {asyncio.current_task()} == set()

    asyncio.run(checked())
    gc.collect()  # a socket that was left open says so now, and warnings are errors


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


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("http://h/a?b=c", Target(Origin("http", "h", 80), "/a?b=c")),
        ("https://h", Target(Origin("https", "h", 443), "/")),
        ("http://127.0.0.1:8080/v1", Target(Origin("http", "127.0.0.1", 8080), "/v1")),
        ("http://[::1]:9/x", Target(Origin("http", "::1", 9), "/x")),
    ],
)
def test_addresses(url: str, target: Target) -> None:
    assert parse_target(url) == target


# Proxies

HTTPS, HTTP = Origin("https", "api.model.test", 443), Origin("http", "api.model.test", 80)


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
        ({"ALL_PROXY": "http://a"}, Origin("http", "localhost", 1), None),
        ({"ALL_PROXY": "http://a"}, Origin("http", "127.9.9.9", 1), None),
        ({"ALL_PROXY": "http://a"}, Origin("http", "::1", 1), None),
    ],
)
def test_which_proxy(environ: dict[str, str], origin: Origin, proxy: str | None) -> None:
    assert proxy_for(origin, environ) == proxy


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


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """A self-signed certificate for api.model.test and 127.0.0.1."""
    folder = tmp_path_factory.mktemp("tls")
    key, cert = str(folder / "key.pem"), str(folder / "cert.pem")
    names = "subjectAltName=DNS:api.model.test,DNS:localhost,IP:127.0.0.1"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    command += ["-keyout", key, "-out", cert, "-subj", "/CN=api.model.test", "-addext", names]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no openssl to make a certificate with")
    return cert, key


def server_side(certificate: tuple[str, str]) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    return context


def test_https_trusts_the_certificates_of_the_environment(
    certificate: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", certificate[0])

    async def main() -> None:
        async with Server(serving, tls=server_side(certificate)) as server:
            transport = Transport({})
            url = f"https://127.0.0.1:{server.port}/v1/x"
            for _ in range(2):
                assert await fetch(transport, url) == b"ok"
            assert server.connections == 1
            await transport.aclose()

    asyncio.run(main())


def test_https_distrusts_everybody_else(
    certificate: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)

    async def main() -> None:
        async with Server(serving, tls=server_side(certificate)) as server:
            transport = Transport({})
            with pytest.raises(ssl.SSLCertVerificationError):
                await transport.post(f"https://127.0.0.1:{server.port}/", {}, b"{}")
            await transport.aclose()

    asyncio.run(main())


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


def test_https_tunnels_through_the_proxy(
    certificate: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", certificate[0])

    async def main() -> None:
        async with Server(serving, tls=server_side(certificate)) as origin:
            tunnel = Tunnel(origin.port)
            async with Server(tunnel) as proxy:
                environ = {"HTTPS_PROXY": f"http://u:p@127.0.0.1:{proxy.port}"}
                transport = Transport(environ)
                assert await fetch(transport, "https://api.model.test/v1/x") == b"ok"
                gc.collect()  # nobody but the tunnel may hold the socket
                assert await fetch(transport, "https://api.model.test/v1/x") == b"ok"
                assert proxy.connections == 1, "the tunnel is used again"
                await transport.aclose()
            (head,) = tunnel.heads
            assert head.startswith("CONNECT api.model.test:443 HTTP/1.1\r\n")
            assert "proxy-authorization: Basic dTpw\r\n" in head

    asyncio.run(main())


@pytest.mark.parametrize(
    "answer",
    [b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", b"HTTP/1.1 502 Bad", b""],
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
        with pytest.raises(OSError, match="socks5"):
            await transport.post("https://api.model.test/", {}, b"{}")

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
