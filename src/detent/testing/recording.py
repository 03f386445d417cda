"""What `--record` kept, played again: a server that sends the same bytes in the same pieces."""

from __future__ import annotations

import asyncio
import json
import os
from base64 import b64decode
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from detent.testing.framing import reset
from detent.testing.served import in_thread

MOST_BODY = 256 * 1024 * 1024


@dataclass(frozen=True)
class Recording:
    """One exchange. `head` and `body` are the request; keys are not in it."""

    name: str
    url: str
    at: float
    head: bytes
    body: bytes
    answer: tuple[tuple[float, bytes], ...]
    """Milliseconds since the request was sent, and what came then."""
    end: str
    """`whole`, `closed` (by the server, which is an end, too), `cut`, `left` (by us), or empty
    where nobody came to say."""


def read_recordings(folder: str | os.PathLike[str]) -> list[Recording]:
    """In their order. ValueError where there is none, or one that is not to be understood."""
    all_names = [name for name in os.listdir(folder) if name.endswith(".jsonl")]
    names = sorted(all_names, key=lambda name: (len(name), name))  # 10000 comes after 9999
    found = [_read(os.path.join(folder, name), name) for name in names]
    if not found:
        raise ValueError(f"{os.fspath(folder)} holds no recorded exchange")
    return found


def _read(path: str, name: str) -> Recording:
    with open(path, "rb") as file:
        lines = [line for line in file.read().split(b"\n") if line]
    try:
        first, *pieces = map(json.loads, _whole(lines))
        if first.get("detent") != "exchange" or first.get("v") != 1:
            raise ValueError("not an exchange of format 1")
        sent = [_bytes(piece, "sent") for piece in pieces if _is(piece, "sent")]
        got = tuple((piece["ms"], _bytes(piece, "got")) for piece in pieces if _is(piece, "got"))
        end = next((piece["end"] for piece in pieces if "end" in piece), "")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{name}: {error}") from None
    head, *body = sent or [b""]
    return Recording(name, first["url"], first["at"], head, b"".join(body), got, end)


def _whole(lines: list[bytes]) -> list[bytes]:
    """Who was killed while writing leaves half a line."""
    return lines if not lines or lines[-1].endswith(b"}") else lines[:-1]


def _is(piece: dict[str, Any], way: str) -> bool:
    return way in piece or f"{way}64" in piece


def _bytes(piece: dict[str, Any], way: str) -> bytes:
    return piece[way].encode() if way in piece else b64decode(piece[f"{way}64"])


class RecordedServer:
    """Answers a request with what the same body got; else with the next one that nobody has had.

    `requests` are the bodies that came, `problems` what could not be answered.
    """

    def __init__(self, recordings: Sequence[Recording], pace: float = 0.0) -> None:
        self.requests: list[bytes] = []
        self.problems: list[str] = []
        self._left = list(recordings)
        self._pace = pace
        self._listener: asyncio.Server | None = None
        self._clients: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        """Base address, without a trailing slash or `/v1`."""
        assert self._listener is not None
        return f"http://127.0.0.1:{self._listener.sockets[0].getsockname()[1]}"

    async def __aenter__(self) -> RecordedServer:
        self._listener = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        assert self._listener is not None
        self._listener.close()
        for task in self._clients:
            task.cancel()
        await asyncio.gather(*self._clients, return_exceptions=True)
        await self._listener.wait_closed()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._clients.add(task)
        try:
            while await self._serve(reader, writer):
                pass
        except (asyncio.CancelledError, asyncio.IncompleteReadError, ConnectionError):
            writer.transport.abort()
        finally:
            self._clients.discard(task)
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Whether the connection carries another request."""
        body = await _request_body(reader)
        self.requests.append(body)
        recording = self._choose(body)
        if recording is None:
            self.problems.append(f"request {len(self.requests)}: every recording has been played")
            writer.write(b"HTTP/1.1 500 Not recorded\r\ncontent-length: 0\r\n\r\n")
            await writer.drain()
            return True
        await self._play(recording, writer)
        match recording.end.partition(":")[0]:
            case "whole":
                return True
            case "left":  # as silent as it was: the client has to leave
                await reader.read()
            case "cut" if "reset" in recording.end.lower():
                reset(writer)
        return False

    def _choose(self, body: bytes) -> Recording | None:
        same = (recording for recording in self._left if recording.body == body)
        found = next(same, None) or next(iter(self._left), None)
        if found is not None:
            self._left.remove(found)
        return found

    async def _play(self, recording: Recording, writer: asyncio.StreamWriter) -> None:
        before = 0.0
        for ms, piece in recording.answer:
            await asyncio.sleep(max(0.0, ms - before) / 1000 * self._pace)
            before = ms
            writer.write(piece)
            await writer.drain()


async def _request_body(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            return await reader.readexactly(min(int(value), MOST_BODY))
    return b""


@contextmanager
def serve_recording(
    folder: str | os.PathLike[str], *, pace: float = 0.0
) -> Iterator[RecordedServer]:
    """`with serve_recording(folder) as server:` plays what `--record` kept there, at `server.url`.

    `pace` 1 keeps the time between the pieces, 0 does not wait.
    """
    recordings = read_recordings(folder)
    with in_thread(lambda: RecordedServer(recordings, pace)) as (server, _):
        yield server
