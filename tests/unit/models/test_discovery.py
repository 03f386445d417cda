"""Model servers on this machine are found by what they answer, not by their port."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import time
from collections.abc import AsyncIterator

import pytest

from detent.models.discovery import MOST_BYTES, PATIENCE, USUAL_PORTS, discover, ports_to_try
from detent.testing import script
from detent.testing.server import ScriptedServer

LIST = b'{"object":"list","data":[{"id":"qwen3:8b"},{"id":"llama"}]}'


@contextlib.asynccontextmanager
async def answering(data: bytes, *, silent: bool = False) -> AsyncIterator[int]:
    """A server that says just this to whoever comes, and keeps the line open when silent."""
    open_lines: list[asyncio.StreamWriter] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        open_lines.append(writer)
        with contextlib.suppress(ConnectionError):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(data)
            await writer.drain()
        if not silent:
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]
        for writer in open_lines:
            writer.close()


def found_at(data: bytes, *, silent: bool = False, patience: float = 10.0) -> list[tuple[str, ...]]:
    async def look() -> list[tuple[str, ...]]:
        async with answering(data, silent=silent) as port:
            found = await discover({"DETENT_DISCOVERY_PORTS": f"ollama={port}"}, patience)
            return [server.models for server in found]

    return asyncio.run(look())


def http(body: bytes, status: str = "200 OK", *, length: bool = True) -> bytes:
    head = f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\n"
    return (head + (f"content-length: {len(body)}\r\n" if length else "") + "\r\n").encode() + body


def test_a_real_server_is_found() -> None:
    async def look() -> None:
        async with ScriptedServer(script("x")) as server:
            ports = f"vllm={server.port},ollama={closed_port()}"
            (found,) = await discover({"DETENT_DISCOVERY_PORTS": ports}, 10.0)
            assert (found.provider, found.title) == ("vllm", "vLLM")
            assert found.address == f"127.0.0.1:{server.port}"
            assert found.models and all(name.startswith("vllm/") for name in found.models)

    asyncio.run(look())


def closed_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@pytest.mark.parametrize("silent", [False, True])
def test_models_are_named_as_the_flag_takes_them(silent: bool) -> None:
    """Also where the server keeps the connection."""
    assert found_at(http(LIST), silent=silent) == [("ollama/qwen3:8b", "ollama/llama")]
    assert found_at(http(LIST, length=False)) == [("ollama/qwen3:8b", "ollama/llama")]


@pytest.mark.parametrize(
    "answer",
    [
        http(b"<html>It works</html>"),
        http(b'{"data": "none"}'),
        http(b'{"data": [{"name": "x"}]}'),
        http(b'{"data": []}'),
        http(b'{"data": [{"id": "a b"}, {"id": "\\u001b[2J"}, {"id": ""}]}'),
        http(LIST, "404 Not Found"),
        http(LIST, "500 Oops"),
        b"SSH-2.0-OpenSSH\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 999999999\r\n\r\n",
        http(b" " * (MOST_BYTES + 1) + LIST, length=False),
        b"",
    ],
)
def test_any_other_server_is_left_alone(answer: bytes) -> None:
    assert found_at(answer) == []


def test_a_silent_one_costs_little() -> None:
    began = time.monotonic()
    assert found_at(b"", silent=True, patience=PATIENCE) == []
    assert PATIENCE <= time.monotonic() - began < PATIENCE + 5


def test_the_ports_can_be_given() -> None:
    assert ports_to_try({}) == USUAL_PORTS
    assert ports_to_try({"DETENT_DISCOVERY_PORTS": "none"}) == {}
    given = "ollama=1, vllm=70000,other=5,llamacpp=x,lmstudio=99"
    assert ports_to_try({"DETENT_DISCOVERY_PORTS": given}) == {"ollama": 1, "lmstudio": 99}
