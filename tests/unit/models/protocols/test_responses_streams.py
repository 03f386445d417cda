"""What the Responses wire makes of a stream, of the odd ones too."""

from __future__ import annotations

import json
from typing import Any

import pytest

from detent.models.assemble import Assembler
from detent.models.protocols.openai_responses import OpenAIResponses
from detent.types.content import Call, Opaque, Text, Thinking
from detent.types.deltas import CallReady, Counted
from detent.types.errors import ModelFailure
from detent.types.events import TextDelta
from detent.types.messages import Reply
from detent.types.usage import Usage

Event = dict[str, Any]


def event(kind: str, **fields: Any) -> Event:
    return {"type": f"response.{kind}", **fields}


def fed(*events: Event, wire: OpenAIResponses | None = None) -> Assembler:
    one, wire = Assembler(), wire or OpenAIResponses()
    for each in events:
        wire.read(json.dumps(each).encode(), one)
    wire.finish(one)
    return one


def reply(*events: Event) -> Reply:
    return fed(*events).reply("m")


def done(**response: Any) -> Event:
    return event("completed", response={"id": "resp_1", "status": "completed", **response})


def text(delta: str, **fields: Any) -> Event:
    place = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    return event("output_text.delta", delta=delta, **{**place, **fields})


def call_item(arguments: str = "", **fields: Any) -> Event:
    item = {"type": "function_call", "id": "fc_1", "call_id": "call_a", "name": "Read"}
    return {**item, "arguments": arguments, **fields}


def added(item: Event, index: int = 0) -> Event:
    return event("output_item.added", output_index=index, item=item)


def ended(item: Event, index: int = 0) -> Event:
    return event("output_item.done", output_index=index, item=item)


def arguments(delta: str, index: int = 0, item_id: str = "fc_1") -> Event:
    kind = "function_call_arguments.delta"
    return event(kind, item_id=item_id, output_index=index, delta=delta)


def arguments_done(whole: str, index: int = 0, item_id: str = "fc_1") -> Event:
    kind = "function_call_arguments.done"
    return event(kind, item_id=item_id, output_index=index, arguments=whole)


def message(*texts: str, **fields: Any) -> Event:
    content = [{"type": "output_text", "text": each, "annotations": []} for each in texts]
    return {"type": "message", "id": "msg_1", "role": "assistant", "content": content, **fields}


def summary(delta: str, part: int = 0, kind: str = "delta") -> Event:
    field = {"delta": delta} if kind == "delta" else {"text": delta}
    place = {"item_id": "rs_1", "output_index": 0, "summary_index": part}
    return event(f"reasoning_summary_text.{kind}", **place, **field)


def reasoning(*texts: str, sealed: str | None = "sealed") -> Event:
    parts = [{"type": "summary_text", "text": each} for each in texts]
    item: Event = {"type": "reasoning", "id": "rs_1", "summary": parts}
    return {**item, "encrypted_content": sealed} if sealed else item


def test_a_whole_stream_in_the_order_of_the_books() -> None:
    read = [call_item('{"a":1}'), call_item("{}", id="fc_2", call_id="call_b", name="Bash")]
    answer = reply(
        event("created", response={"id": "resp_1", "status": "in_progress"}),
        event("in_progress", response={"id": "resp_1"}),
        added(reasoning(sealed=None)),
        event("reasoning_summary_part.added", output_index=0, summary_index=0),
        summary("hm"),
        summary("m"),
        summary("hmm", kind="done"),
        ended(reasoning("hmm")),
        added(message(), 1),
        event("content_part.added", output_index=1, part={"type": "output_text", "text": ""}),
        text("I ", output_index=1),
        text("will.", output_index=1),
        event("output_text.done", item_id="msg_1", output_index=1, content_index=0, text="I will."),
        event("content_part.done", output_index=1, part={"type": "output_text", "text": "I will."}),
        ended(message("I will."), 1),
        added(call_item(), 2),
        added(call_item(id="fc_2", call_id="call_b", name="Bash"), 3),
        arguments('{"a"', 2),
        arguments("{}", 3, "fc_2"),
        arguments(":1}", 2),
        arguments_done('{"a":1}', 2),
        ended(read[0], 2),
        arguments_done("{}", 3, "fc_2"),
        ended(read[1], 3),
        done(
            output=[reasoning("hmm"), message("I will."), *read],
            usage={
                "input_tokens": 100,
                "input_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 30},
                "output_tokens": 9,
                "output_tokens_details": {"reasoning_tokens": 4},
            },
        ),
    )
    thinking, *rest = answer.content
    assert isinstance(thinking, Thinking)
    assert thinking.text == "hmm"
    assert json.loads(thinking.signature) == reasoning("hmm")
    assert rest == [
        Text("I will."),
        Call("call_a", "Read", '{"a":1}'),
        Call("call_b", "Bash", "{}"),
    ]
    assert answer.stop == "tool_use"
    assert answer.usage == Usage(10, 9, 60, 30, reasoning=4)
    assert answer.message_id == "resp_1"


