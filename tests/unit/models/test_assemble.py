"""Pieces of a wire become deltas and one whole reply."""

from __future__ import annotations

import json
from time import process_time
from typing import Any

import pytest

from detent.models.assemble import MOST_CONTENT, Assembler, OpenBlock
from detent.models.protocols.anthropic_messages import AnthropicMessages
from detent.models.protocols.openai_chat import OpenAIChat
from detent.models.protocols.wire import Manner
from detent.models.sse import MOST_PENDING, EventSplitter, event_data
from detent.types.content import Call, Opaque, Redacted, Text, Thinking
from detent.types.deltas import CallReady, Sealed
from detent.types.errors import ModelFailure
from detent.types.events import CallDelta, TextDelta, ThinkingDelta
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
    assert one.drain() == [Sealed(0, Redacted("xyz")), TextDelta(1, "a")]
    one.end()
    assert one.reply("m").content == (Redacted("xyz"), Text("a"))


def test_signed_thinking_is_told_whole_as_soon_as_it_is_signed() -> None:
    one = Assembler()
    one.piece(0, "thinking", "h")
    one.piece(0, "thinking", "m")
    assert one.drain() == [ThinkingDelta(0, "hm")]
    one.sign(0, "sig")
    assert one.drain() == [Sealed(0, Thinking("hm", "sig"))], "not every wire closes its blocks"
    one.piece(1, "thinking", "unsigned")
    one.drain()
    one.close(1)
    assert one.drain() == []


def test_what_is_signed_last_is_told_at_the_end() -> None:
    one = Assembler()
    one.piece(0, "thinking", "hm")
    one.drain()
    block = one.find(0)
    assert block is not None
    block.signature = "sig"
    one.end()
    assert one.drain() == [Sealed(0, Thinking("hm", "sig"))]


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


