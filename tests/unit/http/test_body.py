"""Packed bodies: unpacked as they come, at the reader's pace, and never more than a step ahead."""

from __future__ import annotations

import asyncio
import gzip
import tracemalloc
import zlib
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from detent.http.body import STEP, beginning, unpacking
from detent.http.transport import ConnectionCut, Transport
from detent.models.sse import MOST_PENDING, EventSplitter
from detent.types.errors import ModelFailure
from loopback import Peer, Server, fetch, run, sends, whole


def bare(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


def members(data: bytes) -> bytes:
    middle = len(data) // 2
    return gzip.compress(data[:middle]) + gzip.compress(b"") + gzip.compress(data[middle:])


PACKERS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip": ("gzip", gzip.compress),
    "x-gzip": ("X-GZIP", gzip.compress),
    "members": ("gzip", members),
    "padded": ("gzip", lambda data: gzip.compress(data) + b"\0" * 40),
    "deflate": ("deflate", zlib.compress),
    "bare": ("deflate", bare),
    "identity": ("identity", bytes),
}


async def unpacked(encoding: str, pieces: list[bytes]) -> bytes:
    waiting = iter(pieces)

    async def source() -> bytes:
        return next(waiting, b"")

    body = unpacking(encoding)
    assert body is not None
    parts = []
    while part := await body.read(source):
        assert len(part) <= STEP
        parts.append(part)
    return b"".join(parts)


@pytest.mark.parametrize("name", [name for name in PACKERS if name != "identity"])
@given(
    data=st.one_of(st.binary(max_size=400), st.integers(0, 5).map(lambda n: b"ab" * STEP * n)),
    size=st.integers(1, 50_000),
)
def test_any_split_gives_the_same(name: str, data: bytes, size: int) -> None:
    encoding, pack = PACKERS[name]
    packed = pack(data)
    size = max(size, len(packed) // 500)
    pieces = [packed[at : at + size] for at in range(0, len(packed), size)]
    assert asyncio.run(unpacked(encoding, pieces)) == data


@pytest.mark.parametrize("name", PACKERS)
def test_a_packed_answer_is_read_like_any_other(name: str) -> None:
    encoding, pack = PACKERS[name]
    body = pack(b"hello" * 40_000)
    head = f"HTTP/1.1 200 OK\r\ncontent-encoding: {encoding}\r\ncontent-length: {len(body)}\r\n\r\n"

    async def handler(peer: Peer) -> None:
        while True:
            await peer.request()
            await peer.send(head.encode() + body)

    async def main() -> None:
        async with Server(handler) as server:
            transport = Transport({})
            for _ in range(2):
                assert await fetch(transport, server.url) == b"hello" * 40_000
            assert server.connections == 1
            await transport.aclose()

    run(main)


def test_each_event_of_a_packed_stream_comes_at_once() -> None:
    """The server waits for us before it goes on: nothing may be held back."""
    packer = zlib.compressobj(wbits=31)

    def chunk(data: bytes) -> bytes:
        packed = packer.compress(data) + packer.flush(zlib.Z_SYNC_FLUSH)
        return b"%x\r\n%b\r\n" % (len(packed), packed)

    async def handler(peer: Peer) -> None:
        await peer.request()
        head = b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ntransfer-encoding: chunked\r\n\r\n"
        await peer.send(head)
        for event in (b"data: 1\n\n", b"data: 2\n\n"):
            await peer.send(chunk(event))
            await seen.wait()
            seen.clear()
        rest = packer.flush()
        await peer.send(b"%x\r\n%b\r\n0\r\n\r\n" % (len(rest), rest))

    async def main() -> None:
        async with Server(handler) as server:
            transport = Transport({})
            exchange = await transport.post(server.url, {}, b"{}")
            for event in (b"data: 1\n\n", b"data: 2\n\n"):
                assert await exchange.read() == event
                seen.set()
            assert await exchange.read() == b""
            transport.give_back(server.url, exchange)
            await transport.aclose()

    seen = asyncio.Event()
    run(main)


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip", "pigeon"])
def test_other_packings_are_refused_by_name(encoding: str) -> None:
    answer = f"HTTP/1.1 200 OK\r\ncontent-encoding: {encoding}\r\ncontent-length: 2\r\n\r\nok"

    async def main() -> None:
        async with Server(sends(answer.encode())) as server:
            transport = Transport({})
            with pytest.raises(ModelFailure, match=encoding) as caught:
                await transport.post(server.url, {}, b"{}")
            assert caught.value.kind == "invalid_response"
            await transport.aclose()

    run(main)


GOOD = gzip.compress(b"x" * 1000, mtime=0)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (GOOD[:-6], "ends in the middle"),
        (b"\x1f", "ends in the middle"),
        (b"this is not gzip", "damaged"),
        (GOOD + b"rubbish", "damaged"),
        (GOOD[:-8] + b"\1" * 8, "damaged"),
    ],
    ids=["cut", "one byte", "no gzip", "more", "checksum"],
)
def test_a_damaged_packing_is_a_cut(body: bytes, text: str) -> None:
    with pytest.raises(ConnectionCut, match=text):
        asyncio.run(unpacked("gzip", [body]))