def test_a_call_is_ready_before_the_answer_is() -> None:
    one, wire = Assembler(), OpenAIResponses()
    for each in (added(call_item()), arguments("{}"), arguments_done("{}")):
        assert not [d for d in one.drain() if isinstance(d, CallReady)]
        wire.read(json.dumps(each).encode(), one)
    (ready,) = [d for d in one.drain() if isinstance(d, CallReady)]
    assert ready.call == Call("call_a", "Read", "{}")
    wire.read(json.dumps(ended(call_item("{}"))).encode(), one)
    assert not one.drain(), "and it is ready once"


# Whole or in pieces


@pytest.mark.parametrize(
    "events",
    [
        (text("hello"),),
        (event("output_text.done", output_index=0, text="hello"),),
        (ended(message("hello")),),
        (text("hel"), text("lo"), event("output_text.done", output_index=0, text="hello")),
        (text("hello"), ended(message("hello"))),
        (text("hello"), ended(message("hello")), ended(message("hello"))),
        (event("output_text.done", output_index=0, text="hello"), ended(message("hello"))),
        (event("refusal.delta", output_index=0, delta="hello"),),
        (event("refusal.done", output_index=0, refusal="hello"),),
        (event("refusal.delta", delta="hello"), event("refusal.done", refusal="hello")),
        (ended({"type": "message", "content": [{"type": "refusal", "refusal": "hello"}]}),),
    ],
)
def test_a_text_is_there_once_however_it_comes(events: tuple[Event, ...]) -> None:
    for output in ([], [message("hello")]):
        one = fed(*events, done(output=output))
        assert one.reply("m").content == (Text("hello"),)
        assert "".join(d.text for d in one.drain() if isinstance(d, TextDelta)) == "hello"


@pytest.mark.parametrize(
    "events",
    [
        (added(call_item()), arguments('{"a":'), arguments("1}"), ended(call_item('{"a":1}'))),
        (added(call_item()), arguments_done('{"a":1}'), ended(call_item('{"a":1}'))),
        (added(call_item()), ended(call_item('{"a":1}'))),
        (ended(call_item('{"a":1}')),),
        (arguments('{"a":1}'), added(call_item()), ended(call_item('{"a":1}'))),
        (arguments('{"a":1}'), arguments_done('{"a":1}'), ended(call_item('{"a":1}'))),
        (arguments_done('{"a":1}'), ended(call_item())),
        ({**arguments('{"a":1}'), "item_id": None}, added(call_item()), ended(call_item())),
        (added(call_item()), arguments_done(""), ended(call_item('{"a":1}'))),
        (added(call_item()), arguments_done('{"a":1}'), arguments("late"), ended(call_item())),
        (added(call_item()), arguments('{"a":1}')),
        (added(call_item()), added(call_item()), ended(call_item('{"a":1}'))),
        (added(call_item()), {**arguments('{"a":1}'), "output_index": None, "item_id": None}),
        (),
    ],
)
def test_arguments_are_there_once_however_they_come(events: tuple[Event, ...]) -> None:
    one = fed(*events, done(output=[] if events else [call_item('{"a":1}')]))
    assert one.reply("m").content == (Call("call_a", "Read", '{"a":1}'),)
    assert len([d for d in one.drain() if isinstance(d, CallReady)]) == 1
    assert one.reply("m").stop == "tool_use"


