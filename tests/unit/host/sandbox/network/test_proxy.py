"""The way out of a sandbox, tried with real sockets and real programs."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

import pytest

from detent.host.sandbox.network import outward, relay
from detent.host.sandbox.network import proxy as module
from detent.host.sandbox.network.allowed import Hosts
from detent.host.sandbox.network.proxy import MOST_HEAD, NetworkProxy
from loopback import AUTHORITY, Handler, Peer, Server, run, sends, server_side

HERE = "127.0.0.1"
OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"
ASKED = b"HTTP/1.1\r\nhost: other\r\n\r\n"


class Names:
    """A resolver that knows a few names and remembers what it was asked."""

    def __init__(self, **known: Sequence[str]) -> None:
        self._known = {name.replace("_", "."): found for name, found in known.items()}
        self.asked: list[str] = []

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        if host not in self._known:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return self._known[host]


class Fixture:
    """A proxy on loopback, and what it refused."""

    def __init__(
        self,
        allowed: Sequence[str],
        denied: Sequence[str] = (),
        *,
        names: Names | None = None,
        environ: dict[str, str] | None = None,
    ) -> None:
        self.names = names or Names()
        self.proxy = NetworkProxy(Hosts(allowed, denied), environ or {}, self.names)
        self.refused = self.proxy.refused

    async def __aenter__(self) -> Fixture:
        listening = socket.create_server((HERE, 0))
        self.port = listening.getsockname()[1]
        await self.proxy.serve(listening)
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.proxy.aclose()

    @property
    def url(self) -> str:
        return f"http://{HERE}:{self.port}"

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection(HERE, self.port)

    async def says(self, *parts: bytes) -> bytes:
        """All that comes back for these bytes."""
        reader, writer = await self.connect()
        writer.write(b"".join(parts))
        answer = await reader.read()
        writer.transport.abort()
        return answer


async def program(*argv: str) -> tuple[int, str, str]:
    process = await asyncio.create_subprocess_exec(
        *argv,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={"PATH": os.environ["PATH"]},
    )
    out, err = await process.communicate()
    assert process.returncode is not None
    return process.returncode, out.decode(), err.decode()


async def curl(*arguments: str) -> tuple[int, str, str]:
    if not shutil.which("curl"):
        pytest.skip("needs curl")
    return await program("curl", "-sS", "--max-time", "20", *arguments)


def known(*addresses: str) -> Names:
    return Names(api_model_test=addresses or (HERE,))


def test_curl_reaches_a_permitted_host_in_every_way() -> None:
    async def main() -> None:
        async with (
            Fixture(["api.model.test"], names=known()) as fixture,
            Server(sends(OK)) as plain,
            Server(sends(OK), tls=server_side()) as secure,
        ):
            http = f"http://api.model.test:{plain.port}/x"
            https = f"https://api.model.test:{secure.port}/x"
            socks = f"socks5h://{HERE}:{fixture.port}"
            trust = ("--cacert", AUTHORITY)
            for proxy in (fixture.url, socks):
                assert await curl("-x", proxy, http) == (0, "ok", "")
                assert await curl("-x", proxy, *trust, https) == (0, "ok", "")
            assert fixture.refused == []

    run(main)


def test_curl_is_told_why_a_host_is_refused() -> None:
    async def main() -> None:
        async with Fixture(["*.model.test"], names=known()) as fixture:
            code, out, _ = await curl("-x", fixture.url, "http://evil.net/x")
            assert (code, out.strip()) == (
                0,
                "The sandbox does not let commands reach evil.net: it is not in the setting "
                "sandbox.network.allowedDomains.",
            )
            code, _, err = await curl("-x", fixture.url, "https://evil.net/x")
            assert code == 56 and "403" in err
            code, _, err = await curl("-x", f"socks5h://{HERE}:{fixture.port}", "http://evil.net/")
            assert code == 97 and "2" in err
            assert fixture.refused == ["evil.net"] * 3
            assert fixture.names.asked == []  # what is refused is not even looked up

    run(main)


def test_python_goes_through_it_by_the_variables() -> None:
    async def main() -> None:
        async with Fixture(["api.model.test"], names=known()) as fixture, Server(sends(OK)) as far:
            variables = fixture.proxy.variables(fixture.port)
            code = (
                "import urllib.request as u;"
                f"print(u.urlopen('http://api.model.test:{far.port}/').read().decode())"
            )
            process = await asyncio.create_subprocess_exec(
                "python3", "-c", code, env=variables, stdout=asyncio.subprocess.PIPE
            )
            out, _ = await process.communicate()
            assert out == b"ok\n"

    run(main)


def test_names_of_this_machine_that_are_permitted_are_not_looked_for_in_the_sandbox() -> None:
    variables = NetworkProxy(Hosts(), {}).variables(9)
    assert variables["NO_PROXY"] == variables["no_proxy"] == "127.0.0.1,::1,localhost"
    variables = NetworkProxy(Hosts(["localhost:80"]), {}).variables(9)
    assert variables["no_proxy"] == "127.0.0.1,::1"


@pytest.mark.parametrize("address", [HERE, "10.1.2.3", "169.254.169.254", "::1", "fd00::1"])
def test_a_name_that_leads_inside_is_refused_unless_it_is_named(address: str) -> None:
    async def main() -> None:
        names = known("93.184.216.34", address)  # one bad address is enough
        async with Fixture(["*.model.test"], names=names) as fixture:
            answer = await fixture.says(b"CONNECT api.model.test:443 ", ASKED)
            assert answer.startswith(b"HTTP/1.1 403 ") and b"names exactly" in answer
            assert fixture.refused == ["api.model.test"]

    run(main)


def test_an_address_is_reached_only_when_it_is_named() -> None:
    async def main() -> None:
        async with Server(sends(OK)) as far:
            asked = f"GET http://{HERE}:{far.port}/ ".encode() + ASKED
            async with Fixture(["*"], names=Names(**{"127_0_0_1": [HERE]})) as fixture:
                assert b" 403 " in await fixture.says(asked)
            async with Fixture([HERE], names=Names(**{"127_0_0_1": [HERE]})) as fixture:
                assert b" 200 OK" in await fixture.says(asked)

    run(main)


def test_the_address_that_was_checked_is_the_one_that_is_dialled() -> None:
    """A name that means something else a moment later is asked for once."""

    async def main() -> None:
        async with Fixture(["api.model.test"], names=known()) as fixture, Server(sends(OK)) as far:
            asked = f"GET http://API.model.test.:{far.port}/ ".encode() + ASKED
            assert b" 200 OK" in await fixture.says(asked)
            assert fixture.names.asked == ["api.model.test"]

    run(main)


def test_a_server_is_told_the_host_of_the_address_and_nothing_of_the_proxy() -> None:
    heard: list[bytes] = []

    async def listening(peer: Peer) -> None:
        heard.append(await peer.reader.readuntil(b"\r\n\r\n"))
        heard.append(await peer.reader.readexactly(4))
        await peer.send(OK)

    async def main() -> None:
        async with Fixture(["api.model.test"], names=known()) as fixture, Server(listening) as far:
            place = f"api.model.test:{far.port}"
            await fixture.says(
                f"POST http://{place}/a?b HTTP/1.1\r\nHost: elsewhere.net\r\n".encode(),
                b"Proxy-Authorization: Basic eA==\r\nProxy-Connection: keep-alive\r\n",
                b"X-Mine: 1\r\nContent-Length: 4\r\n\r\nbody",
            )
            lines = heard[0].decode().strip().split("\r\n")
            assert lines == [
                "POST /a?b HTTP/1.1",
                f"host: {place}",
                "X-Mine: 1",
                "Content-Length: 4",
                "connection: close",
            ]
            assert heard[1] == b"body"

    run(main)


@pytest.mark.parametrize(
    "request_line",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET https://api.model.test/ HTTP/1.1\r\n\r\n",
        b"GET http://user:word@api.model.test/ HTTP/1.1\r\n\r\n",
        b"GET http://api.model.test\\@evil.net/ HTTP/1.1\r\n\r\n",
        b"GET http://api.model.test\0.evil.net/ HTTP/1.1\r\n\r\n",
        b"CONNECT api.model.test HTTP/1.1\r\n\r\n",
        b"CONNECT api.model.test\0.evil.net:443 HTTP/1.1\r\n\r\n",
        b"CONNECT evil.net:443#api.model.test:443 HTTP/1.1\r\n\r\n",
        b"CONNECT api.model.test:99999 HTTP/1.1\r\n\r\n",
        b"GET http://api.model.test/ HTTP/1.1\r\n folded: x\r\n\r\n",
        b"GET http://api.model.test/ HTTP/1.1\r\nno colon\r\n\r\n",
        b"GET http://api.model.test/ HTTP/1.1\r\na: b\nhost: evil.net\r\n\r\n",
        b"rubbish\r\n\r\n",
    ],
)
def test_what_is_not_quite_a_request_gets_nowhere(request_line: bytes) -> None:
    async def main() -> None:
        async with Fixture(["api.model.test"], names=known()) as fixture:
            answer = await fixture.says(request_line)
            assert answer.startswith(b"HTTP/1.1 400 "), answer
            assert fixture.names.asked == []

    run(main)


def test_a_head_without_end_is_cut() -> None:
    async def main() -> None:
        async with Fixture(["api.model.test"]) as fixture:
            answer = await fixture.says(
                b"GET http://api.model.test/ HTTP/1.1\r\n", b"a" * MOST_HEAD
            )
            assert answer.startswith(b"HTTP/1.1 431 ")

    run(main)


def test_a_client_that_says_nothing_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "HEAD_TIMEOUT", 0.01)

    async def main() -> None:
        async with Fixture([]) as fixture:
            assert await fixture.says(b"GET http://") == b""
            assert await fixture.says() == b""
            assert await fixture.says(b"\x05\x01") == b""

    run(main)


GREETING = b"\x05\x01\x00"


def socks_request(host: bytes, port: int = 443, command: int = 1, kind: int = 3) -> bytes:
    size = bytes((len(host),)) if kind == 3 else b""
    return bytes((5, command, 0, kind)) + size + host + port.to_bytes(2, "big")


@pytest.mark.parametrize(
    ("request_bytes", "code"),
    [
        (socks_request(b"evil.net"), 2),
        (socks_request(b"api.model.test\0.evil.net"), 2),
        (socks_request(b"evil.net\0.api.model.test"), 2),
        (socks_request(b"api.model.test\xff"), 2),
        (socks_request(b""), 2),
        (socks_request(bytes((10, 0, 0, 1)), kind=1), 2),
        (socks_request(bytes(15) + b"\x01", kind=4), 2),
        (socks_request(b"::1"), 2),
        (socks_request(b"api.model.test", command=2), 7),
        (socks_request(b"api.model.test", command=3), 7),
        (socks_request(b"", kind=9), 8),
        (socks_request(b"api.model.test", port=0), 1),
        (socks_request(b"gone.model.test"), 4),
    ],
)
def test_socks_refuses_what_is_not_permitted_or_not_understood(
    request_bytes: bytes, code: int
) -> None:
    async def main() -> None:
        allowed = ["api.model.test", "gone.model.test"]
        async with Fixture(allowed, names=known()) as fixture:
            answer = await fixture.says(GREETING, request_bytes)
            assert answer[:2] == b"\x05\x00"
            assert answer[2:4] == bytes((5, code))

    run(main)


@pytest.mark.parametrize(
    "host", [b"evil.net\0.model.test", b"evil.net/.model.test", b"e@.model.test"]
)
def test_socks_compares_only_what_is_a_name(host: bytes) -> None:
    async def main() -> None:
        async with Fixture(["*.model.test"], names=known()) as fixture:
            answer = await fixture.says(GREETING, socks_request(host))
            assert answer[2:4] == bytes((5, 2))
            assert fixture.names.asked == []

    run(main)


def test_socks_takes_a_name_in_any_spelling() -> None:
    async def main() -> None:
        async with Fixture(["api.model.test"], names=known()) as fixture, Server(sends(OK)) as far:
            reader, writer = await fixture.connect()
            writer.write(GREETING + socks_request(b"API.Model.Test.", port=far.port))
            assert (await reader.readexactly(4))[2:] == b"\x05\x00"
            writer.close()

    run(main)


def test_socks_with_a_password_only_is_not_ours() -> None:
    async def main() -> None:
        async with Fixture([]) as fixture:
            assert await fixture.says(b"\x05\x01\x02") == b"\x05\xff"

    run(main)


async def tunnelled(
    fixture: Fixture, port: int
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await fixture.connect()
    writer.write(f"CONNECT api.model.test:{port} HTTP/1.1\r\n\r\n".encode())
    assert b" 200 " in await reader.readuntil(b"\r\n\r\n")
    return reader, writer


def test_an_end_of_input_is_passed_on_while_the_answer_still_comes() -> None:
    async def counting(peer: Peer) -> None:
        everything = await peer.reader.read()
        await peer.send(f"{len(everything)} bytes".encode())

    async def main() -> None:
        async with Fixture(["api.model.test"], names=known()) as fixture, Server(counting) as far:
            reader, writer = await tunnelled(fixture, far.port)
            writer.write(b"x" * 300_000)
            writer.write_eof()
            assert await reader.read() == b"300000 bytes"
            writer.close()

    run(main)


def test_a_slow_reader_slows_the_sender() -> None:
    sent = 0

    async def flooding(peer: Peer) -> None:
        nonlocal sent
        with suppress(TimeoutError):
            while sent < 400_000_000:
                peer.writer.write(bytes(65_536))
                async with asyncio.timeout(0.5):  # nobody reads: it must stop
                    await peer.writer.drain()
                sent += 65_536
        peer.writer.transport.abort()

    async def main() -> None:
        async with Fixture(["api.model.test"], names=known()) as fixture, Server(flooding) as far:
            _, writer = await tunnelled(fixture, far.port)
            while far._tasks:
                await asyncio.sleep(0.01)
            writer.transport.abort()
            assert 0 < sent < 100_000_000

    run(main)


def test_closing_ends_every_connection() -> None:
    async def silent(peer: Peer) -> None:
        await peer.reader.read()

    async def main() -> None:
        async with Server(silent) as far:
            async with Fixture(["api.model.test"], names=known()) as fixture:
                reader, writer = await tunnelled(fixture, far.port)
            with suppress(ConnectionError):
                assert await reader.read() == b""
            writer.close()
            with pytest.raises(OSError):
                await fixture.connect()

    run(main)


def test_silence_ends_a_connection_only_when_nobody_speaks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(relay, "SILENCE", 0.15)

    async def dripping(peer: Peer) -> None:
        for _ in range(8):
            await peer.send(b".")
            await asyncio.sleep(0.05)
        await peer.reader.read()

    async def main() -> None:
        async with Fixture(["api.model.test"], names=known()) as fixture, Server(dripping) as far:
            reader, writer = await tunnelled(fixture, far.port)
            with suppress(ConnectionError):
                assert await reader.read() == b"........"
            writer.close()

    run(main)


def test_there_is_an_end_to_the_number_of_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_CONNECTIONS", 2)

    async def main() -> None:
        async with Fixture([]) as fixture:
            held = [await fixture.connect() for _ in range(2)]
            for _, writer in held:
                writer.write(b"G")
            with suppress(ConnectionError):
                assert await fixture.says(b"GET http://evil.net/ ", ASKED) == b""
            assert fixture.refused == []
            for _, writer in held:
                writer.close()

    run(main)


def test_the_next_address_is_tried() -> None:
    async def main() -> None:
        names = known("127.0.0.2", HERE)
        async with Fixture(["api.model.test"], names=names) as fixture, Server(sends(OK)) as far:
            asked = f"GET http://api.model.test:{far.port}/ ".encode() + ASKED
            assert b" 200 OK" in await fixture.says(asked)

    run(main)


def test_a_host_that_does_not_answer_is_said_so() -> None:
    async def main() -> None:
        async with Fixture(["gone.model.test"]) as fixture:
            answer = await fixture.says(b"CONNECT gone.model.test:443 ", ASKED)
            assert answer.startswith(b"HTTP/1.1 502 ")
            assert fixture.refused == []

    run(main)


Heard = list[str]


def upstream(heard: Heard, then: Callable[[Peer], Awaitable[None]]) -> Handler:
    async def handler(peer: Peer) -> None:
        head = await peer.reader.readuntil(b"\r\n\r\n")
        heard.extend(head.decode().strip().split("\r\n"))
        await then(peer)

    return handler


def test_the_users_own_proxy_is_on_the_way() -> None:
    heard: Heard = []

    async def granting(peer: Peer) -> None:
        # A server that speaks first: its words come with the proxy's answer.
        await peer.send(b"HTTP/1.1 200 ok\r\n\r\nhello")
        await peer.reader.read()

    async def main() -> None:
        async with Server(upstream(heard, granting)) as way:
            environ = {"https_proxy": f"http://me:word@{HERE}:{way.port}"}
            async with Fixture(["*.model.test"], environ=environ) as fixture:
                reader, writer = await tunnelled(fixture, 443)
                assert await reader.readexactly(5) == b"hello"
                writer.close()
                assert heard[0] == "CONNECT api.model.test:443 HTTP/1.1"
                assert heard[2] == "proxy-authorization: Basic bWU6d29yZA=="
                assert fixture.names.asked == []  # names are for that proxy to look up
                for inner in (b"10.0.0.1", b"build.internal"):
                    assert b" 403 " in await fixture.says(b"CONNECT " + inner + b":443 ", ASKED)

    run(main)


def test_the_users_own_proxy_gets_a_plain_request_whole() -> None:
    heard: Heard = []

    async def main() -> None:
        async with Server(upstream(heard, lambda peer: peer.send(OK))) as way:
            environ = {"http_proxy": f"http://{HERE}:{way.port}"}
            async with Fixture(["*"], environ=environ, names=Names(localhost=[HERE])) as fixture:
                assert b" 200 OK" in await fixture.says(b"GET http://api.model.test/x ", ASKED)
                assert heard[0] == "GET http://api.model.test/x HTTP/1.1"
                assert b" 403 " in await fixture.says(b"GET http://localhost/x ", ASKED)
                assert b" 403 " in await fixture.says(b"GET http://db.internal/x ", ASKED)

    run(main)


def test_a_proxy_of_the_users_that_refuses_is_said_so() -> None:
    async def main() -> None:
        async with Server(sends(b"HTTP/1.1 407 who\r\n\r\n")) as way:
            environ = {"https_proxy": f"http://{HERE}:{way.port}"}
            async with Fixture(["api.model.test"], environ=environ) as fixture:
                answer = await fixture.says(b"CONNECT api.model.test:443 ", ASKED)
                assert answer.startswith(b"HTTP/1.1 502 ") and b"does not know us" in answer

    run(main)


def test_connecting_takes_no_longer_than_it_may(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outward, "CONNECT_TIMEOUT", 0.05)

    async def never(host: str, port: int) -> Sequence[str]:
        await asyncio.Event().wait()
        return ()

    async def main() -> None:
        async with Fixture(["api.model.test"]) as fixture:
            fixture.proxy._outward._resolve = never
            answer = await fixture.says(b"CONNECT api.model.test:443 ", ASKED)
            assert answer.startswith(b"HTTP/1.1 502 ")

    run(main)
