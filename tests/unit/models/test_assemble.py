"""Pieces of a wire become deltas and one whole reply."""

from __future__ import annotations

import pytest

from detent.models.assemble import Assembler
from detent.models.protocols.anthropic_messages import AnthropicMessages
from detent.models.protocols.openai_chat import MOST_PROBED, OpenAIChat
from detent.models.sse import MOST_PENDING, EventSplitter, event_data
from detent.types.content import Call, Redacted, Text, Thinking
from detent.types.errors import ModelFailure
from detent.types.events import CallDelta, CallReady, TextDelta, ThinkingDelta
from detent.types.usage import Usage


def test_pieces_that_arrive_together_leave_together() -> None:
    one = Assembler()
    for piece in "abc":
        one.piece(0, "text", piece)
    one.piece(1, "thinking", "hm")
    one.piece(0, "text", "d")
    assert one.drain() == [TextDelta(0, "abc"), ThinkingDelta(1, "hm"), TextDelta(0, "d")]
    assert one.drain() == []
    one.end()
    assert one.reply("m").content == (Text("abcd"), Thinking("hm"))


def test_a_call_is_named_before_its_arguments_come() -> None:
    one = Assembler()
    one.call("x", "id1", "Read")
    assert one.drain() == [CallDelta(0, "id1", "Read", "")]
    one.piece("x", "call", "{}")
    one.close("x")
    one.close("x")
    assert one.drain() == [
        CallDelta(0, "id1", "Read", "{}"),
        CallReady(0, Call("id1", "Read", "{}")),
    ]
    one.end()
    assert one.drain() == [], "ready only once"


def test_a_missing_id_is_made_up() -> None:
    one = Assembler()
    one.call("x", "", "Read")
    one.call("y", "", "Read")
    one.end()
    assert [call.id for call in one.reply("m").calls] == ["call_0", "call_1"]


def test_what_is_sealed_is_kept_and_not_shown() -> None:
    one = Assembler()
    one.redacted(0, "xyz")
    one.piece(1, "text", "a")
    one.sign(7, "nobody there")
    assert one.drain() == [TextDelta(1, "a")]
    one.end()
    assert one.reply("m").content == (Redacted("xyz"), Text("a"))


def test_the_reply_names_the_model_we_asked() -> None:
    one = Assembler()
    one.piece(0, "text", "a")
    one.usage(Usage(1, 2))
    one.stop("stop_sequence")
    one.end()
    assert one.reply("asked").model == "asked"
    one.message_id = "msg_1"
    reply = one.reply("asked")
    assert (reply.model, reply.message_id, reply.stop, reply.usage) == (
        "asked",
        "msg_1",
        "stop_sequence",
        Usage(1, 2),
    )


def test_an_answer_that_is_not_whole_is_none() -> None:
    one = Assembler()
    one.piece(0, "text", "a")
    with pytest.raises(ModelFailure) as caught:
        one.reply("m")
    assert caught.value.kind == "network"


@pytest.mark.parametrize(("stop", "kind"), [("", "empty"), ("tool_use", "named none")])
def test_an_empty_answer_is_none(stop: str, kind: str) -> None:
    one = Assembler()
    one.piece(0, "thinking", "only thought")
    one.piece(1, "text", " \n")
    one.stop(stop)
    one.end()
    with pytest.raises(ModelFailure, match=kind) as caught:
        one.reply("m")
    assert caught.value.kind == "invalid_response"


def test_text_with_a_stop_for_tools_and_no_tool_is_none() -> None:
    one = Assembler()
    one.piece(0, "text", "I will now call")
    one.stop("tool_use")
    one.end()
    with pytest.raises(ModelFailure, match="named none"):
        one.reply("m")


# Events


def test_events_are_cut_at_blank_lines() -> None:
    one = EventSplitter()
    assert one.feed(b"data: a\n\ndata: b\n") == [b"a"]
    assert one.feed(b"\n: ping\n\nevent: x\ndata:c\ndata: d\n\n") == [b"b", b"c\nd"]
    assert one.finish() == []


def test_an_event_without_its_blank_line_is_read_at_the_end() -> None:
    for ending in (b"", b"\n", b"\r\n", b"\r"):
        one = EventSplitter()
        assert one.feed(b"data: a" + ending) == []
        assert one.finish() == [b"a"]
        assert one.finish() == []


def test_only_one_space_is_taken_off() -> None:
    assert event_data(b"data:  a ") == b" a "
    assert event_data(b"data:") == b""
    assert event_data(b"id: 1\nretry: 5\n: c") == b""