def test_arguments_may_be_an_object() -> None:
    item = call_item()
    item["arguments"] = {"a": 1}
    assert json.loads(reply(ended(item), done()).calls[0].arguments) == {"a": 1}


def test_a_call_without_arguments() -> None:
    item = call_item()
    item["arguments"] = None
    assert reply(added(item), ended(item), done()).calls == (Call("call_a", "Read", ""),)


def test_a_call_without_any_id_gets_one() -> None:
    bare = {"type": "function_call", "name": "Read", "arguments": "{}"}
    assert reply(ended(bare), done()).calls == (Call("call_0", "Read", "{}"),)
    assert reply(ended({**bare, "id": "fc_9"}), done()).calls[0].id == "fc_9"


@pytest.mark.parametrize(
    "events",
    [
        (summary("one"), summary("two", 1)),
        (summary("on"), summary("e"), summary("t", 1), summary("wo", 1)),
        (summary("one", kind="done"), summary("two", 1, kind="done")),
        (summary("one"), summary("one", kind="done"), summary("two", 1, kind="done")),
        (),
    ],
)
def test_the_parts_of_a_summary_are_paragraphs(events: tuple[Event, ...]) -> None:
    answer = reply(*events, ended(reasoning("one", "two")), text("so", output_index=1), done())
    thinking = answer.content[0]
    assert isinstance(thinking, Thinking)
    assert thinking.text == "one\n\ntwo"
    assert json.loads(thinking.signature) == reasoning("one", "two")


def test_reasoning_that_is_shown_as_it_is() -> None:
    def piece(delta: str) -> Event:
        return event("reasoning_text.delta", output_index=0, content_index=0, delta=delta)

    item = {"type": "reasoning", "content": [{"type": "reasoning_text", "text": "abc"}]}
    finish = (text("so", output_index=1), done())
    whole = event("reasoning_text.done", output_index=0, content_index=0, text="abc")
    for events in ((piece("a"), piece("bc"), whole), (whole,), ()):
        answer = reply(*events, ended({**item, "summary": []}), *finish)
        assert answer.content == (Thinking("abc"), Text("so")), "no seal, no signature"


def test_reasoning_without_a_word_is_kept_for_its_seal_only() -> None:
    answer = reply(added(reasoning()), ended(reasoning()), text("so", output_index=1), done())
    assert isinstance(answer.content[0], Thinking)
    assert answer.content[0].text == ""
    assert json.loads(answer.content[0].signature) == reasoning()
    empty = reasoning(sealed=None)
    answer = reply(added(empty), ended(empty), text("so", output_index=1), done())
    assert answer.content == (Text("so"),)


def test_a_reasoning_item_that_ends_twice_is_signed_once() -> None:
    answer = reply(ended(reasoning("x")), ended(reasoning("x")), text("so", output_index=1), done())
    assert isinstance(answer.content[0], Thinking)
    assert json.loads(answer.content[0].signature) == reasoning("x")


def test_items_of_other_kinds_are_kept_as_they_came() -> None:
    search = {"type": "web_search_call", "id": "ws_1", "status": "completed", "content": "odd"}
    answer = reply(
        added({**search, "status": "in_progress"}),
        event("web_search_call.searching", output_index=0, item_id="ws_1"),
        ended(search),
        ended(search),
        text("found", output_index=1),
        done(),
    )
    kept, said = answer.content
    assert isinstance(kept, Opaque)
    assert json.loads(kept.data) == search
    assert said == Text("found")


def test_a_message_of_several_parts() -> None:
    answer = reply(text("a"), text("b", content_index=1), ended(message("a", "b")), done())
    assert answer.content == (Text("a"), Text("b"))
    assert reply(ended(message("a", "", "b")), done()).content == (Text("a"), Text("b"))


# Which events belong together


def two_calls() -> list[Event]:
    """Two calls whose pieces alternate; only the pieces tell the arguments."""
    first, second = call_item(), call_item(id="fc_2", call_id="call_b", name="Bash")
    return [
        added(first, 0),
        added(second, 1),
        arguments('{"a"', 0),
        arguments('{"b"', 1, "fc_2"),
        arguments(":1}", 0),
        arguments(":2}", 1, "fc_2"),
        ended(first, 0),
        ended(second, 1),
    ]


