"""Edits of a stream, and the ways its bytes can travel, seen from the socket."""

from __future__ import annotations

import gzip
import http.client
import json
import re
import socket
import zlib

import pytest

from detent.testing import Fault, anthropic_wire, fault, reply, say, script, serve
from detent.testing.edits import EDITS, edited
from detent.testing.sse import Event

from .test_server import (
    MESSAGES,
    asking,
    both_wires,
    events,
    fetch,
    raw_request,
    read_all,
    read_until,
    streamed,
    words,
)

FIVE = say(*"abcde")


def body(*edits: str) -> bytes:
    made = anthropic_wire.stream(reply(FIVE), {}, 1)
    return b"".join(event.data for event in edited(made, edits))


def names(*edits: str) -> list[str]:
    return [name for name, _ in events(body(*edits))]


def test_line_ends_and_marks() -> None:
    plain = body()
    assert body("crlf") == plain.replace(b"\n", b"\r\n")
    assert body("cr") == plain.replace(b"\n", b"\r")
    assert body("bom") == b"\xef\xbb\xbf" + plain
    assert body("no_last_blank") == plain[:-1]
    assert set(body("comments_only").split(b"\n\n")) == {b": a comment", b""}
    assert body("comments").count(b": a comment") == len(names())


def test_data_lines_join_to_the_same_json() -> None:
    first = body("data_lines").split(b"\n\n")[0].decode().splitlines()
    data = "\n".join(line[6:] for line in first if line.startswith("data: "))
    assert len(first) > 5
    assert json.loads(data)["type"] == "message_start"


def test_events_are_dropped_doubled_moved_and_changed() -> None:
    assert "content_block_start" not in names("drop:content_block_start")
    assert names("twice:message_stop")[-2:] == ["message_stop"] * 2
    assert names("late:content_block_start")[-4:] == [
        "content_block_stop",
        "content_block_start",
        "message_delta",
        "message_stop",
    ]
    assert b'"index":7' in body('replace:"index":0=>"index":7')
    assert b'"text":"\xff"' in body('replace:"text":"a"=>"text":"\udcff"')


def test_what_is_dropped_keeps_its_place() -> None:
    first, *_ = edited([Event(b"x", delta=True)], ("drop:x",))
    assert first == Event(b"", delta=True)


def test_compression() -> None:
    assert gzip.decompress(body("gzip")) == body()
    assert zlib.decompress(body("deflate")) == body()
    with pytest.raises(EOFError):
        gzip.decompress(body("gzip_cut"))
    assert gzip.decompress(body("gzip_bomb:2")) == bytes(2 << 20)
    assert len(body("gzip_bomb:2")) < 10_000


def test_edits_can_follow_each_other() -> None:
    assert gzip.decompress(body("crlf", "gzip")) == body("crlf")


@pytest.mark.parametrize(
    ("edit", "encoding"),
    [("gzip", "gzip"), ("gzip_bomb:1", "gzip"), ("deflate", "deflate"), ("encoding:br", "br")],
)
def test_the_encoding_is_named(edit: str, encoding: str) -> None:
    with serve(reply(FIVE, fault=fault(edits=edit))) as server:
        response, _ = fetch(server, MESSAGES, asking())
    assert response.headers["content-encoding"] == encoding


def test_every_edit_has_a_test() -> None:
    with open(__file__, encoding="utf-8") as file:
        here = file.read()
    assert [edit for edit in EDITS if not re.search(rf"[\"']{edit}\b", here)] == []


# Framing.


@both_wires
@pytest.mark.parametrize("framing", ["chunked", "length", "close"])
def test_framings_that_are_right(path: str, framing: str) -> None:
    with serve(script(reply(FIVE, fault=Fault(framing=framing)), "next")) as server:  # type: ignore[arg-type]
        assert words(streamed(server, path)) == list("abcde")
        assert words(streamed(server, path)) == ["next"]


def test_a_length_that_is_too_long() -> None:
    with (
        serve(reply(FIVE, fault=fault(framing="too_long"))) as server,
        pytest.raises(http.client.IncompleteRead),
    ):
        fetch(server, MESSAGES, asking())


def test_a_length_that_is_too_short_leaves_bytes_behind() -> None:
    with serve(reply(FIVE, fault=fault(framing="too_short"))) as server:
        response, found = fetch(server, MESSAGES, asking())
    assert response.headers["content-length"] == str(len(found))
    assert b"message_stop" not in found


def test_a_chunk_without_a_size() -> None:
    with (
        serve(reply(FIVE, fault=fault(framing="bad_chunk"))) as server,
        pytest.raises((http.client.HTTPException, ValueError)),
    ):
        fetch(server, MESSAGES, asking())


@pytest.mark.parametrize("size", [1, 2, 7])
def test_a_body_in_small_writes(size: int) -> None:
    with (
        serve(reply("ü€😀", fault=fault(split=size))) as server,
        raw_request(server, MESSAGES, asking()) as sock,
    ):
        data = read_until(sock, b"\r\n0\r\n\r\n")
    chunks = data.partition(b"\r\n\r\n")[2].split(b"\r\n")
    assert {int(length, 16) for length in chunks[0:-2:2]} <= set(range(size + 1))


@both_wires
def test_a_reset_after_some_bytes(path: str) -> None:
    with (
        serve(reply(FIVE, fault=fault(reset_after=100))) as server,
        raw_request(server, path, asking()) as sock,
    ):
        found = b""
        with pytest.raises(ConnectionResetError):
            while got := sock.recv(65536):
                found += got
    chunks = found.partition(b"\r\n\r\n")[2].split(b"\r\n")
    assert sum(int(length, 16) for length in chunks[0:-1:2]) == 100
    assert not found.endswith(b"0\r\n\r\n"), "the body was ended as if nothing were wrong"


def test_raw_bytes_and_nothing_else() -> None:
    literal = b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n\r\n<html>"
    with (
        serve(fault(raw=literal)) as server,
        raw_request(server, MESSAGES, asking()) as sock,
    ):
        assert read_all(sock) == literal


def test_closed_right_after_the_request() -> None:
    with serve(fault(raw=b"")) as server, raw_request(server, MESSAGES, asking()) as sock:
        assert read_all(sock) == b""


def test_interim_answers_first() -> None:
    early = b"HTTP/1.1 103 Early Hints\r\nlink: <x>\r\n\r\n"
    with (
        serve(reply("x", fault=fault(preface=early))) as server,
        raw_request(server, MESSAGES, asking()) as sock,
    ):
        assert read_until(sock, b"message_stop").startswith(early + b"HTTP/1.1 200")


@both_wires
def test_a_drip_is_pings_until_the_client_goes(path: str) -> None:
    with serve(reply(FIVE, fault=fault(drip_after=2))) as server:
        with raw_request(server, path, asking()) as sock:
            data = read_until(sock, b'"b"')
            data += dripped(sock, 200)
            assert b'"c"' not in data
            assert b"1\r\n" in data
        server.wait_for_mark(1, "gone")


def dripped(sock: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        data += sock.recv(size)
    return data
