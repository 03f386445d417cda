"""What `--record` keeps: the bytes as they went and came, and no key."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from detent.http import tape as tapes
from detent.http.tape import Tape
from detent.http.transport import ConnectionCut, Transport
from loopback import AUTHORITY, OK, Peer, Server, fetch, run, sends, server_side, serving, whole

CHUNKED = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\nset-cookie: id=s3cret\r\n\r\n"


def recording(folder: Path, environ: dict[str, str] | None = None) -> Transport:
    transport = Transport(environ or {})
    transport.tape = Tape(str(folder))
    return transport


def lines(folder: Path, number: int = 1) -> list[dict[str, Any]]:
    text = (folder / f"{number:04}.jsonl").read_text()
    return [json.loads(line) for line in text.splitlines()]


def got(folder: Path, number: int = 1) -> list[str]:
    return [line["got"] for line in lines(folder, number) if "got" in line]


def end(folder: Path, number: int = 1) -> str:
    return str(lines(folder, number)[-1]["end"])


def test_request_and_answer_are_kept_piece_by_piece(tmp_path: Path) -> None:
    came: list[tuple[str, dict[str, str], bytes]] = []
    go_on = asyncio.Event()

    async def in_two(peer: Peer) -> None:
        came.append(await peer.request())
        await peer.send(CHUNKED + b"2\r\nab\r\n")
        await go_on.wait()
        await peer.send(b"1\r\n\xff\r\n0\r\n\r\n")

    async def main() -> None:
        async with Server(in_two) as server:
            transport = recording(tmp_path)
            exchange = await transport.post(server.url, {"x-api-key": "key-12345678"}, b'{"a":1}')
            assert await exchange.read() == b"ab"
            go_on.set()
            assert await whole(exchange) == b"\xff"
            transport.give_back(server.url, exchange)
            await transport.aclose()

    run(main)
    first, head, body, *answer = lines(tmp_path)
    assert (first["detent"], first["v"]) == ("exchange", 1)
    assert first["url"].endswith("/v1/x")
    assert head["sent"].startswith("POST /v1/x HTTP/1.1\r\nhost: 127.0.0.1")
    assert "x-api-key: hidden\r\n" in head["sent"]
    assert body["sent"] == '{"a":1}'
    assert came[0][1]["x-api-key"] == "key-12345678", "what is sent is not what is kept"
    kept_head = CHUNKED.decode().replace("id=s3cret", "hidden")
    assert [piece.get("got") for piece in answer[:2]] == [kept_head, "2\r\nab\r\n"]
    assert answer[2]["got64"] == "MQ0K/w0KMA0KDQo="
    assert answer[3]["end"] == "whole"
    assert [piece["ms"] for piece in answer] == sorted(piece["ms"] for piece in answer)


def test_files_are_for_their_owner_alone(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "tapes"

    async def main() -> None:
        async with Server(serving) as server:
            transport = recording(folder)
            await fetch(transport, server.url)
            await transport.aclose()

    run(main)
    assert stat.S_IMODE((folder / "0001.jsonl").stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.parametrize(
    ("answer", "how"),
    [
        (b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc", "cut"),
        (b"HTTP/1.1 200 OK\r\n\r\nabc", "closed"),
        (b"HTTP/1.1 200 O", "cut"),
        (b"SSH-2.0\r\n", "left: the server does not speak HTTP"),
        (OK, "whole"),
    ],
)
def test_how_it_ended_is_kept_with_all_that_came(tmp_path: Path, answer: bytes, how: str) -> None:
    async def main() -> None:
        async with Server(sends(answer)) as server:
            transport = recording(tmp_path)
            with contextlib.suppress(ConnectionCut):
                await fetch(transport, server.url)
            await transport.aclose()

    run(main)
    assert end(tmp_path).startswith(how)
    assert "".join(got(tmp_path)) == answer.decode()


def test_what_is_cancelled_is_left(tmp_path: Path) -> None:
    async def silent(peer: Peer) -> None:
        await peer.request()
        await peer.send(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc")
        await peer.reader.read()

    async def main() -> None:
        async with Server(silent) as server:
            transport = recording(tmp_path)
            exchange = await transport.post(server.url, {}, b"{}")
            assert await exchange.read() == b"abc"
            transport.give_back(server.url, exchange)
            await transport.aclose()

    run(main)
    assert end(tmp_path) == "left"


def test_a_connection_carries_many_and_many_run_at_once(tmp_path: Path) -> None:
    async def main() -> None:
        async with Server(serving) as server:
            one, other = recording(tmp_path), recording(tmp_path)
            for _ in range(2):
                await fetch(one, server.url, b"first")
            await asyncio.gather(*(fetch(t, server.url, b"x") for t in (one, other) * 5))
            await one.aclose()
            await other.aclose()

    run(main)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        f"{n:04}.jsonl" for n in range(1, 13)
    ]
    assert {end(tmp_path, number) for number in range(1, 13)} == {"whole"}
    assert "".join(got(tmp_path, 2)) == OK.decode()


def test_an_idle_connection_that_has_died_is_an_exchange_of_its_own(tmp_path: Path) -> None:
    async def once(peer: Peer) -> None:
        await peer.request()
        await peer.send(OK)
        await peer.request()  # and closes without a word

    async def main() -> None:
        async with Server(once, serving) as server:
            transport = recording(tmp_path)
            for _ in range(2):
                assert await fetch(transport, server.url) == b"ok"
            await transport.aclose()

    run(main)
    assert [end(tmp_path, number) for number in (1, 2, 3)] == ["whole", "cut", "whole"]


def test_behind_tls_the_same_bytes_are_kept(tmp_path: Path) -> None:
    async def main() -> None:
        async with Server(serving, tls=server_side()) as server:
            transport = recording(tmp_path, {"DETENT_CA_BUNDLE": AUTHORITY})
            await fetch(transport, f"https://127.0.0.1:{server.port}/v1/x")
            await transport.aclose()

    run(main)
    assert "".join(got(tmp_path)) == OK.decode()


def test_keys_are_kept_nowhere(tmp_path: Path) -> None:
    """Not in any header, nor in the address, nor where a server repeats them."""
    said = b"wrong key: sk-verysecret1"
    answer = b"HTTP/1.1 401 No\r\nset-cookie: sk-verysecret1\r\ncontent-length: %d\r\n\r\n" % len(
        said
    )
    headers = {
        "authorization": "Bearer sk-verysecret1",
        "x-house-token": "sk-verysecret2",
        "anthropic-version": "2023-06-01",
    }

    async def main() -> None:
        async with Server(sends(answer + said)) as server:
            transport = recording(tmp_path)
            url = f"{server.url}?key=sk-verysecret3&alt=sse"
            exchange = await transport.post(url, headers, b"{}")
            assert await whole(exchange) == said, "what is read is not what is kept"
            transport.give_back(url, exchange)
            await transport.aclose()

    run(main)
    text = (tmp_path / "0001.jsonl").read_text()
    assert "verysecret" not in text
    assert "POST /v1/x?key=hidden&alt=sse HTTP/1.1" in text
    assert "anthropic-version: 2023-06-01" in text
    body = got(tmp_path)[-1]
    assert body.startswith("wrong key: ***") and len(body) == len(said)


def test_a_full_disk_is_told_once_and_nothing_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    told: list[str] = []
    open_files = len(os.listdir("/proc/self/fd"))

    async def main() -> None:
        async with Server(serving) as server:
            transport = recording(tmp_path)
            assert transport.tape is not None
            transport.tape.tell = told.append
            with monkeypatch.context() as patch:
                patch.setattr(tapes.os, "write", full)
                for _ in range(3):
                    assert await fetch(transport, server.url) == b"ok"
            await transport.aclose()

    run(main)
    assert told == [f"exchanges are not being recorded: No space left on device ({tmp_path})"]
    assert len(os.listdir("/proc/self/fd")) == open_files


def test_a_folder_that_vanishes_is_told_and_nothing_fails(tmp_path: Path) -> None:
    told: list[str] = []

    async def main() -> None:
        async with Server(serving) as server:
            transport = recording(tmp_path / "gone")
            assert transport.tape is not None
            transport.tape.tell = told.append
            (tmp_path / "gone").rmdir()
            assert await fetch(transport, server.url) == b"ok"
            await transport.aclose()

    run(main)
    assert len(told) == 1 and "No such file" in told[0]
