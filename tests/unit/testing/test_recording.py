"""Recorded exchanges and recorded sessions as fixtures."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from detent.http.transport import ConnectionCut, Transport
from detent.session.log import FileLog
from detent.testing import read_recordings, recorded_script, serve_recording
from detent.types.content import Call, Text
from detent.types.events import Opened, Replied
from detent.types.usage import Usage
from loopback import fetch

OK = "HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\n"


def keep(folder: Path, number: int, body: str, *pieces: dict[str, Any], end: str = "whole") -> None:
    lines: list[dict[str, Any]] = [
        {"detent": "exchange", "v": 1, "at": 1.0, "url": "http://x/v1"},
        {"ms": 0, "sent": "POST /v1 HTTP/1.1\r\n\r\n"},
        {"ms": 0, "sent": body},
        *pieces,
    ]
    if end:
        lines.append({"ms": 9, "end": end})
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (folder / f"{number:04}.jsonl").write_text(text)


def asked(url: str, *bodies: bytes) -> list[bytes]:
    async def main() -> list[bytes]:
        transport = Transport({})
        try:
            return [await fetch(transport, f"{url}/v1", body) for body in bodies]
        finally:
            await transport.aclose()

    return asyncio.run(main())


def test_the_same_bytes_come_back(tmp_path: Path) -> None:
    keep(tmp_path, 1, "a", {"ms": 1, "got": OK + "o"}, {"ms": 2, "got64": "bmUh"})
    (recording,) = read_recordings(tmp_path)
    assert recording.body == b"a" and recording.end == "whole"
    assert [piece for _, piece in recording.answer] == [OK.encode() + b"o", b"ne!"]
    with serve_recording(tmp_path) as server:
        assert asked(server.url, b"a") == [b"one!"]
        assert server.requests == [b"a"]


def test_their_order_is_that_of_their_numbers(tmp_path: Path) -> None:
    for number in (10_000, 2, 9_999):
        keep(tmp_path, number, str(number))
    assert [one.body for one in read_recordings(tmp_path)] == [b"2", b"9999", b"10000"]


def test_the_same_request_gets_its_own_answer_in_any_order(tmp_path: Path) -> None:
    keep(tmp_path, 1, "a", {"ms": 1, "got": OK + "one!"})
    keep(tmp_path, 2, "b", {"ms": 1, "got": OK + "two!"})
    with serve_recording(tmp_path) as server:
        assert asked(server.url, b"b", b"a") == [b"two!", b"one!"]
    with serve_recording(tmp_path) as server:
        assert asked(server.url, b"other", b"b") == [b"one!", b"two!"], "else the next one"


def test_what_was_not_recorded_is_a_problem(tmp_path: Path) -> None:
    keep(tmp_path, 1, "a", {"ms": 1, "got": OK + "one!"})
    with serve_recording(tmp_path) as server:
        assert asked(server.url, b"a", b"a") == [b"one!", b""]
        assert server.problems == ["request 2: every recording has been played"]


@pytest.mark.parametrize("end", ["cut", "cut: [Errno 104] Connection reset by peer", ""])
def test_what_was_cut_is_cut_again(tmp_path: Path, end: str) -> None:
    keep(tmp_path, 1, "a", {"ms": 1, "got": OK + "on"}, end=end)
    with serve_recording(tmp_path) as server, pytest.raises(ConnectionCut):
        asked(server.url, b"a")


def test_where_we_left_the_server_stays_silent(tmp_path: Path) -> None:
    keep(tmp_path, 1, "a", {"ms": 1, "got": OK + "on"}, end="left")

    async def main(url: str) -> None:
        transport = Transport({})
        exchange = await transport.post(url, {}, b"a")
        assert await exchange.read() == b"on"
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(exchange.read(), 0.05)
        exchange.abort()
        await transport.aclose()

    with serve_recording(tmp_path) as server:
        asyncio.run(main(f"{server.url}/v1"))


def test_with_a_pace_the_time_between_pieces_is_kept(tmp_path: Path) -> None:
    keep(tmp_path, 1, "a", {"ms": 0, "got": OK}, {"ms": 80, "got": "one!"})

    async def main(url: str) -> float:
        transport = Transport({})
        exchange = await transport.post(url, {}, b"a")
        begun = asyncio.get_running_loop().time()
        assert await exchange.read() == b"one!"
        transport.give_back(url, exchange)
        await transport.aclose()
        return asyncio.get_running_loop().time() - begun

    with serve_recording(tmp_path, pace=1) as server:
        assert asyncio.run(main(f"{server.url}/v1")) > 0.04


@pytest.mark.parametrize("text", ["", "rubbish\n", '{"detent":"exchange","v":2}\n', "[]\n"])
def test_what_is_no_recording_is_told(tmp_path: Path, text: str) -> None:
    (tmp_path / "0001.jsonl").write_text(text)
    with pytest.raises(ValueError, match="0001"):
        read_recordings(tmp_path)


def test_an_empty_folder_is_told(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no recorded exchange"):
        read_recordings(tmp_path)


def test_half_a_line_at_the_end_is_passed_over(tmp_path: Path) -> None:
    keep(tmp_path, 1, "a", {"ms": 1, "got": OK + "one!"}, end="")
    with (tmp_path / "0001.jsonl").open("a") as file:
        file.write('{"ms":5,"go')
    assert read_recordings(tmp_path)[0].end == ""


def test_the_log_of_a_session_is_a_script_long_texts_included(tmp_path: Path) -> None:
    """They lie in files beside it; an answer whose text is gone is passed over."""
    long = "x" * 100_000
    log = FileLog(
        str(tmp_path / "sessions" / "folder" / "s.jsonl"), lambda: 1.0, home=str(tmp_path)
    )
    log.append(Opened(session="s", cwd="/", version="1"))
    for text in (long, "short"):
        content = (Text(text), Call("c", "T", "{}"))
        log.append(
            Replied(turn=1, step=1, model="m", content=content, stop="tool_use", usage=Usage(1, 2))
        )
    log.close()
    assert long not in Path(log.path).read_text()
    first, second = recorded_script(log.path).replies
    assert first.blocks[0].text == long and second.blocks[0].text == "short"  # type: ignore[union-attr]
    (blob,) = [path for path in (tmp_path / "blobs").rglob("*") if path.is_file()]
    blob.unlink()
    assert len(recorded_script(log.path).replies) == 1
