"""The scripted server over real sockets: faults, pace, quirks and HTTP on the two older wires."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from detent.testing import (
    QUIRKS,
    RedactedThink,
    Reply,
    Request,
    Script,
    ScriptedServer,
    ServedScript,
    Think,
    call,
    chat_wire,
    fault,
    reply,
    say,
    script,
    serve,
    think,
)

MESSAGES, CHAT = "/v1/messages", "/v1/chat/completions"
both_wires = pytest.mark.parametrize("path", [MESSAGES, CHAT])
SSE = list[tuple[str, Any]]


def asking(text: str = "hi", stream: bool = True, turns: int = 0, **more: Any) -> dict[str, Any]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": text}]
    for _ in range(turns):
        messages += [{"role": "assistant", "content": "a"}, {"role": "user", "content": "u"}]
    return {"model": "m", "stream": stream, "messages": messages, **more}


def post(
    connection: http.client.HTTPConnection, path: str, body: object
) -> http.client.HTTPResponse:
    connection.request("POST", path, json.dumps(body), {"content-type": "application/json"})
    return connection.getresponse()


def connect(server: ServedScript) -> http.client.HTTPConnection:
    return http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)


def fetch(server: ServedScript, path: str, body: object) -> tuple[http.client.HTTPResponse, bytes]:
    with closing(connect(server)) as connection:
        response = post(connection, path, body)
        return response, response.read()


def events(body: bytes) -> SSE:
    """(event name, decoded data) of every frame; data that is not JSON stays text."""
    frames: SSE = []
    for frame in body.decode().split("\n\n"):
        fields = dict(re.findall(r"^(event|data): (.*)$", frame, re.MULTILINE))
        if "data" in fields:
            frames.append((fields.get("event", ""), decoded(fields["data"])))
    return frames


def decoded(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def streamed(server: ServedScript, path: str, body: dict[str, Any] | None = None) -> SSE:
    _, data = fetch(server, path, body or asking())
    return events(data)


def words(frames: SSE) -> list[str]:
    """The text deltas, on either wire."""
    found: list[str] = []
    for name, data in frames:
        if name == "content_block_delta" and isinstance(data, dict):
            found.append(data["delta"].get("text", ""))
        elif not name and isinstance(data, dict):
            found += [c["delta"].get("content") or "" for c in data.get("choices", [])]
    return [word for word in found if word]


def ended(frames: SSE) -> bool:
    return frames[-1] in [("message_stop", {"type": "message_stop"}), ("", "[DONE]")]


@contextmanager
def raw_request(server: ServedScript, path: str, body: object) -> Iterator[socket.socket]:
    data = json.dumps(body).encode()
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as sock:
        sock.sendall(b"POST %b HTTP/1.1\r\ncontent-length: %d\r\n\r\n" % (path.encode(), len(data)))
        sock.sendall(data)
        yield sock


def read_until(sock: socket.socket, mark: bytes) -> bytes:
    data = b""
    while mark not in data:
        got = sock.recv(65536)
        assert got, f"stream ended before {mark!r}: {data!r}"
        data += got
    return data


def read_all(sock: socket.socket) -> bytes:
    data = b""
    while got := sock.recv(65536):
        data += got
    return data


# Shapes of the wires.

RICH = reply(
    think("hm ", "ok", signature="sig"),
    RedactedThink("secret"),
    say("he", "llo"),
    call("Bash", {"command": "ls"}, pieces=["", '{"command":', ' "ls"}']),
    call("Read", {"path": "ü"}, id="mine"),
    call("Nothing"),
    input=10,
    output=5,
    cache_read=7,
    cache_write=2,
    headers={"x-own": "yes"},
)


def test_anthropic_stream() -> None:
    with serve(RICH) as server:
        response, body = fetch(server, "/v1/messages?beta=true", asking())
    assert response.headers["content-type"].startswith("text/event-stream")
    assert response.headers["x-own"] == "yes"
    frames = events(body)
    start = frames[0][1]["message"]
    assert (start["content"], start["stop_reason"], start["model"]) == ([], None, "m")
    assert start["usage"]["input_tokens"] == 10
    assert start["usage"]["cache_read_input_tokens"] == 7
    blocks = [data["content_block"] for name, data in frames if name == "content_block_start"]
    assert blocks == [
        {"type": "thinking", "thinking": "", "signature": ""},
        {"type": "redacted_thinking", "data": "secret"},
        {"type": "text", "text": ""},
        {"type": "tool_use", "id": "call_1_3", "name": "Bash", "input": {}},
        {"type": "tool_use", "id": "mine", "name": "Read", "input": {}},
        {"type": "tool_use", "id": "call_1_5", "name": "Nothing", "input": {}},
    ]
    deltas = [(d["index"], d["delta"]) for name, d in frames if name == "content_block_delta"]
    assert deltas == [
        (0, {"type": "thinking_delta", "thinking": "hm "}),
        (0, {"type": "thinking_delta", "thinking": "ok"}),
        (0, {"type": "signature_delta", "signature": "sig"}),
        (2, {"type": "text_delta", "text": "he"}),
        (2, {"type": "text_delta", "text": "llo"}),
        (3, {"type": "input_json_delta", "partial_json": ""}),
        (3, {"type": "input_json_delta", "partial_json": '{"command":'}),
        (3, {"type": "input_json_delta", "partial_json": ' "ls"}'}),
        (4, {"type": "input_json_delta", "partial_json": '{"path": "ü"}'}),
    ]
    assert [name for name, _ in frames[-3:]] == [
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]
    assert frames[-2][1]["delta"]["stop_reason"] == "tool_use"
    assert frames[-2][1]["usage"]["output_tokens"] == 5


def test_anthropic_without_a_stream() -> None:
    with serve(RICH) as server:
        _, body = fetch(server, MESSAGES, asking(stream=False))
    message = json.loads(body)
    assert [block["type"] for block in message["content"]] == [
        "thinking",
        "redacted_thinking",
        "text",
        "tool_use",
        "tool_use",
        "tool_use",
    ]
    assert message["content"][0] == {"type": "thinking", "thinking": "hm ok", "signature": "sig"}
    assert message["content"][2]["text"] == "hello"
    assert [block["input"] for block in message["content"][3:]] == [
        {"command": "ls"},
        {"path": "ü"},
        {},
    ]
    assert message["usage"]["cache_creation_input_tokens"] == 2


def test_omitted_thinking_is_a_signature_alone() -> None:
    with serve(reply(Think("", "sig"))) as server:
        frames = streamed(server, MESSAGES)
    deltas = [data["delta"] for name, data in frames if name == "content_block_delta"]
    assert deltas == [{"type": "signature_delta", "signature": "sig"}]


def test_a_refusal_carries_details() -> None:
    with serve(reply("no", stop="refusal")) as server:
        frames = streamed(server, MESSAGES)
    assert "stop_details" in frames[-2][1]["delta"]


def test_chat_stream() -> None:
    with serve(RICH) as server:
        frames = streamed(server, CHAT, asking(stream_options={"include_usage": True}))
    assert frames[-1] == ("", "[DONE]")
    assert frames[-2][1]["choices"] == []
    assert frames[-2][1]["usage"] == {
        "prompt_tokens": 19,
        "completion_tokens": 5,
        "total_tokens": 24,
        "prompt_tokens_details": {"cached_tokens": 7},
    }
    choices = [data["choices"][0] for _, data in frames[:-2]]
    assert choices[0]["delta"] == {"role": "assistant", "content": ""}
    assert choices[-1] == {"index": 0, "delta": {}, "finish_reason": "tool_calls"}
    assert words(frames) == ["he", "llo"]
    fragments = [c["delta"]["tool_calls"][0] for c in choices if "tool_calls" in c["delta"]]
    assert [(f["index"], f.get("id"), f["function"]) for f in fragments] == [
        (0, "call_1_3", {"name": "Bash", "arguments": ""}),
        (0, None, {"arguments": ""}),
        (0, None, {"arguments": '{"command":'}),
        (0, None, {"arguments": ' "ls"}'}),
        (1, "mine", {"name": "Read", "arguments": ""}),
        (1, None, {"arguments": '{"path": "ü"}'}),
        (2, "call_1_5", {"name": "Nothing", "arguments": ""}),
    ]


def test_chat_without_a_stream() -> None:
    with serve(reply(*RICH.blocks, quirks=["reasoning"])) as server:
        _, body = fetch(server, CHAT, asking(stream=False))
    choice = json.loads(body)["choices"][0]
    assert choice["finish_reason"] == "tool_calls"
    assert choice["message"]["content"] == "hello"
    assert choice["message"]["reasoning"] == "hm ok"
    assert [c["function"]["arguments"] for c in choice["message"]["tool_calls"]] == [
        '{"command": "ls"}',
        '{"path": "ü"}',
        "",
    ]


@pytest.mark.parametrize(
    ("stop", "finish"),
    [
        ("end_turn", "stop"),
        ("tool_use", "tool_calls"),
        ("max_tokens", "length"),
        ("refusal", "content_filter"),
        ("something_new", "something_new"),
    ],
)
def test_stop_reasons_are_translated_for_chat(stop: str, finish: str) -> None:
    with serve(reply("x", stop=stop)) as server:
        frames = streamed(server, CHAT)
    assert frames[-2][1]["choices"][0]["finish_reason"] == finish


# Quirks: pure functions are enough.

TWO_CALLS = (call("A", {"a": 1}, pieces=['{"a"', ":1}"]), call("B", {"b": 2}))


def chunks(made: Reply, **body: Any) -> list[dict[str, Any]]:
    data = b"".join(event.data for event in chat_wire.stream(made, body, 1))
    return [data for _, data in events(data) if isinstance(data, dict)]


def fragments(*quirks: str) -> list[dict[str, Any]]:
    made = reply(*TWO_CALLS, quirks=quirks)
    deltas = [each["choices"][0]["delta"] for each in chunks(made)]
    return [fragment for delta in deltas for fragment in delta.get("tool_calls", [])]


def deltas_of(*quirks: str) -> list[dict[str, Any]]:
    made = reply(think("hm"), "x", *TWO_CALLS, quirks=quirks)
    return [each["choices"][0]["delta"] for each in chunks(made)]


def last_frames(*quirks: str) -> bytes:
    made = reply("x", *TWO_CALLS, quirks=quirks)
    return b"".join(event.data for event in chat_wire.stream(made, {}, 1) if event.closing)


QUIRK_CHECKS: dict[str, Callable[[], bool]] = {
    "no_index": lambda: all("index" not in each for each in fragments("no_index")),
    "index_zero": lambda: [each["index"] for each in fragments("index_zero")] == [0] * 5,
    "object_arguments": lambda: (
        [each["function"]["arguments"] for each in fragments("object_arguments")]
        == [{"a": 1}, {"b": 2}]
    ),
    "finish_stop": lambda: b'"finish_reason":"stop"' in last_frames("finish_stop"),
    "reasoning": lambda: {"reasoning": "hm"} in deltas_of("reasoning"),
    "reasoning_content": lambda: {"reasoning_content": "hm"} in deltas_of("reasoning_content"),
    "reasoning_details": lambda: (
        [
            (entry["text"], entry.get("signature"))
            for delta in deltas_of("reasoning_details")
            for entry in delta.get("reasoning_details", ())
        ]
        == [("hm", None), ("", "scripted-signature")]
    ),
    "usage_every_chunk": lambda: all(
        "usage" in each for each in chunks(reply("x", quirks=["usage_every_chunk"]))
    ),
    "missing_id": lambda: (
        all("id" not in each for each in fragments("missing_id"))
        and all("id" not in each for each in chunks(reply("x", quirks=["missing_id"])))
    ),
    "interleave": lambda: [each["index"] for each in fragments("interleave")] == [0, 1, 0, 1, 0],
    "null_content": lambda: (
        [each["content"] for each in deltas_of("null_content") if "tool_calls" in each]
        == [None] * 5
    ),
    "thought_signature": lambda: (
        fragments("thought_signature")[0]["extra_content"]
        == {"google": {"thought_signature": "thought-1-0"}}
    ),
    "no_done": lambda: b"DONE" in last_frames() and b"DONE" not in last_frames("no_done"),
    "no_usage": lambda: (
        not any(
            "usage" in each
            for each in chunks(
                reply("x", quirks=["no_usage"]), stream_options={"include_usage": True}
            )
        )
    ),
    "noise": lambda: any(
        event.data.startswith(b": ")
        for event in chat_wire.stream(reply("x", quirks=["noise"]), {}, 1)
    ),
}


@pytest.mark.parametrize("quirk", sorted(QUIRKS))
def test_quirk(quirk: str) -> None:
    assert QUIRK_CHECKS[quirk]()


def test_plain_chat_does_not_show_thinking_nor_send_usage_unasked() -> None:
    assert not any("reasoning" in key for delta in deltas_of() for key in delta)
    assert not any("usage" in each for each in chunks(reply("x")))


def test_quirks_that_also_concern_the_anthropic_wire() -> None:
    with serve(reply("x", quirks=["no_done", "no_usage", "noise"])) as server:
        frames = streamed(server, MESSAGES)
    assert frames[-1][0] == "message_delta"
    assert not any("usage" in data or "usage" in data.get("message", {}) for _, data in frames)
    assert {"ping", "event_from_the_future"} <= {name for name, _ in frames}


# Faults.


@both_wires
def test_a_status_with_headers_and_the_error_shape_of_the_wire(path: str) -> None:
    with serve(fault(529, retry_after="1")) as server:
        response, body = fetch(server, path, asking())
    error = json.loads(body)["error"]
    assert (response.status, response.headers["retry-after"]) == (529, "1")
    assert error["type"] == ("overloaded_error" if path == MESSAGES else "server_error")
    assert error["message"]


@pytest.mark.parametrize(("body", "kind"), [("<html>", "text/plain"), ({"a": 1}, "application/")])
def test_a_status_with_a_body_of_its_own(body: str | dict[str, Any], kind: str) -> None:
    with serve(fault(502, body=body)) as server:
        response, data = fetch(server, MESSAGES, asking())
    assert response.status == 502
    assert response.headers["content-type"].startswith(kind)
    assert data.decode() == (body if isinstance(body, str) else json.dumps(body))


FIVE = say(*"abcde")


def partial(server: ServedScript, path: str) -> SSE:
    """What arrives of a stream whose body is not ended properly."""
    with pytest.raises(http.client.IncompleteRead) as caught:
        fetch(server, path, asking())
    return events(caught.value.partial)


@both_wires
@pytest.mark.parametrize("count", [0, 1, 4])
def test_cut_after(path: str, count: int) -> None:
    with serve(reply(FIVE, fault=fault(cut_after=count))) as server:
        frames = partial(server, path)
    assert words(frames) == list("abcde")[:count]
    assert len(frames) >= 1, "the opening event is sent even when no delta is"


def test_cut_past_the_last_delta_leaves_the_blocks_complete() -> None:
    with serve(reply(FIVE, fault=fault(cut_after=99))) as server:
        frames = partial(server, MESSAGES)
    assert frames[-1][0] == "content_block_stop"


@both_wires
def test_error_after(path: str) -> None:
    broken = fault(error_after=2, error_type="api_error", error_message="dear me")
    with serve(reply(FIVE, fault=broken)) as server:
        frames = streamed(server, path)
    assert words(frames) == ["a", "b"]
    error = frames[-1][1]["error"]
    assert (error["type"], error["message"]) == ("api_error", "dear me")
    assert frames[-1][0] == ("error" if path == MESSAGES else "")


@both_wires
def test_garbage_after(path: str) -> None:
    with serve(reply(FIVE, fault=fault(garbage_after=2))) as server:
        frames = streamed(server, path)
    broken = [n for n, (_, data) in enumerate(frames) if isinstance(data, str) and "{" in data]
    assert len(broken) == 1
    assert words(frames[: broken[0]]) == ["a", "b"]
    assert words(frames) == list("abcde")
    assert ended(frames)


@both_wires
def test_no_stop(path: str) -> None:
    with serve(reply(FIVE, fault=fault(no_stop=True))) as server:
        response, body = fetch(server, path, asking())
    frames = events(body)
    assert response.status == 200
    assert words(frames) == list("abcde")
    assert not ended(frames)
    assert b"stop_reason" not in body.split(b"content_block_start")[-1]
    assert not re.search(rb'finish_reason":\s*"', body)


@both_wires
def test_reset(path: str) -> None:
    with (
        serve(script(fault(reset=True), "fine")) as server,
        raw_request(server, path, asking()) as sock,
    ):
        with pytest.raises(ConnectionResetError):
            sock.recv(1)
        assert words(streamed(server, path)) == ["fine"]


@both_wires
def test_stall_until_the_client_goes(path: str) -> None:
    with serve(reply(FIVE, fault=fault(stall_after=2))) as server:
        with raw_request(server, path, asking()) as sock:
            data = read_until(sock, b'"b"')
            assert b'"c"' not in data
        server.wait_for_mark(1, "gone")
        assert "stop" not in [mark.what for mark in server.timeline]


@both_wires
def test_a_client_that_hangs_on_a_stall_is_dropped_when_the_server_closes(path: str) -> None:
    before = set(threading.enumerate())
    with serve(reply(FIVE, fault=fault(stall_after=2))) as server:
        request = raw_request(server, path, asking())
        sock = request.__enter__()
        read_until(sock, b'"b"')
    try:
        assert read_all(sock) == b"", "nothing more came, not even a proper end"
    finally:
        request.__exit__(None, None, None)
    assert set(threading.enumerate()) == before


def test_faults_can_be_combined() -> None:
    with serve(reply(FIVE, fault=fault(garbage_after=1, cut_after=3))) as server:
        frames = partial(server, MESSAGES)
    assert words(frames) == ["a", "b", "c"]
    assert any(isinstance(data, str) for _, data in frames)


# Pace.


@both_wires
def test_hold_keeps_the_stop_back_after_the_blocks(path: str) -> None:
    gate = threading.Event()
    with (
        serve(reply(FIVE, hold=gate)) as server,
        raw_request(server, path, asking()) as sock,
    ):
        read_until(sock, b'"e"')
        server.wait_for_mark(1, "block_end")
        assert "stop" not in [mark.what for mark in server.timeline]
        gate.set()
        read_until(sock, b"0\r\n\r\n")
        assert server.when(1, "block_end") <= server.when(1, "stop")


def test_hold_after_some_deltas() -> None:
    gate = threading.Event()
    with (
        serve(reply(FIVE, hold=gate, hold_after=2)) as server,
        raw_request(server, MESSAGES, asking()) as sock,
    ):
        assert b'"c"' not in read_until(sock, b'"b"')
        gate.set()
        read_until(sock, b"message_stop")


def test_hold_without_a_stream_keeps_the_answer_back() -> None:
    gate = threading.Event()
    with (
        serve(reply("x", hold=gate)) as server,
        raw_request(server, MESSAGES, asking(stream=False)) as sock,
    ):
        server.wait_for(1)
        assert [mark.what for mark in server.timeline] == ["received"]
        gate.set()
        read_until(sock, b'"x"')


def test_a_client_that_leaves_during_a_hold_is_noticed() -> None:
    with serve(reply("x", hold=threading.Event())) as server:
        with raw_request(server, MESSAGES, asking()) as sock:
            read_until(sock, b"content_block_stop")
        server.wait_for_mark(1, "gone")


@both_wires
def test_delay_gap_and_tail_take_their_time(path: str) -> None:
    with serve(reply(FIVE, delay=0.02, gap=0.01, tail=0.05)) as server:
        _, body = fetch(server, path, asking())
        times = {what: server.when(1, what) for what in ("received", "first_byte", "block_end")}
        stop = server.when(1, "stop")
    assert times["first_byte"] - times["received"] >= 0.02
    assert times["block_end"] - times["first_byte"] >= 0.04
    assert stop - times["block_end"] >= 0.05
    assert b"ping" in body or b": keep-alive" in body
    assert ended(events(body))


@both_wires
def test_every_block_end_is_on_the_timeline(path: str) -> None:
    with serve(reply("a", call("T"), call("U", a=1))) as server:
        streamed(server, path)
        whats = [mark.what for mark in server.timeline]
        assert whats == ["received", "first_byte", *["block_end"] * 3, "stop"]
        with pytest.raises(LookupError):
            server.when(1, "gone")


@both_wires
def test_twenty_thousand_deltas_arrive(path: str) -> None:
    pieces = [f"{n} " for n in range(20_000)]
    with serve(reply(say(*pieces))) as server:
        frames = streamed(server, path)
    assert words(frames) == pieces
    assert ended(frames)


# Which reply.


def texts(server: ServedScript, *bodies: dict[str, Any]) -> list[str]:
    return ["".join(words(streamed(server, MESSAGES, body))) for body in bodies]


def test_in_sequence_the_nth_request_gets_the_nth_reply() -> None:
    with serve(script("a", "b", after="repeat_last")) as server:
        assert texts(server, asking(), asking(turns=5), asking()) == ["a", "b", "b"]


@both_wires
def test_past_the_end_the_answer_is_an_error_that_says_so(path: str) -> None:
    with serve(script("a")) as server:
        streamed(server, path)
        response, body = fetch(server, path, asking())
        assert response.status == 400
        assert b"no reply 2" in body
        assert server.problems and "request 2" in server.problems[0]


def test_by_turn_keeps_no_state() -> None:
    with serve(script("a", "b", "c", pick="by_turn", after="repeat_last")) as server:
        bodies = [asking(turns=n) for n in (2, 0, 1, 0, 9)]
        assert texts(server, *bodies) == ["c", "a", "b", "a", "c"]


def test_scenarios_have_counters_of_their_own() -> None:
    plan = script("x", "y", scenarios={"one": ["1a", "1b"], "two": ["2a", "2b"]})
    one, two = asking("PARITY_SCENARIO:one"), asking("SCENARIO:two")
    with serve(plan) as server:
        got = texts(server, one, two, asking(), one, asking(), two)
        assert got == ["1a", "2a", "x", "1b", "y", "2b"]
        response, body = fetch(server, MESSAGES, asking("SCENARIO:three"))
        assert (response.status, b"'three'" in body) == (400, True)


def test_without_scenarios_the_token_means_nothing() -> None:
    with serve(script("x")) as server:
        assert texts(server, asking("SCENARIO:one")) == ["x"]


@both_wires
def test_a_function_answers_the_latest_tool_result(path: str) -> None:
    def answer(request: Request) -> str:
        return f"saw {request.tool_results[0].text}"

    result: dict[str, Any] = {"role": "tool", "tool_call_id": "c", "content": "42"}
    if path == MESSAGES:
        block = {"type": "tool_result", "tool_use_id": "c", "content": "42"}
        result = {"role": "user", "content": [block]}
    with serve(script(reply(call("T")), answer)) as server:
        streamed(server, path)
        body = asking()
        body["messages"] += [{"role": "assistant", "content": []}, result]
        assert words(streamed(server, path, body)) == ["saw 42"]


def test_a_function_that_fails_is_a_problem_of_the_script() -> None:
    with serve(lambda request: request.json["missing"]) as server:
        response, body = fetch(server, MESSAGES, asking())
        assert (response.status, b"KeyError" in body) == (400, True)
        assert "KeyError" in server.problems[0]


def test_the_model_is_that_of_the_request_unless_the_reply_names_one() -> None:
    with serve(script("a", reply("b", model="own"))) as server:
        models = [streamed(server, MESSAGES)[0][1]["message"]["model"] for _ in range(2)]
    assert models == ["m", "own"]


# HTTP.


def test_two_requests_on_one_connection_then_a_third_on_another() -> None:
    with serve(script("a", fault(529), "c")) as server:
        with closing(connect(server)) as connection:
            for path, status in ((MESSAGES, 200), (CHAT, 529)):
                response = post(connection, path, asking())
                response.read()
                assert response.status == status
        streamed(server, CHAT)
        assert server.connections == 2
        assert [request.connection for request in server.requests] == [1, 1, 2]
        assert [request.number for request in server.requests] == [1, 2, 3]
        assert [request.path for request in server.requests] == [MESSAGES, CHAT, CHAT]


def test_requests_are_recorded() -> None:
    with serve("a") as server:
        streamed(server, "/some/prefix/v1/messages?beta=true")
        server.wait_for(1)
        (request,) = server.requests
    assert request.path == "/some/prefix/v1/messages?beta=true"
    assert request.headers["content-type"] == "application/json"
    assert request.json == json.loads(request.body) == asking()
    assert request.at > 0


def test_without_recording_only_counts_are_kept() -> None:
    with serve("a", record=False) as server:
        streamed(server, MESSAGES)
        server.wait_for(1)
        assert (server.request_count, server.connections) == (1, 1)
        assert (server.requests, server.timeline) == ([], [])


def test_side_routes_take_no_reply() -> None:
    with serve("a") as server, closing(connect(server)) as connection:
        tokens = post(connection, "/v1/messages/count_tokens", asking())
        assert json.loads(tokens.read())["input_tokens"] > 0
        connection.request("GET", "/v1/models")
        assert json.loads(connection.getresponse().read())["data"][0]["id"] == "scripted"
        connection.request("HEAD", "/")
        assert connection.getresponse().read() == b""
        missing = post(connection, "/v1/nothing", {})
        assert (missing.status, missing.read()[:1]) == (404, b"{")
        assert words(events(post(connection, MESSAGES, asking()).read())) == ["a"]
        assert len(server.others) == 4
        assert (len(server.requests), server.connections) == (1, 1)


def test_chunked_request_bodies_and_trailers() -> None:
    with serve(script("a", "b")) as server, closing(connect(server)) as connection:
        body = json.dumps(asking()).encode()
        connection.request("POST", MESSAGES, iter([body[:5], body[5:]]), encode_chunked=True)
        assert words(events(connection.getresponse().read())) == ["a"]
        assert server.requests[0].json == asking()
        with socket.create_connection(("127.0.0.1", server.port), timeout=10) as sock:
            sock.sendall(b"POST /v1/messages HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n")
            sock.sendall(b"%x;ext=1\r\n%b\r\n0\r\nx-trailer: 1\r\n\r\n" % (len(body), body))
            read_until(sock, b"message_stop")


def test_a_large_body() -> None:
    text = "x" * 5_000_000
    with serve("a") as server:
        streamed(server, MESSAGES, asking(text))
        assert server.requests[0].json["messages"][0]["content"] == text


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (b"content-length: 67108865", b"413"),
        (b"content-length: -1", b"400"),
        (b"content-length: many", b"400"),
        (b"transfer-encoding: chunked\r\n\r\nzz", b"400"),
        (b"transfer-encoding: chunked\r\n\r\n4000001", b"413"),
        (b"x-long: " + b"x" * 2_000_000, b"431"),
    ],
)
def test_requests_that_cannot_be_read_are_refused(head: bytes, status: bytes) -> None:
    with (
        serve("a") as server,
        socket.create_connection(("127.0.0.1", server.port), timeout=10) as sock,
    ):
        sock.sendall(b"POST /v1/messages HTTP/1.1\r\n" + head + b"\r\n\r\n")
        assert read_until(sock, b"\r\n").startswith(b"HTTP/1.1 " + status)


def test_a_body_that_is_not_json_is_a_problem() -> None:
    with serve("a") as server, closing(connect(server)) as connection:
        connection.request("POST", MESSAGES, "{")
        assert connection.getresponse().status == 400
        assert server.problems


def test_expect_continue_and_connection_close() -> None:
    with (
        serve("a") as server,
        socket.create_connection(("127.0.0.1", server.port), timeout=10) as sock,
    ):
        body = json.dumps(asking()).encode()
        sock.sendall(
            b"POST /v1/messages HTTP/1.1\r\nexpect: 100-continue\r\nconnection: close\r\n"
            b"content-length: %d\r\n\r\n" % len(body)
        )
        read_until(sock, b"100 Continue\r\n\r\n")
        sock.sendall(body)
        assert read_all(sock).endswith(b"0\r\n\r\n")


def test_a_scripted_connection_close_header_is_meant() -> None:
    with (
        serve(fault(500, headers={"connection": "close"})) as server,
        raw_request(server, MESSAGES, asking()) as sock,
    ):
        assert read_all(sock).startswith(b"HTTP/1.1 500")


# Running it.


def test_async_form_with_many_clients_at_once() -> None:
    plan = script("a", "b", pick="by_turn")

    async def talk(server: ScriptedServer, turns: int) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        body = json.dumps(asking(turns=turns)).encode()
        writer.write(b"POST /v1/messages HTTP/1.1\r\ncontent-length: %d\r\n\r\n" % len(body))
        writer.write(body)
        answer = await reader.readuntil(b"\r\n0\r\n\r\n")
        writer.close()
        return answer

    async def main() -> None:
        async with ScriptedServer(plan) as server:
            answers = await asyncio.gather(*(talk(server, n % 2) for n in range(50)))
            await server.wait_for(50)
            assert server.connections == 50
        assert all(f'"{"ab"[n % 2]}"'.encode() in body for n, body in enumerate(answers))
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(main(), debug=True)


def test_waiting_gives_up() -> None:
    with serve("a") as server, pytest.raises(TimeoutError):
        server.wait_for(1, timeout=0)


def test_a_port_in_use_is_reported_by_the_sync_form_too() -> None:
    with serve("a") as server, pytest.raises(OSError), serve("b", port=server.port):
        pass


@contextmanager
def program(*arguments: str | Path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "detent.testing", *map(str, arguments)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def script_file(folder: Path, found: object) -> Path:
    path = folder / "script.json"
    path.write_text(json.dumps(found), encoding="utf-8")
    return path


@pytest.mark.parametrize("way", [signal.SIGTERM, signal.SIGINT, "eof"])
def test_program_serves_and_stops_quietly(tmp_path: Path, way: signal.Signals | str) -> None:
    path, log = script_file(tmp_path, {"replies": ["hello"]}), tmp_path / "log.jsonl"
    extra = ["--until-eof"] if way == "eof" else []
    with program(path, "--requests-log", log, *extra) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        port = int(re.fullmatch(r"listening http://127\.0\.0\.1:(\d+)\n", line)[1])  # type: ignore[index]
        with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=10)) as connection:
            connection.request("POST", CHAT, json.dumps(asking()), {"x-api-key": "k"})
            assert words(events(connection.getresponse().read())) == ["hello"]
            if isinstance(way, signal.Signals):
                os.kill(process.pid, way)
            assert process.communicate(timeout=10) == ("", "")
        assert process.returncode == 0
    (entry,) = [json.loads(each) for each in log.read_text(encoding="utf-8").splitlines()]
    assert (entry["number"], entry["path"], entry["body"]) == (1, CHAT, asking())
    assert entry["headers"]["x-api-key"] == "***"


def test_program_refuses_a_bad_script(tmp_path: Path) -> None:
    with program(script_file(tmp_path, {"replies": [{"blocks": [{"cal": 1}]}]})) as process:
        out, err = process.communicate(timeout=10)
    assert (process.returncode, out) == (2, "")
    assert "replies[0].blocks[0]: unknown key 'cal'" in err


def test_program_refuses_a_missing_script(tmp_path: Path) -> None:
    with program(tmp_path / "none.json") as process:
        _, err = process.communicate(timeout=10)
    assert (process.returncode, "none.json" in err) == (2, True)


def test_plain_script_objects_are_taken_as_they_are() -> None:
    with serve(Script((reply("x"),), pick="by_turn")) as server:
        assert texts(server, asking()) == ["x"]


def test_conversations_at_the_same_time_follow_lists_of_their_own() -> None:
    plan = script(scenarios={"lead": ["first", "second"], "child": ["one", "two"]}, pick="by_turn")
    lead, child = "SCENARIO:lead", "SCENARIO:child"
    with serve(plan) as server:
        asked = [(lead, 0), (child, 0), (child, 0), (lead, 1), (child, 1), (child, 1)]
        bodies = [asking(text, turns=turns) for text, turns in asked]
        assert texts(server, *bodies) == ["first", "one", "one", "second", "two", "two"]