def test_an_answer_without_an_end_is_none() -> None:
    """Whatever a server sends, and however it cuts it: it must not fill our memory."""
    one = Assembler()
    half = "x" * (MOST_CONTENT // 2 - 1000)
    one.piece(0, "text", half)
    one.call(1, "", "Write")
    one.piece(1, "call", half)
    with pytest.raises(ModelFailure, match="does not end") as caught:
        one.opaque(2, half)
    assert caught.value.kind == "invalid_response"


def test_empty_pieces_have_an_end_too() -> None:
    one = Assembler()
    with pytest.raises(ModelFailure, match="does not end"):
        for _ in range(MOST_CONTENT):
            one.piece(0, "text", "")


def test_content_is_heard_shown_or_not() -> None:
    one = Assembler()
    assert not one.heard()
    one.usage(Usage(1, 2))
    one.message_id = "m"
    assert not one.heard(), "counts are no content"
    one.piece(0, "thinking", "hm")
    assert one.heard() and not one.heard()
    for content in (
        lambda: one.sign(0, "sig"),
        lambda: one.redacted(1, "x"),
        lambda: one.opaque(2, "{}"),
        lambda: one.call(3, "", "T"),
        lambda: one.piece(3, "call", ""),
        lambda: one.close(3),
        one.hear,
    ):
        content()
        assert one.heard()


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
        (b'{"message":"rate me","code":429}', "rate_limit", "rate me"),
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
        ("model_length", "max_tokens"),
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
        call = {"index": 0, "function": {"name": "T", "arguments": arguments}}
        return json.dumps({"choices": [{"delta": {"tool_calls": [call]}}]}).encode()

    one, wire = Assembler(), OpenAIChat()
    for text in ('{"a":"}', "}", '"'):
        wire.read(piece(text), one)
    assert not [delta for delta in one.drain() if isinstance(delta, CallReady)]
    wire.read(piece("}"), one)
    (ready,) = [delta for delta in one.drain() if isinstance(delta, CallReady)]
    assert ready.call.arguments == '{"a":"}}"}'


def test_a_call_with_many_braces_is_read_in_no_time() -> None:
    """Every `}` may be the last one; looking at all that came each time would take minutes."""
    wire, one = OpenAIChat(), Assembler()

    def piece(arguments: str) -> bytes:
        call = {"index": 0, "id": "a", "function": {"name": "T", "arguments": arguments}}
        return json.dumps({"choices": [{"delta": {"tool_calls": [call]}}]}).encode()

    wire.read(piece('{"x":"\\"'), one)
    brace = piece("}")
    begun = process_time()
    for _ in range(20_000):
        wire.read(brace, one)
    assert process_time() - begun < 2
    assert not [delta for delta in one.drain() if isinstance(delta, CallReady)]
    wire.read(piece('"}'), one)
    assert [delta for delta in one.drain() if isinstance(delta, CallReady)]


def test_a_piece_finds_its_call_by_its_id_alone() -> None:
    def piece(arguments: str, **of: Any) -> dict[str, Any]:
        return {"tool_calls": [{**of, "function": {"name": "T", "arguments": arguments}}]}

    found = deltas(
        piece('{"x":', index=0, id="a"), piece('{"y":', index=1, id="b"),
        piece("1}", id="a"), piece("2}", id="b"),
    ).reply("m").calls  # fmt: skip
    assert [(call.id, call.arguments) for call in found] == [("a", '{"x":1}'), ("b", '{"y":2}')]


def test_a_message_at_the_end_repeats_what_was_streamed() -> None:
    call = {"id": "a", "function": {"name": "T", "arguments": '{"x":1}'}}
    whole = {"content": "Hello", "reasoning": "hm", "tool_calls": [call]}

    def answer(*streamed: dict[str, Any]) -> tuple[Any, ...]:
        last = {"message": whole, "finish_reason": "tool_calls"}
        chunks = [*({"delta": delta} for delta in streamed), last]
        return chat(*(json.dumps({"choices": [one]}).encode() for one in chunks)).reply("m").content

    wanted = (Thinking("hm"), Text("Hello"), Call("a", "T", '{"x":1}'))
    assert answer() == wanted
    assert answer({"reasoning": "hm"}, {"content": "Hello"}, {"tool_calls": [call]}) == wanted
    assert answer({"reasoning": "hm"}, {"content": "Hel"}, {"content": "lo"}) == wanted


def anthropic(*events: bytes) -> Assembler:
    one, wire = Assembler(), AnthropicMessages()
    for event in events:
        wire.read(event, one)
    wire.finish(one)
    return one


TEXT = b'{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"a"}}'


def test_unknown_events_and_deltas_are_passed_over_and_unknown_blocks_kept() -> None:
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
    assert reply.content == (Text("a"), Opaque('{"type":"server_tool_use","input":{}}'))
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


@pytest.mark.parametrize(
    ("reason", "stop"),
    [("length", "max_tokens"), ("max_output_tokens", "max_tokens"), ("content_filter", "refusal")],
)
def test_words_of_other_wires_are_understood_here_too(reason: str, stop: str) -> None:
    cut = f'{{"type":"message_delta","delta":{{"stop_reason":"{reason}"}}}}'.encode()
    assert anthropic(TEXT, cut, b'{"type":"message_stop"}').reply("m").stop == stop


@pytest.mark.parametrize(
    ("ttl", "told", "hour"),
    [
        ("5m", b"", 0),
        ("1h", b"", 8),
        ("5m", b',"cache_creation":{"ephemeral_1h_input_tokens":3}', 3),
        ("1h", b',"cache_creation":{"ephemeral_5m_input_tokens":8}', 0),
        ("1h", b',"cache_creation":null', 8),
    ],
)
def test_what_is_kept_for_an_hour_is_counted(ttl: Any, told: bytes, hour: int) -> None:
    one, wire = Assembler(), AnthropicMessages(Manner(cache_ttl=ttl))
    usage = b'{"cache_creation_input_tokens":8%b}' % told
    wire.read(b'{"type":"message_start","message":{"usage":%b}}' % usage, one)
    wire.read(TEXT, one)
    wire.read(b'{"type":"message_delta","usage":{"output_tokens":1%b}}' % told, one)
    wire.read(b'{"type":"message_stop"}', one)
    assert one.reply("m").usage == Usage(0, 1, 0, 8, hour)


def test_counts_do_not_leak_into_the_next_answer() -> None:
    wire = AnthropicMessages()
    for number in (9, None):
        one = Assembler()
        usage = b'{"usage":{"input_tokens":%d}}' % number if number else b"{}"
        wire.read(b'{"type":"message_start","message":%b}' % usage, one)
        wire.read(TEXT, one)
        wire.read(b'{"type":"message_delta","usage":{"output_tokens":1}}', one)
        wire.read(b'{"type":"message_stop"}', one)
        assert one.reply("m").usage == Usage(number or 0, 1)


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
        ("invalid_request_error", "Could not process image", "bad_content"),
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


# What only its provider understands


def block(index: int, kind: str, *deltas: str, **fields: Any) -> list[bytes]:
    """The events of one block; a delta is the JSON of its fields."""
    body = {"type": kind, **fields}
    begin = {"type": "content_block_start", "index": index, "content_block": body}
    pieces = [
        f'{{"type":"content_block_delta","index":{index},"delta":{delta}}}' for delta in deltas
    ]
    end = f'{{"type":"content_block_stop","index":{index}}}'
    return [one.encode() for one in (json.dumps(begin), *pieces, end)]


def opaque(*events: bytes) -> Any:
    (found,) = [b for b in anthropic(*events, *END).reply("m").content if isinstance(b, Opaque)]
    return json.loads(found.data)


END = (
    b'{"type":"message_delta","delta":{"stop_reason":"pause_turn"}}',
    b'{"type":"message_stop"}',
)


def test_a_search_of_the_provider_is_kept_with_its_streamed_input() -> None:
    pieces = [
        json.dumps({"type": "input_json_delta", "partial_json": part})
        for part in ("", '{"query"', ': "ü"}')
    ]
    found = opaque(*block(0, "server_tool_use", *pieces, id="s", name="web_search", input={}))
    wanted = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "ü"}}
    assert found == wanted


