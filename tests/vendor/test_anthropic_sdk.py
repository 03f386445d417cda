"""Anthropic Messages, as the vendor's SDK reads it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from detent.testing import Foreign, Reply, Say, ServedScript, call, fault, reply, say, script, serve

anthropic = pytest.importorskip("anthropic")

ASK: dict[str, Any] = {
    "model": "claude-test",
    "max_tokens": 100,
    "messages": [{"role": "user", "content": "hi"}],
}


def client(server: ServedScript, retries: int = 0) -> Any:
    return anthropic.Anthropic(api_key="test", base_url=server.url, max_retries=retries)


def streamed(made: Reply) -> Any:
    """The message that the SDK gathers from the stream."""
    with (
        serve(made) as server,
        client(server) as sdk,
        sdk.messages.stream(**ASK) as stream,
    ):
        return stream.get_final_message()


def blocks(message: Any) -> list[dict[str, Any]]:
    return [block.model_dump(exclude_none=True) for block in message.content]


RICH_BLOCKS = [
    {"type": "thinking", "thinking": "let me see", "signature": "signed"},
    {"type": "redacted_thinking", "data": "sealed"},
    {"type": "text", "text": "Hello wörld 😀"},
    {"type": "tool_use", "id": "one", "name": "Bash", "input": {"command": "ls"}},
    {"type": "tool_use", "id": "two", "name": "Read", "input": {"path": "ü", "lines": [1, 2]}},
]


def test_a_rich_stream_is_gathered_as_scripted(rich: Reply) -> None:
    message = streamed(rich)
    assert blocks(message) == RICH_BLOCKS
    assert (message.stop_reason, message.model, message.role) == (
        "tool_use",
        "claude-test",
        "assistant",
    )
    usage = message.usage
    assert (usage.input_tokens, usage.output_tokens) == (100, 20)
    assert (usage.cache_read_input_tokens, usage.cache_creation_input_tokens) == (7, 3)


def test_the_same_without_a_stream(rich: Reply) -> None:
    with serve(rich) as server, client(server) as sdk:
        message = sdk.messages.create(**ASK)
    assert blocks(message) == RICH_BLOCKS
    assert message.usage.output_tokens == 20


def test_deltas_come_one_by_one() -> None:
    with (
        serve(reply(say("a", "b", "c"))) as server,
        client(server) as sdk,
        sdk.messages.stream(**ASK) as stream,
    ):
        assert list(stream.text_stream) == ["a", "b", "c"]


@pytest.mark.parametrize(
    "stop",
    ["end_turn", "max_tokens", "stop_sequence", "tool_use", "pause_turn", "refusal",
     "model_context_window_exceeded"],
)  # fmt: skip
def test_stop_reasons(stop: str) -> None:
    assert streamed(reply("x", stop=stop)).stop_reason == stop


def test_a_call_without_arguments_has_an_empty_input() -> None:
    assert blocks(streamed(reply(call("T", id="i")))) == [
        {"type": "tool_use", "id": "i", "name": "T", "input": {}}
    ]


def test_noise_is_passed_over() -> None:
    assert blocks(streamed(reply("x", quirks=["noise"]))) == [{"type": "text", "text": "x"}]


def test_blocks_of_the_server_arrive() -> None:
    own = {
        "type": "server_tool_use",
        "id": "srvtoolu_1",
        "name": "web_search",
        "input": {"query": "q"},
    }
    message = streamed(reply(Foreign(own), "found"))
    assert blocks(message)[0] == own


def test_citations_are_gathered() -> None:
    citation = {
        "type": "char_location",
        "cited_text": "x",
        "document_index": 0,
        "document_title": "d",
        "start_char_index": 0,
        "end_char_index": 1,
    }
    (block,) = blocks(streamed(reply(Say("x", citations=(citation,)))))
    assert block["text"] == "x"
    assert block["citations"] == [citation]


@pytest.mark.parametrize("edits", ["crlf", "cr", "comments", "data_lines", "gzip", "deflate"])
def test_legal_ways_to_write_a_stream(rich: Reply, edits: str) -> None:
    assert blocks(streamed(replace(rich, fault=fault(edits=edits)))) == RICH_BLOCKS


@pytest.mark.parametrize("framing", ["length", "close"])
def test_legal_ways_to_frame_a_stream(rich: Reply, framing: Any) -> None:
    assert blocks(streamed(replace(rich, fault=fault(framing=framing, split=3)))) == RICH_BLOCKS


@pytest.mark.parametrize(
    ("status", "error"),
    [(400, "BadRequestError"), (401, "AuthenticationError"), (404, "NotFoundError"),
     (429, "RateLimitError"), (500, "InternalServerError"), (529, "OverloadedError")],
)  # fmt: skip
def test_errors_are_known_by_their_class(status: int, error: str) -> None:
    with (
        serve(fault(status)) as server,
        client(server) as sdk,
        pytest.raises(anthropic.APIStatusError) as caught,
    ):
        sdk.messages.create(**ASK)
    assert (caught.value.status_code, type(caught.value).__name__) == (status, error)
    assert caught.value.body["error"]["message"]


def test_it_tries_again_when_overloaded() -> None:
    busy = fault(529, headers={"retry-after-ms": "1"})
    with (
        serve(script(busy, busy, "done")) as server,
        client(server, retries=2) as sdk,
        sdk.messages.stream(**ASK) as stream,
    ):
        assert stream.get_final_text() == "done"
        assert server.request_count == 3


def test_an_error_in_the_middle_of_a_stream() -> None:
    broken = reply(say("a", "b"), fault=fault(error_after=1))
    with pytest.raises(anthropic.APIStatusError, match="Overloaded"):
        streamed(broken)
