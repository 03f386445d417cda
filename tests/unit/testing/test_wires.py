"""What the Responses and Gemini wires say; pure functions, and the routes to them."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from detent.testing import (
    Foreign,
    RedactedThink,
    Reply,
    Say,
    anthropic_wire,
    call,
    chat_wire,
    fault,
    gemini_wire,
    reply,
    responses_wire,
    say,
    serve,
    think,
)

from .test_server import asking, events, fetch

RICH = reply(
    think("hm ", "ok", signature="sig"),
    RedactedThink("secret"),
    say("he", "llo ü"),
    call("Bash", {"command": "ls"}, pieces=['{"command":', ' "ls"}']),
    call("Read", {"path": "a"}, id="mine"),
    input=10,
    output=5,
    cache_read=7,
    cache_write=2,
    reasoning=3,
)


def frames(wire: Any, made: Reply) -> list[tuple[str, Any]]:
    return events(b"".join(event.data for event in wire.stream(made, {"model": "m"}, 1)))


def kinds(made: Reply) -> list[str]:
    return [name.removeprefix("response.") for name, _ in frames(responses_wire, made)]


# Responses.


def test_responses_events_come_in_the_documented_order() -> None:
    assert kinds(reply(think("a"), "b", call("T", x=1))) == [
        "created",
        "in_progress",
        "output_item.added",
        "reasoning_summary_part.added",
        "reasoning_summary_text.delta",
        "reasoning_summary_text.done",
        "reasoning_summary_part.done",
        "output_item.done",
        "output_item.added",
        "content_part.added",
        "output_text.delta",
        "output_text.done",
        "content_part.done",
        "output_item.done",
        "output_item.added",
        "function_call_arguments.delta",
        "function_call_arguments.done",
        "output_item.done",
        "completed",
    ]


def test_responses_items_ids_and_usage() -> None:
    found = frames(responses_wire, RICH)
    assert [data["sequence_number"] for _, data in found] == list(range(len(found)))
    assert all(name == data["type"] for name, data in found)
    items = [data["item"] for name, data in found if name == "response.output_item.done"]
    assert [(item["type"], item["id"]) for item in items] == [
        ("reasoning", "rs_1_0"),
        ("reasoning", "rs_1_1"),
        ("message", "msg_1_2"),
        ("function_call", "fc_1_3"),
        ("function_call", "fc_1_4"),
    ]
    assert items[0]["summary"] == [{"type": "summary_text", "text": "hm ok"}]
    assert [item["encrypted_content"] for item in items[:2]] == ["sig", "secret"]
    assert [item["call_id"] for item in items[3:]] == ["call_1_3", "mine"]
    final = found[-1][1]["response"]
    assert final["output"] == items
    assert final["usage"]["input_tokens"] == 19
    assert final["usage"]["input_tokens_details"]["cached_tokens"] == 7
    assert final["usage"]["output_tokens_details"] == {"reasoning_tokens": 3}
    added = [data["item"] for name, data in found if name == "response.output_item.added"]
    assert (added[2]["content"], added[3]["arguments"]) == ([], "")


@pytest.mark.parametrize(
    ("stop", "event", "field", "value"),
    [
        ("end_turn", "response.completed", "incomplete_details", None),
        (
            "max_tokens",
            "response.incomplete",
            "incomplete_details",
            {"reason": "max_output_tokens"},
        ),
        ("refusal", "response.incomplete", "incomplete_details", {"reason": "content_filter"}),
        ("odd", "response.incomplete", "incomplete_details", {"reason": "odd"}),
        (
            "failed",
            "response.failed",
            "error",
            {"code": "server_error", "message": "scripted failure"},
        ),
    ],
)
def test_responses_ends(stop: str, event: str, field: str, value: object) -> None:
    name, data = frames(responses_wire, reply("x", stop=stop))[-1]
    assert (name, data["response"][field]) == (event, value)


def test_responses_quirks() -> None:
    noisy = kinds(reply("x", quirks=["noise", "no_done"]))
    assert "event_from_the_future" in noisy
    assert noisy[-1] == "output_item.done"
    last = frames(responses_wire, reply("x", quirks=["no_usage"]))[-1][1]
    assert last["response"]["usage"] is None


# Gemini.


def parts(made: Reply) -> list[dict[str, Any]]:
    found = [data["candidates"][0] for _, data in frames(gemini_wire, made)]
    return [part for candidate in found for part in candidate["content"]["parts"]]


def test_gemini_parts_and_signatures() -> None:
    signed = {"thoughtSignature": base64.b64encode(b"sig").decode()}
    assert parts(reply(think("a", "b", signature="sig"), call("T", x=1), call("U"))) == [
        {"text": "a", "thought": True},
        {"text": "b", "thought": True},
        {"functionCall": {"id": "call_1_1", "name": "T", "args": {"x": 1}}, **signed},
        {"functionCall": {"id": "call_1_2", "name": "U", "args": {}}},
        {"text": ""},
    ]
    assert parts(reply(say("a", "b"), think("c", signature="sig")))[:3] == [
        {"text": "a"},
        {"text": "b"},
        {"text": "c", "thought": True, **signed},
    ]


def test_gemini_ids_may_be_missing_and_arguments_no_object() -> None:
    (part, _) = parts(reply(call("T", raw='{"x'), quirks=["missing_id"]))
    assert part == {"functionCall": {"name": "T", "args": '{"x'}}


def test_gemini_usage_is_whole_only_in_the_last_event() -> None:
    found = [data["usageMetadata"] for _, data in frames(gemini_wire, RICH)]
    assert found[0] == {
        "promptTokenCount": 19,
        "totalTokenCount": 19,
        "cachedContentTokenCount": 7,
    }
    assert found[-1]["candidatesTokenCount"] == 2
    assert found[-1]["thoughtsTokenCount"] == 3
    assert found[-1]["totalTokenCount"] == 24


@pytest.mark.parametrize(
    ("stop", "finish"),
    [
        ("tool_use", "STOP"),
        ("max_tokens", "MAX_TOKENS"),
        ("refusal", "SAFETY"),
        ("MALFORMED_FUNCTION_CALL", "MALFORMED_FUNCTION_CALL"),
    ],
)
def test_gemini_finish_reasons(stop: str, finish: str) -> None:
    _, data = frames(gemini_wire, reply("x", stop=stop))[-1]
    assert data["candidates"][0]["finishReason"] == finish


def test_gemini_can_block_the_prompt() -> None:
    ((_, data),) = frames(gemini_wire, reply("never said", stop="blocked"))
    assert data["promptFeedback"] == {"blockReason": "SAFETY"}
    assert "candidates" not in data


# All wires.


def test_a_foreign_block_is_sent_as_it_is() -> None:
    own = {"type": "web_search_call", "id": "ws_1", "status": "completed"}
    made = reply(Foreign(own))
    assert ("content_block_start", own) in [
        (name, data.get("content_block")) for name, data in frames(anthropic_wire, made)
    ]
    items = [data.get("item") for _, data in frames(responses_wire, made)]
    assert items.count(own) == 1
    assert parts(made)[0] == own
    assert own in [d["choices"][0]["delta"] for _, d in frames(chat_wire, made) if d != "[DONE]"]


def test_citations_and_stop_details() -> None:
    cited = Say("x", citations=({"type": "char_location"},))
    found = frames(anthropic_wire, reply(cited, stop="refusal", stop_details={"category": "c"}))
    deltas = [data["delta"] for name, data in found if name == "content_block_delta"]
    assert deltas[0] == {"type": "citations_delta", "citation": {"type": "char_location"}}
    assert found[-2][1]["delta"]["stop_details"] == {"category": "c"}


@pytest.mark.parametrize("wire", [anthropic_wire, chat_wire, responses_wire, gemini_wire])
def test_half_a_surrogate_pair_is_sent_as_an_escape(wire: Any) -> None:
    said = [event.data for event in wire.stream(reply(say("\ud83d", "\ude00")), {}, 1)]
    assert any(rb"\ud83d" in data for data in said)


PATHS = {
    "/v1/messages": '"text":"hello ü"',
    "/v1/chat/completions": '"content":"hello ü"',
    "/v1/responses": '"text":"hello ü"',
    "/v1beta/models/some-model:streamGenerateContent?alt=sse": '"text":"hello ü"',
}


@pytest.mark.parametrize("path", PATHS)
def test_every_wire_has_its_route(path: str) -> None:
    with serve(reply("hello ü")) as server:
        response, body = fetch(server, path, asking())
        (request,) = server.requests
    assert response.headers["content-type"].startswith("text/event-stream")
    assert PATHS[path] in body.decode()
    assert request.streams
    assert request.model == ("some-model" if "models/" in path else "m")


def test_gemini_without_a_stream() -> None:
    with serve(reply("hello", call("T", x=1))) as server:
        _, body = fetch(server, "/v1beta/models/some-model:generateContent", {})
    answer = json.loads(body)
    assert answer["modelVersion"] == "some-model"
    assert answer["candidates"][0]["finishReason"] == "STOP"
    assert answer["candidates"][0]["content"]["parts"][0] == {"text": "hello"}


def test_responses_without_a_stream() -> None:
    with serve(reply("hello", call("T", x=1))) as server:
        _, body = fetch(server, "/v1/responses", asking(stream=False))
    assert [item["type"] for item in json.loads(body)["output"]] == ["message", "function_call"]


def test_errors_in_the_shape_of_the_wire() -> None:
    with serve(fault(429)) as server:
        _, body = fetch(server, "/v1beta/models/m:streamGenerateContent?alt=sse", {})
    error = json.loads(body)["error"]
    assert (error["code"], error["status"]) == (429, "RESOURCE_EXHAUSTED")
    with serve(reply(say("a", "b"), fault=fault(error_after=1))) as server:
        _, body = fetch(server, "/v1/responses", asking())
    name, data = events(body)[-1]
    assert (name, data["message"]) == ("error", "Overloaded")


@pytest.mark.parametrize(
    ("path", "key"),
    [
        ("/v1/messages/count_tokens", "input_tokens"),
        ("/v1/responses/input_tokens", "input_tokens"),
        ("/v1beta/models/m:countTokens", "totalTokens"),
    ],
)
def test_token_counts_take_no_reply(path: str, key: str) -> None:
    with serve("a") as server:
        _, body = fetch(server, path, asking())
        assert json.loads(body)[key] > 0
        assert server.requests == []