def test_the_input_is_put_in_even_when_the_block_is_never_closed() -> None:
    *begun, _ = block(0, "mcp_tool_use", '{"type":"input_json_delta","partial_json":"{\\"a\\":1}"}')
    assert opaque(*begun)["input"] == {"a": 1}


def test_a_broken_input_does_not_break_the_block() -> None:
    delta = '{"type":"input_json_delta","partial_json":"{cut"}'
    assert opaque(*block(0, "server_tool_use", delta))["input"] == {"invalid_arguments": "{cut"}


def test_a_block_of_a_later_version_is_kept_to_the_byte() -> None:
    raw = '{"type": "hologram",  "text": {"deep": [1.50]}, "input": "x"}'
    begin = f'{{"type":"content_block_start","index":0,"content_block":{raw}}}'
    one = anthropic(begin.encode(), *END)
    assert one.reply("m").content == (Opaque(raw),)
    assert one.drain() == [Sealed(0, Opaque(raw))], "nothing of it is shown"


def test_pieces_of_an_opaque_block_add_to_the_fields_of_their_names() -> None:
    deltas = [f'{{"type":"compaction_delta","content":"{part}"}}' for part in ("so ", "far")]
    seal = '{"type":"compaction_delta","content":null,"encrypted_content":"x"}'
    found = opaque(*block(0, "compaction", *deltas, seal, content=None))
    assert found == {"type": "compaction", "content": "so far", "encrypted_content": "x"}


def test_a_block_without_a_body_is_passed_over() -> None:
    one = anthropic(b'{"type":"content_block_start","index":0,"content_block":null}', TEXT, *END)
    assert one.reply("m").content == (Text("a"),)


def test_nothing_of_a_broken_answer_gets_into_the_next() -> None:
    wire = AnthropicMessages()
    *begun, _ = block(0, "server_tool_use", '{"type":"input_json_delta","partial_json":"{"}')
    broken, one = Assembler(), Assembler()
    for event in begun:
        wire.read(event, broken)
    for event in (b'{"type":"message_start"}', *block(0, "server_tool_use"), *END):
        wire.read(event, one)
    assert one.reply("m").content == (Opaque('{"type": "server_tool_use"}'),)


# Chat servers' own state


def deltas(*deltas: dict[str, Any], finish: str = "stop") -> Assembler:
    chunks = [json.dumps({"choices": [{"delta": delta}]}).encode() for delta in deltas]
    return chat(*chunks, json.dumps({"choices": [{"finish_reason": finish}]}).encode())


