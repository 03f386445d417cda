"""With the network `proxied` there is one way out: the socket on which the agent accepts."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import pytest
from msgspec.structs import replace

from detent.host.keeping.landlock import NETWORK_SINCE, version
from detent.host.local import LocalHost
from detent.host.sandbox.profile import SandboxFailed
from detent.host.sandbox.sandbox import Sandbox

from ..conftest import runs, soon
from .conftest import Cell, bash, holder


class Answering:
    """Says where a request wanted to go."""

    def __init__(self) -> None:
        self.serving = 0
        self.is_closed = False
        self.refused: list[str] = []
        self._servers: list[asyncio.Server] = []

    async def serve(self, listening: socket.socket) -> None:
        listening.setblocking(False)
        self._servers.append(await asyncio.start_server(self._answer, sock=listening))
        self.serving += 1

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line = (await reader.readuntil(b"\r\n\r\n")).split(b"\r\n")[0]
        writer.write(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n" + line + b"\n")
        await writer.drain()
        writer.close()

    def variables(self, port: int) -> Mapping[str, str]:
        return {"http_proxy": f"http://127.0.0.1:{port}", "PROXY_PORT": str(port)}

    async def aclose(self) -> None:
        self.is_closed = True
        for server in self._servers:
            server.close()


def proxied(cell: Cell, proxy: Any) -> LocalHost:
    profile = replace(cell.profile, network="proxied")
    return LocalHost(sandbox=Sandbox.unproven(cell.backend, profile, proxy=proxy))


def tell(cell: Cell, *commands: str) -> tuple[list[str], Answering]:
    async def main() -> list[str]:
        host = proxied(cell, proxy)
        try:
            return [(await bash(host, command, "/")).output for command in commands]
        finally:
            await host.aclose()

    proxy = Answering()
    return asyncio.run(main()), proxy


def test_commands_reach_the_proxy_and_nothing_else(bwrap: Cell) -> None:
    with socket.create_server(("127.0.0.1", 0)) as outside:
        outside.setblocking(False)
        there = f"127.0.0.1:{outside.getsockname()[1]}"
        ask = "curl -m 5 -sS http://example.test/x"
        said, proxy = tell(bwrap, ask, f"curl -m 5 --noproxy '*' -sS http://{there}/; echo $?", ask)
        with pytest.raises(BlockingIOError):
            outside.accept()
    assert said[0] == said[2] == "GET http://example.test/x HTTP/1.1\n"
    assert said[1].endswith("7\n")
    assert proxy.serving == 1, "once for all commands of a sandbox"
    assert proxy.is_closed


def test_another_sandbox_is_served_too_when_the_first_was_killed(bwrap: Cell) -> None:
    proxy, ask = Answering(), "curl -m 5 -sS http://example.test/"

    async def main() -> list[str]:
        host = proxied(bwrap, proxy)
        said = [(await bash(host, ask, "/")).output]
        os.kill(holder(host), signal.SIGKILL)
        assert soon(lambda: not runs(holder(host)))
        said.append((await bash(host, ask, "/")).output)
        await host.aclose()
        return said

    assert asyncio.run(main()) == ["GET http://example.test/ HTTP/1.1\n"] * 2
    assert proxy.serving == 2


KINDS = """
import os, socket
for kind, protocol in ((1, 0), (2, 0), (1, 262), (3, 1)):
    try:
        socket.socket(socket.AF_INET, kind, protocol)
        print("made")
    except OSError as error:
        print(type(error).__name__)
print(os.environ.get("http_proxy"))
"""


def test_landlock_has_no_network_and_no_proxy(landlock: Cell) -> None:
    """It cannot tell addresses apart, and a way to the proxy would be a way to anywhere."""
    (said,), proxy = tell(landlock, f"python3 -c '{KINDS}'")
    assert said.split() == [*["PermissionError"] * 4, "None"]
    assert proxy.serving == 0


ALONE = """
import socket
from detent.host.keeping.kernel import drop_privileges
from detent.host.keeping.landlock import restrict
listening = socket.create_server(("127.0.0.1", 0))
drop_privileges()
restrict(["/"], [])
for deed in (
    lambda: socket.socket().connect(listening.getsockname()),
    lambda: socket.socket().bind(("127.0.0.1", 0)),
):
    try:
        deed()
        print("done")
    except OSError as error:
        print(type(error).__name__)
"""


@pytest.mark.skipif(version() < NETWORK_SINCE, reason="this Landlock knows no network")
def test_landlock_alone_forbids_all_tcp() -> None:
    """Whatever may be wrong with the filter of system calls."""
    said = subprocess.run([sys.executable, "-c", ALONE], check=True, stdout=subprocess.PIPE)
    assert said.stdout.split() == [b"PermissionError"] * 2


SERVER = """
from http.server import HTTPServer, SimpleHTTPRequestHandler
server = HTTPServer(("127.0.0.1", 8123), SimpleHTTPRequestHandler)
print("up", flush=True)
server.serve_forever()
"""


def test_a_network_of_its_own_serves_its_commands(bwrap: Cell) -> None:
    """A server that a command starts is reached by the next, and by nobody else."""

    async def story(host: LocalHost) -> str:
        said: asyncio.Queue[bytes] = asyncio.Queue()
        await host.start(
            ["python3", "-c", SERVER],
            cwd=str(bwrap.work),
            output=said.put_nowait,
            confined=True,
        )
        await asyncio.wait_for(said.get(), 20)
        (bwrap.work / "page").write_text("served")
        ran = await bash(host, "curl -m 5 -sS http://127.0.0.1:8123/page", str(bwrap.work))
        return ran.output

    assert bwrap.story(story) == "served"


def test_without_a_proxy_nothing_runs(bwrap: Cell) -> None:
    async def main() -> None:
        host = proxied(bwrap, None)
        with pytest.raises(SandboxFailed, match="proxied"):
            await bash(host, "true", "/")
        await host.aclose()

    asyncio.run(main())
