"""Model servers on this machine, found on the ports they usually listen on.

A port says nothing about who listens: what answers must look like a list of models, or it is left
alone. Nothing but a GET to loopback is sent, and no key.
"""

import asyncio
from collections.abc import Mapping
from contextlib import suppress

import msgspec
from msgspec import Struct

USUAL_PORTS = {"ollama": 11434, "lmstudio": 1234, "vllm": 8000, "llamacpp": 8080}
TITLES = {
    "ollama": "Ollama",
    "lmstudio": "LM Studio",
    "vllm": "vLLM",
    "llamacpp": "llama.cpp",
}
PATIENCE = 0.3
MOST_BYTES = 256 * 1024
MOST_MODELS = 20


class Found(Struct, frozen=True):
    """A server and the models it offers, by the names `--model` takes."""

    provider: str
    port: int
    models: tuple[str, ...]

    @property
    def title(self) -> str:
        return TITLES.get(self.provider, self.provider)

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"


class _Model(Struct):
    id: str


class _Models(Struct):
    data: list[_Model]


_models = msgspec.json.Decoder(_Models).decode


async def discover(environ: Mapping[str, str], patience: float = PATIENCE) -> list[Found]:
    """All at once; what has not answered in time is not there."""
    ports = ports_to_try(environ)
    answers = await asyncio.gather(*(_ask(port, patience) for port in ports.values()))
    return [
        Found(provider, port, tuple(f"{provider}/{name}" for name in names))
        for (provider, port), names in zip(ports.items(), answers, strict=True)
        if names
    ]


def ports_to_try(environ: Mapping[str, str]) -> dict[str, int]:
    """`DETENT_DISCOVERY_PORTS=ollama=11434,vllm=9000`, or `none`; without it the usual ones."""
    text = environ.get("DETENT_DISCOVERY_PORTS", "").strip()
    if not text:
        return USUAL_PORTS
    ports = {}
    for part in text.split(","):
        provider, _, port = part.strip().partition("=")
        if provider in USUAL_PORTS and port.isdecimal() and 0 < int(port) < 65536:
            ports[provider] = int(port)
    return ports


async def _ask(port: int, patience: float) -> list[str]:
    with suppress(OSError, ValueError, EOFError, asyncio.LimitOverrunError):
        async with asyncio.timeout(patience):
            return _names(await _get(port))
    return []


async def _get(port: int) -> bytes:
    """HTTP/1.0, so that the answer ends when the connection does; never more than we can use."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=MOST_BYTES)
    try:
        host = f"127.0.0.1:{port}"
        writer.write(f"GET /v1/models HTTP/1.0\r\nhost: {host}\r\n\r\n".encode())
        head = await reader.readuntil(b"\r\n\r\n")
        if head.split(b" ", 2)[1:2] != [b"200"]:
            return b""
        return await _body(reader, _length(head))
    finally:
        writer.close()


async def _body(reader: asyncio.StreamReader, length: int | None) -> bytes:
    if length is not None and length > MOST_BYTES:
        return b""
    body = b""
    while (length is None or len(body) < length) and (chunk := await reader.read(16_384)):
        body += chunk
        if len(body) > MOST_BYTES:
            return b""
    return body


def _length(head: bytes) -> int | None:
    for line in head.lower().split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name == b"content-length" and value.strip().isdigit():
            return int(value)
    return None


def _names(body: bytes) -> list[str]:
    """Names go to a terminal and into a command line: a strange one is none."""
    listed = _models(body).data if body else []
    return [one.id for one in listed if _is_name(one.id)][:MOST_MODELS]


def _is_name(name: str) -> bool:
    return 0 < len(name) <= 200 and all("!" <= char <= "~" for char in name)