def without(events: list[Event], *names: str) -> list[Event]:
    """The same events, but for some fields, also of their items."""
    kept = []
    for each in events:
        fields = {key: value for key, value in each.items() if key not in names}
        if "item" in fields and "item_id" in names:
            fields["item"] = {k: v for k, v in fields["item"].items() if k != "id"}
        kept.append(fields)
    return kept


def renamed(events: list[Event]) -> list[Event]:
    """Every event has another item id."""
    return [
        {**each, "item_id": f"x{n}"}
        | ({"item": {**each["item"], "id": f"y{n}"}} if "item" in each else {})
        for n, each in enumerate(events)
    ]


@pytest.mark.parametrize(
    "events",
    [
        two_calls(),
        without(two_calls(), "output_index"),
        without(two_calls(), "item_id"),
        renamed(two_calls()),
        [{**each, "output_index": 0} for each in two_calls()],
        [
            {k: v for k, v in each.items() if k != "output_index" or "item" in each}
            for each in two_calls()
        ],
        without(two_calls()[::2] + two_calls()[1::2], "item_id", "output_index"),
    ],
    ids=["plain", "no index", "no id", "new ids", "all zero", "index on items", "neither"],
)
def test_events_find_their_item(events: list[Event]) -> None:
    answer = reply(*events, done())
    assert answer.calls == (Call("call_a", "Read", '{"a":1}'), Call("call_b", "Bash", '{"b":2}'))


def test_one_id_for_everything_does_not_matter_where_there_is_an_index() -> None:
    events = [{**each, "item_id": "same"} for each in two_calls()]
    for each in events:
        if "item" in each:
            each["item"] = {**each["item"], "id": "same"}
    assert [one.arguments for one in reply(*events, done()).calls] == ['{"a":1}', '{"b":2}']


def test_what_is_known_of_one_answer_does_not_leak_into_the_next() -> None:
    wire = OpenAIResponses()
    first = fed(added(call_item()), arguments("{}"), ended(call_item("{}")), done(), wire=wire)
    assert first.reply("m").stop == "tool_use"
    second = fed(done(output=[message("hello")]), wire=wire).reply("m")
    assert (second.content, second.stop) == ((Text("hello"),), "end_turn")


# Ends


@pytest.mark.parametrize(
    ("kind", "response", "stop"),
    [
        ("completed", {"status": "completed"}, "end_turn"),
        ("done", {"status": "completed"}, "end_turn"),
        ("completed", {}, "end_turn"),
        ("incomplete", {"incomplete_details": {"reason": "max_output_tokens"}}, "max_tokens"),
        ("incomplete", {"incomplete_details": {"reason": "content_filter"}}, "refusal"),
        ("incomplete", {"incomplete_details": {"reason": "novel"}}, "max_tokens"),
        ("incomplete", {"incomplete_details": None}, "max_tokens"),
        (
            "completed",
            {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}},
            "refusal",
        ),
    ],
)
def test_stop_reasons(kind: str, response: Event, stop: str) -> None:
    assert reply(text("a"), event(kind, response=response)).stop == stop


def test_a_final_event_may_have_lost_its_response() -> None:
    assert reply(text("a"), event("completed")).content == (Text("a"),)


def test_without_a_final_event_the_answer_is_not_whole() -> None:
    with pytest.raises(ModelFailure) as caught:
        reply(text("a"), ended(message("a")))
    assert caught.value.kind == "network"


@pytest.mark.parametrize("usage", [None, {}, {"input_tokens": None}])
def test_usage_may_say_nothing(usage: Any) -> None:
    assert reply(text("a"), done(usage=usage)).usage == Usage()


def test_what_a_failed_response_cost_is_known() -> None:
    one, wire = Assembler(), OpenAIResponses()
    failed = event("failed", response={"usage": {"input_tokens": 5}, "error": {"message": "x"}})
    with pytest.raises(ModelFailure):
        wire.read(json.dumps(failed).encode(), one)
    assert one.drain() == [Counted(Usage(5))]