def test_extra_content_of_a_call_is_kept() -> None:
    extra = {"google": {"thought_signature": "t"}}
    call = {"id": "a", "function": {"name": "T", "arguments": "{}"}, "extra_content": extra}
    (found,) = deltas({"tool_calls": [call]}).reply("m").calls
    assert json.loads(found.signature) == extra
    empty: tuple[Any, ...] = (None, [], "x", {})
    for nothing in empty:
        (found,) = deltas({"tool_calls": [{**call, "extra_content": nothing}]}).reply("m").calls
        assert found.signature == ""


def test_reasoning_details_are_collected_piece_by_piece() -> None:
    def piece(**fields: Any) -> dict[str, Any]:
        return {"reasoning_details": [{"type": "reasoning.text", "index": 0, **fields}]}

    sealed = {"type": "reasoning.encrypted", "data": "e"}
    reply = deltas(
        {"reasoning": "on", **piece(text="on", signature=None)},
        piece(text="e"),
        piece(signature="s"),
        {"reasoning_details": [sealed]},
        {"reasoning_details": [sealed]},
        {"content": "so"},
    ).reply("m")
    thinking, text = reply.content
    assert isinstance(thinking, Thinking)
    assert (thinking.text, text) == ("one", Text("so"))
    assert json.loads(thinking.signature) == [
        {"type": "reasoning.text", "index": 0, "text": "one", "signature": "s"},
        sealed,
        sealed,
    ]


def test_details_of_one_answer_are_not_those_of_the_next() -> None:
    wire = OpenAIChat()
    detail = b'{"choices":[{"delta":{"reasoning_details":[{"type":"reasoning.text","text":"a"}]}}]}'
    wire.read(detail, Assembler())
    one = Assembler()
    wire.read(
        b'{"choices":[{"delta":{"reasoning":"b","content":"c"},"finish_reason":"stop"}]}', one
    )
    wire.finish(one)
    assert one.reply("m").content == (Thinking("b"), Text("c"))


def test_letters_that_are_none_do_not_break_a_call() -> None:
    call = (
        b'{"id":"a","function":{"name":"T","arguments":{"a":"\xff"}},"extra_content":{"b":"\xff"}}'
    )
    one = chat(b'{"choices":[{"delta":{"tool_calls":[%b]},"finish_reason":"stop"}]}' % call)
    (found,) = one.reply("m").calls
    assert json.loads(found.arguments) == {"a": "\ufffd"}


def test_content_may_come_in_parts() -> None:
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
    reply = deltas({"content": [thought, {"type": "text", "text": "a"}]}).reply("m")
    assert reply.content == (Thinking("hm"), Text("a"))


def test_an_answer_may_come_as_a_message_and_its_usage_in_a_choice() -> None:
    one = chat(
        b'{"choices":[{"message":{"content":"a"},"finish_reason":"stop","usage":'
        b'{"prompt_tokens":9,"completion_tokens":1,"cached_tokens":4}}]}'
    )
    assert (one.reply("m").content, one.reply("m").usage) == ((Text("a"),), Usage(5, 1, 4))


@pytest.mark.parametrize(
    ("counts", "usage"),
    [
        (b'"prompt_cache_hit_tokens":4', Usage(6, 0, 4)),
        (b'"prompt_tokens_details":{"cached_tokens":4,"cache_write_tokens":5}', Usage(1, 0, 4, 5)),
        (b'"prompt_tokens_details":{"cache_creation_input_tokens":5}', Usage(5, 0, 0, 5)),
    ],
)
def test_servers_have_their_own_words_for_the_cache(counts: bytes, usage: Usage) -> None:
    text = b'{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]'
    one = chat(text + b',"usage":{"prompt_tokens":10,%b}}' % counts)
    assert one.reply("m").usage == usage


def test_a_signature_that_is_none_costs_nothing() -> None:
    """A wire may name one with every piece: joining all of them each time would be quadratic."""
    into = Assembler()
    joined = 0

    class Counted(OpenBlock):
        def finished(self) -> Any:
            nonlocal joined
            joined += 1
            return super().finished()

    into._blocks["t"] = Counted(0, "thinking")
    into._order.append(into._blocks["t"])
    for _ in range(100):
        into.piece("t", "thinking", "x")
        into.sign("t", "")
    into.piece("u", "text", "x")
    into.sign("u", "signed")
    assert joined == 0