def test_an_endless_event_is_an_invalid_response() -> None:
    one = EventSplitter()
    half = b"x" * (MOST_PENDING // 2 + 1)
    assert one.feed(half) == []
    with pytest.raises(ModelFailure) as caught:
        one.feed(half)
    assert caught.value.kind == "invalid_response"


# Odd events


def chat(*chunks: bytes) -> Assembler:
    one, wire = Assembler(), OpenAIChat()
    for chunk in chunks:
        wire.read(chunk, one)
    wire.finish(one)
    return one


def test_an_error_that_is_null_is_no_error() -> None:
    one = chat(b'{"error":null,"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}')
    assert one.reply("m").content == (Text("a"),)


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        (b'"plain words"', "server", "plain words"),
        (b'{"message":"rate me","code":429}', "server", "rate me"),
        (b'{"type":"overloaded_error"}', "overloaded", "overloaded_error"),
        (b'{"code":"context_length_exceeded","message":"too much"}', "prompt_too_long", "too much"),
    ],
)
def test_an_error_object_inside_a_chat_stream(error: bytes, kind: str, words: str) -> None:
    with pytest.raises(ModelFailure, match=words) as caught:
        chat(b'{"error":%b}' % error)
    assert caught.value.kind == kind


@pytest.mark.parametrize("data", [b"{", b"[]", b'{"choices":7}', b'{"choices":[{"delta":3}]}'])
def test_an_unreadable_chat_event_is_an_invalid_response(data: bytes) -> None:
    with pytest.raises(ModelFailure) as caught:
        chat(data)
    assert caught.value.kind == "invalid_response"


@pytest.mark.parametrize(
    ("finish", "stop"),
    [
        ("stop", "end_turn"),
        ("length", "max_tokens"),
        ("content_filter", "refusal"),
        ("novel", "novel"),
    ],
)
def test_finish_reasons_are_translated(finish: str, stop: str) -> None:
    chunk = f'{{"choices":[{{"delta":{{"content":"a"}},"finish_reason":"{finish}"}}]}}'
    assert chat(chunk.encode()).reply("m").stop == stop


def test_a_refusal_is_text() -> None:
    one = chat(b'{"choices":[{"delta":{"refusal":"no"},"finish_reason":"stop"}]}')
    assert one.reply("m").content == (Text("no"),)


def test_usage_comes_in_a_chunk_without_choices() -> None:
    one = chat(
        b'{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}',
        b'{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":2,'
        b'"prompt_tokens_details":{"cached_tokens":4}}}',
        b"[DONE]",
    )
    assert one.reply("m").usage == Usage(6, 2, 4)


@pytest.mark.parametrize("usage", [b"null", b"{}", b'{"prompt_tokens":null}'])
def test_usage_may_say_nothing(usage: bytes) -> None:
    one = chat(b'{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}],"usage":%b}' % usage)
    assert one.reply("m").usage == Usage()


def test_without_a_finish_reason_a_chat_answer_is_not_whole() -> None:
    with pytest.raises(ModelFailure) as caught:
        chat(b'{"choices":[{"delta":{"content":"a"}}]}').reply("m")
    assert caught.value.kind == "network"


def test_a_server_that_repeats_id_and_name_in_every_piece() -> None:
    def piece(arguments: str) -> bytes:
        call = f'{{"index":0,"id":"a","function":{{"name":"T","arguments":"{arguments}"}}}}'
        return f'{{"choices":[{{"delta":{{"tool_calls":[{call}]}}}}]}}'.encode()

    one = chat(piece("{"), piece("}"), b'{"choices":[{"finish_reason":"tool_calls"}]}')
    assert one.reply("m").calls == (Call("a", "T", "{}"),)


def test_pieces_of_calls_with_ids_may_alternate_without_an_index() -> None:
    def piece(call_id: str, arguments: str) -> bytes:
        call = f'{{"id":"{call_id}","function":{{"arguments":"{arguments}"}}}}'
        return f'{{"choices":[{{"delta":{{"tool_calls":[{call}]}}}}]}}'.encode()

    one = chat(
        *(piece("a", "{"), piece("b", "{"), piece("a", "}"), piece("b", "}")),
        b'{"choices":[{"finish_reason":"tool_calls"}]}',
    )
    assert [(call.id, call.arguments) for call in one.reply("m").calls] == [
        ("a", "{}"),
        ("b", "{}"),
    ]


def test_a_brace_inside_a_text_does_not_end_a_call() -> None:
    def piece(arguments: str) -> bytes:
        import json

        call = {"index": 0, "function": {"name": "T", "arguments": arguments}}
        return json.dumps({"choices": [{"delta": {"tool_calls": [call]}}]}).encode()

    one, wire = Assembler(), OpenAIChat()
    for text in ('{"a":"}', "}", '"'):
        wire.read(piece(text), one)
    assert not [delta for delta in one.drain() if isinstance(delta, CallReady)]
    wire.read(piece("}"), one)
    (ready,) = [delta for delta in one.drain() if isinstance(delta, CallReady)]
    assert ready.call.arguments == '{"a":"}}"}'