FAILURES = [
    ({"code": "rate_limit_exceeded", "message": "slower"}, "rate_limit"),
    ({"code": "server_error", "message": "sorry"}, "server"),
    ({"code": "server_is_overloaded", "message": "busy"}, "overloaded"),
    ({"code": "context_length_exceeded", "message": "too much"}, "prompt_too_long"),
    ({"code": "insufficient_quota", "message": "pay"}, "invalid_request"),
    ({"code": "invalid_prompt", "message": "no"}, "invalid_request"),
    ({"type": "invalid_request_error", "message": "exceeds the context window"}, "prompt_too_long"),
    ({"code": None, "type": "invalid_request_error", "message": "no"}, "invalid_request"),
    ({"code": "invalid_image_format", "message": "what is it?"}, "bad_content"),
    ({"code": "invalid_api_key", "message": "who?"}, "auth"),
    ({"code": "model_not_found", "message": "which?"}, "not_found"),
    ({"code": "vector_store_timeout", "message": "late"}, "timeout"),
    ({"code": 429, "message": "slower"}, "rate_limit"),
    ({"code": "503", "message": "busy"}, "server"),
    ({"code": "novel", "message": "overloaded"}, "overloaded"),
    ({"code": "novel", "message": "who knows"}, "server"),
    ({"code": "²", "message": "digits"}, "server"),
    ({"message": "only words"}, "server"),
    ("only words", "server"),
    ({"code": "only_a_code"}, "server"),
]


@pytest.mark.parametrize(("error", "kind"), FAILURES)
@pytest.mark.parametrize("shape", ["failed", "event", "nested"])
def test_an_error_has_a_kind(error: Any, kind: str, shape: str) -> None:
    fields = error if isinstance(error, dict) else {"message": error}
    made: dict[str, Event] = {
        "failed": event("failed", response={"status": "failed", "error": error}),
        "event": {"type": "error", "sequence_number": 3, **fields},
        "nested": {"type": "error", "error": error},
    }
    words = fields.get("message") or fields["code"]
    if shape == "event" and fields.get("type"):
        return  # the type of the event is in its place
    with pytest.raises(ModelFailure, match=words) as caught:
        fed(text("a"), made[shape])
    assert caught.value.kind == kind


@pytest.mark.parametrize(
    ("kind", "response"),
    [
        ("failed", {}),
        ("failed", {"error": None}),
        ("done", {"status": "failed"}),
        ("completed", {"status": "cancelled"}),
    ],
)
def test_a_failure_that_tells_nothing(kind: str, response: Event) -> None:
    with pytest.raises(ModelFailure, match="the response has") as caught:
        fed(text("a"), event(kind, response=response))
    assert caught.value.kind == "server"


# Rubbish


@pytest.mark.parametrize(
    "odd",
    [
        {},
        {"type": "ping"},
        event("thunder", delta={"a": 1}, item=7, response="x"),
        event("output_item.added"),
        event("output_item.done", item={}),
        event("output_item.added", item={"type": "message", "content": None}),
        event("output_text.annotation.added", annotation={}),
        event("output_text.delta", delta=None),
        event("created"),
        event("created", response={"id": None}),
        event("queued", response={}),
    ],
)
def test_what_is_unknown_or_empty_is_passed_over(odd: Event) -> None:
    assert reply(odd, text("a"), odd, done()).content == (Text("a"),)


def test_the_end_mark_of_another_protocol_is_passed_over() -> None:
    one, wire = Assembler(), OpenAIResponses()
    for data in (json.dumps(text("a")), json.dumps(done()), "[DONE]"):
        wire.read(data.encode(), one)
    assert one.reply("m").content == (Text("a"),)


@pytest.mark.parametrize(
    "data",
    [
        b"{",
        b"[]",
        b'{"type":7}',
        b"\xff",
        b'{"type":"\xff"}',
        b'{"type":"response.output_text.delta","delta":7}',
        b'{"type":"response.output_text.delta","delta":"\xff"}',
        b'{"type":"response.output_item.done","item":{"type":"novel","x":"\xff"}}',
        b'{"type":"response.output_item.done","item":[]}',
        b'{"type":"response.completed","response":{"output":7}}',
        b'{"type":"x","y":' + b"[" * 100_000,
    ],
)
def test_an_unreadable_event_is_an_invalid_response(data: bytes) -> None:
    with pytest.raises(ModelFailure) as caught:
        OpenAIResponses().read(data, Assembler())
    assert caught.value.kind == "invalid_response"