def bomb(unit: bytes) -> tuple[bytes, int]:
    """Less than 100 kB that unpack to 64 MB."""
    packer = zlib.compressobj(9, wbits=31)
    piece = unit * (1024 * 1024 // len(unit))
    packed = b"".join(packer.compress(piece) for _ in range(64)) + packer.flush()
    return packed, 64 * len(piece)


def bombing(packed: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: %d\r\n\r\n%b" % (
        len(packed),
        packed,
    )


def peak_of(main: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        main()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_bomb_of_comments_costs_a_step_and_lets_others_run() -> None:
    packed, size = bomb(b": %b\n\n" % (b"x" * 1000))
    turns = 0

    async def main() -> None:
        async with Server(sends(bombing(packed))) as server:
            transport = Transport({})
            exchange = await transport.post(server.url, {}, b"{}")
            ticking = asyncio.create_task(tick())
            splitter, seen = EventSplitter(), 0
            while part := await exchange.read():
                seen += len(part)
                assert splitter.feed(part) == []
            assert seen == size
            ticking.cancel()
            exchange.abort()
            await transport.aclose()

    async def tick() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    assert peak_of(lambda: asyncio.run(main())) < 8_000_000
    assert turns > 500


def test_a_bomb_that_is_one_event_ends_with_a_sentence() -> None:
    packed, _ = bomb(b"a")

    async def main() -> None:
        async with Server(sends(bombing(packed))) as server:
            transport = Transport({})
            exchange = await transport.post(server.url, {}, b"{}")
            splitter = EventSplitter()
            with pytest.raises(ModelFailure, match="endless event"):
                while part := await exchange.read():
                    splitter.feed(part)
            exchange.abort()
            await transport.aclose()

    assert peak_of(lambda: asyncio.run(main())) < MOST_PENDING + 8_000_000


def test_a_bomb_that_should_be_a_small_answer_ends_with_a_sentence() -> None:
    packed, _ = bomb(b"a")

    async def main() -> None:
        async with Server(sends(bombing(packed))) as server:
            transport = Transport({})
            with pytest.raises(ConnectionCut, match="longer than"):
                await transport.get(server.url, {})
            exchange = await transport.post(server.url, {}, b"{}")
            assert len(await beginning(exchange, 1000)) == 1000
            exchange.abort()
            await transport.aclose()

    assert peak_of(lambda: asyncio.run(main())) < 16_000_000


def test_whole_reads_what_loopback_sends() -> None:
    async def main() -> None:
        async with Server(sends(bombing(gzip.compress(b"")))) as server:
            transport = Transport({})
            exchange = await transport.post(server.url, {}, b"{}")
            assert await whole(exchange) == b""
            exchange.abort()
            await transport.aclose()

    run(main)