def test_very_long_arguments_wait_for_the_end() -> None:
    import json

    arguments = json.dumps({"text": "x" * MOST_PROBED})
    call = {"index": 0, "id": "a", "function": {"name": "T", "arguments": arguments}}
    one, wire = Assembler(), OpenAIChat()
    wire.read(json.dumps({"choices": [{"delta": {"tool_calls": [call]}}]}).encode(), one)
    assert not [delta for delta in one.drain() if isinstance(delta, CallReady)]
    wire.read(b'{"choices":[{"finish_reason":"tool_calls"}]}', one)
    assert [delta for delta in one.drain() if isinstance(delta, CallReady)]


def anthropic(*events: bytes) -> Assembler:
    one, wire = Assembler(), AnthropicMessages()
    for event in events:
        wire.read(event, one)
    wire.finish(one)
    return one


TEXT = b'{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"a"}}'


def test_unknown_events_blocks_and_deltas_are_passed_over() -> None:
    one = anthropic(
        b'{"type":"message_start","message":{"id":"msg_1","model":"m2"}}',
        b'{"type":"thunder","index":0}',
        TEXT,
        b'{"type":"content_block_delta","index":0,"delta":{"type":"citations_delta"}}',
        b'{"type":"content_block_start","index":1,"content_block":{"type":"server_tool_use"}}',
        b'{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{}"}}',
        b'{"type":"content_block_stop","index":1}',
        b'{"type":"message_delta","delta":{"stop_reason":"model_context_window_exceeded"}}',
        b'{"type":"message_stop"}',
    )
    reply = one.reply("m")
    assert reply.content == (Text("a"),)
    assert reply.stop == "model_context_window_exceeded"
    assert (reply.model, reply.message_id) == ("m", "msg_1")


def test_counts_are_cumulative_and_may_come_in_parts() -> None:
    one = anthropic(
        b'{"type":"message_start","message":{"usage":{"input_tokens":9,"output_tokens":1,'
        b'"cache_read_input_tokens":3,"cache_creation_input_tokens":4}}}',
        TEXT,
        b'{"type":"message_delta","usage":{"output_tokens":5}}',
        b'{"type":"message_delta","usage":{"output_tokens":8,"input_tokens":10}}',
        b'{"type":"message_stop"}',
    )
    assert one.reply("m").usage == Usage(10, 8, 3, 4)


def test_counts_do_not_leak_into_the_next_answer() -> None:
    wire = AnthropicMessages()
    for number in (9, None):
        one = Assembler()
        usage = b'{"usage":{"input_tokens":%d}}' % number if number else b"{}"
        wire.read(b'{"type":"message_start","message":%b}' % usage, one)
        wire.read(TEXT, one)
        wire.read(b'{"type":"message_stop"}', one)
        assert one.reply("m").usage == Usage(number or 0)


def test_a_whole_input_in_the_first_event_is_taken() -> None:
    one = anthropic(
        b'{"type":"content_block_start","index":0,"content_block":'
        b'{"type":"tool_use","id":"a","name":"T","input":{"x":1}}}',
        b'{"type":"message_stop"}',
    )
    assert one.reply("m").calls == (Call("a", "T", '{"x":1}'),)


@pytest.mark.parametrize(
    ("kind", "message", "wanted"),
    [
        ("overloaded_error", "x", "overloaded"),
        ("rate_limit_error", "x", "rate_limit"),
        ("api_error", "x", "server"),
        ("timeout_error", "x", "timeout"),
        ("authentication_error", "x", "auth"),
        ("not_found_error", "x", "not_found"),
        ("invalid_request_error", "x", "invalid_request"),
        ("invalid_request_error", "Prompt is too long", "prompt_too_long"),
        ("novel_error", "x", "server"),
    ],
)
def test_an_error_event_has_a_kind(kind: str, message: str, wanted: str) -> None:
    event = f'{{"type":"error","error":{{"type":"{kind}","message":"{message}"}}}}'
    with pytest.raises(ModelFailure, match=message) as caught:
        anthropic(event.encode())
    assert caught.value.kind == wanted


@pytest.mark.parametrize("data", [b"{", b"[]", b'{"type":7}', b'{"index":"x"}'])
def test_an_unreadable_event_is_an_invalid_response(data: bytes) -> None:
    with pytest.raises(ModelFailure) as caught:
        anthropic(data)
    assert caught.value.kind == "invalid_response"
