"""The exact request of the Responses wire. `UPDATE_SNAPSHOTS=1` writes the one on file anew."""

from __future__ import annotations

import json
import os
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest

from detent.models.assemble import Assembler
from detent.models.protocols.openai_responses import OpenAIResponses
from detent.models.protocols.wire import Manner
from detent.types.content import Call, Document, Image, Opaque, Redacted, Result, Text, Thinking
from detent.types.messages import Assistant, Message, Reply, Request, ToolSpec, User
from detent.types.usage import Usage

SNAPSHOT = Path(__file__).parents[3] / "requests" / "responses" / "round-trip.json"
READ = ToolSpec(
    "Read",
    "Reads a file.",
    msgspec.Raw(b'{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}'),
)
ITEM = '{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"sealed"}'
SEARCH = '{"type":"web_search_call","id":"ws_1","status":"completed"}'
MANNER = Manner(provider="p", replay="always", thinks="effort", effort="high")

STREAM = [
    {"type": "response.created", "response": {"id": "resp_1"}},
    {"type": "response.output_item.added", "output_index": 0, "item": {"type": "reasoning"}},
    {
        "type": "response.reasoning_summary_text.delta",
        "output_index": 0,
        "summary_index": 0,
        "delta": "Both.",
    },
    {
        "type": "response.output_item.done",
        "output_index": 0,
        "item": {
            "type": "reasoning",
            "id": "rs_1",
            "summary": [{"type": "summary_text", "text": "Both."}],
            "encrypted_content": "sealed",
        },
    },
    {"type": "response.output_text.delta", "output_index": 1, "content_index": 0, "delta": "So:"},
    *(
        {
            "type": "response.output_item.done",
            "output_index": place,
            "item": {
                "type": "function_call",
                "id": f"fc_{place}",
                "call_id": f"call_{name}",
                "name": "Read",
                "arguments": json.dumps({"path": f"{name}.txt"}),
            },
        }
        for place, name in ((2, "a"), (3, "b"))
    ),
    {
        "type": "response.completed",
        "response": {
            "status": "completed",
            "usage": {
                "input_tokens": 90,
                "output_tokens": 7,
                "input_tokens_details": {"cached_tokens": 80},
            },
        },
    },
]


def answered() -> Reply:
    one, wire = Assembler(), OpenAIResponses()
    for event in STREAM:
        wire.read(json.dumps(event).encode(), one)
    return one.reply("m", "p")


def conversation() -> list[Message]:
    answer = answered()
    assert answer.usage == Usage(10, 7, 80)
    return [
        User(
            (Text("look"), Image("image/png", "cGl4"), Document("application/pdf", "cGRm", "a.pdf"))
        ),
        Assistant(answer.content, answer.model, answer.provider),
        User(
            (
                Result("call_a", (Text("one\ntwo"),)),
                Result("call_b", (Text("It is not there."),), is_error=True),
                Text("go on"),
            )
        ),
        Assistant(
            (Thinking("not ours", ITEM), Text("well"), Call("c", "Read", "{broken")), "n", "p"
        ),
        User(
            (
                Result(
                    "c",
                    (
                        Text("both"),
                        Image("image/jpeg", "bW9yZQ=="),
                        Document("application/pdf", "cGRm"),
                    ),
                ),
            )
        ),
    ]


def body(
    *messages: Message, manner: Manner = MANNER, model: str = "m", most: int = 1_000, **more: Any
) -> dict[str, Any]:
    request = Request(more.pop("system", ()), messages or (User((Text("hi"),)),), **more)
    made: dict[str, Any] = json.loads(OpenAIResponses(manner).body(request, model, most))
    return made


def items(*messages: Message, manner: Manner = MANNER, model: str = "m") -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = body(*messages, manner=manner, model=model)["input"]
    return made


def test_the_request_after_a_round_trip_is_the_one_on_file() -> None:
    system = ("You are Detent.", "# Surroundings")
    made = body(*conversation(), system=system, tools=(READ,))
    written = json.dumps(made, indent=1, ensure_ascii=False) + "\n"
    if os.environ.get("UPDATE_SNAPSHOTS"):
        SNAPSHOT.write_text(written, encoding="utf-8")
    assert written == SNAPSHOT.read_text(encoding="utf-8"), "order counts too"


def test_one_request_is_a_byte_prefix_of_the_next() -> None:
    messages = conversation()
    warm = OpenAIResponses(MANNER)
    sent = [
        warm.body(Request(("s",), messages[:count], (READ,)), "m", 100)
        for count in range(1, len(messages) + 1)
    ]
    for earlier, later in pairwise(sent):
        assert later.startswith(earlier.removesuffix(b"]}"))
    cold = OpenAIResponses(MANNER).body(Request(("s",), messages, (READ,)), "m", 100)
    assert sent[-1] == cold


def test_a_switch_of_the_model_is_seen_by_a_wire_that_is_already_warm() -> None:
    warm, request = OpenAIResponses(MANNER), Request((), conversation())
    for model in ("m", "n", "m"):
        assert warm.body(request, model, 1) == OpenAIResponses(MANNER).body(request, model, 1)


def test_where_it_goes() -> None:
    assert OpenAIResponses().path("gpt-6") == "/responses"


# Fields beside the items


def test_nothing_is_sent_that_nobody_asked_for() -> None:
    plain = body(manner=Manner(), most=0)
    assert set(plain) == {"model", "stream", "store", "input"}
    assert (plain["stream"], plain["store"]) == (True, False)


def test_tools_are_flat_and_those_of_the_server_stand_behind_ours() -> None:
    search = msgspec.Raw(b'{"type":"web_search"}')
    sent = body(tools=(READ,), manner=Manner(server_tools=(search,)))["tools"]
    assert sent[0] == {
        "type": "function",
        "name": "Read",
        "description": "Reads a file.",
        "parameters": json.loads(bytes(READ.schema)),
        "strict": False,
    }
    assert sent[1:] == [{"type": "web_search"}]
    assert body(manner=Manner(server_tools=(search,)))["tools"] == [{"type": "web_search"}]


def test_a_form_is_a_schema_of_the_text_and_strict_where_it_can_be() -> None:
    loose = {"type": "object", "properties": {"a": {"type": "integer"}}}
    closed = {**loose, "required": ["a"], "additionalProperties": False}
    for schema, strict in ((loose, False), (closed, True)):
        sent = body(form=msgspec.Raw(json.dumps(schema).encode()))["text"]["format"]
        form = {"name": "answer", "schema": schema, "strict": strict}
        assert sent == {"type": "json_schema", **form}


def test_extra_fields_win_and_the_items_stay_last() -> None:
    extra = msgspec.Raw(b'{"store":true,"prompt_cache_key":"k"}')
    sent = body(manner=Manner(extra_body=extra))
    assert (sent["store"], sent["prompt_cache_key"]) == (True, "k")
    assert list(sent)[-1] == "input"


def test_a_model_that_does_not_reason_is_not_asked_for_reasoning() -> None:
    assert not {"reasoning", "include"} & set(body(manner=Manner(effort="high")))
    sent = body(manner=Manner(thinks="effort"))
    assert sent["reasoning"] == {"summary": "auto"}
    assert sent["include"] == ["reasoning.encrypted_content"]


@pytest.mark.parametrize(
    ("model", "effort", "sent"),
    [
        ("gpt-6.1-terra", "low", "low"),
        ("gpt-6.1-terra", "max", "max"),
        ("openai/gpt-5.6", "max", "max"),
        ("gpt-5.4", "max", "xhigh"),
        ("gpt-5.2-codex", "xhigh", "xhigh"),
        ("gpt-5.1", "xhigh", "high"),
        ("gpt-5.1-codex-max", "max", "xhigh"),
        ("gpt-5", "max", "high"),
        ("gpt-5", "medium", "medium"),
        ("o3-mini", "xhigh", "high"),
        ("gpt-oss-120b", "max", "high"),
        ("somebody-else", "max", "max"),
    ],
)
def test_an_effort_is_one_the_model_knows(model: str, effort: str, sent: str) -> None:
    manner = Manner(thinks="effort", effort=effort)
    assert body(manner=manner, model=model)["reasoning"] == {"effort": sent, "summary": "auto"}


@pytest.mark.parametrize(
    ("model", "sent"),
    [
        ("gpt-6.1-terra", "none"),
        ("gpt-5.1", "none"),
        ("gpt-5-mini", "minimal"),
        ("o3", "low"),
        ("somebody-else", "none"),
    ],
)
def test_no_thinking_is_the_least_effort_a_model_knows(model: str, sent: str) -> None:
    manner = Manner(thinks="effort", effort="high", thinking_budget=0)
    assert body(manner=manner, model=model)["reasoning"] == {"effort": sent}


# Items


def said(*content: Any, model: str = "m", provider: str = "p") -> Assistant:
    return Assistant(content, model, provider)


def kinds(made: list[dict[str, Any]]) -> list[str]:
    return [item["type"] for item in made]


def test_reasoning_and_foreign_items_go_back_as_they_came_to_their_model_only() -> None:
    content = (Thinking("x", ITEM), Opaque(SEARCH), Text("found"), Call("a", "Read", "{}"))
    own = items(said(*content))
    assert own[:2] == [json.loads(ITEM), json.loads(SEARCH)]
    rest = ["message", "function_call"]
    assert kinds(own[2:]) == rest
    assert kinds(items(said(*content, model="n"))) == rest
    assert kinds(items(said(*content, provider="q"))) == rest
    assert kinds(items(said(*content), manner=Manner(provider="p", replay="never"))) == rest


def test_only_messages_with_tools_get_their_reasoning_back_where_that_is_enough() -> None:
    manner = Manner(provider="p", replay="tool_turns")
    without = said(Thinking("x", ITEM), Text("a"))
    assert kinds(items(without, manner=manner)) == ["message"]
    with_call = said(Thinking("x", ITEM), Call("a", "Read", "{}"))
    assert kinds(items(with_call, manner=manner)) == ["reasoning", "function_call"]
    with_search = said(Thinking("x", ITEM), Opaque(SEARCH))
    assert kinds(items(with_search, manner=manner)) == ["reasoning", "web_search_call"]


@pytest.mark.parametrize(
    "signature",
    [
        "",
        "of another wire",
        "[1]",
        '{"type":"message","encrypted_content":"sealed"}',
        '{"type":"reasoning","id":"rs_1","summary":[]}',
        '{"type":"reasoning","encrypted_content":null}',
    ],
)
def test_reasoning_that_the_server_cannot_read_is_left_out(signature: str) -> None:
    assert kinds(items(said(Thinking("x", signature), Text("a")))) == ["message"]


def test_reasoning_that_led_to_nothing_is_left_out() -> None:
    made = items(said(Thinking("x", ITEM), Text("a"), Thinking("y", ITEM)))
    assert kinds(made) == ["reasoning", "message"]
    assert kinds(items(said(Thinking("x", ITEM)), User((Text("and?"),)))) == ["message"]


def test_blocks_that_are_no_items_are_left_out() -> None:
    assert items(said(Redacted("x"), Opaque("no json"), Text(""))) == []


@pytest.mark.parametrize(
    ("arguments", "sent"),
    [('{"a": 1}', '{"a": 1}'), ("", "{}"), ("{cut", '{"invalid_arguments":"{cut"}')],
)
def test_arguments_go_back_as_text(arguments: str, sent: str) -> None:
    assert items(said(Call("a", "Read", arguments)))[0] == {
        "type": "function_call",
        "call_id": "a",
        "name": "Read",
        "arguments": sent,
    }


def test_results_stand_before_what_is_said_with_them() -> None:
    made = items(User((Text("be quick"), Result("a", (Text("x"),)), Result("b", ()))))
    assert kinds(made) == ["function_call_output", "function_call_output", "message"]
    assert [item.get("output") for item in made[:2]] == ["x", "(no output)"]
    assert made[2]["content"] == [{"type": "input_text", "text": "be quick"}]


def test_an_image_alone_is_a_result() -> None:
    (made,) = items(User((Result("a", (Text(""), Image("image/png", "eA=="))),)))
    url = "data:image/png;base64,eA=="
    assert made["output"] == [{"type": "input_image", "image_url": url, "detail": "auto"}]


@pytest.mark.parametrize(("name", "sent"), [("a.txt", "a.txt:\nhello"), ("", "hello")])
def test_a_document_of_plain_text_is_text(name: str, sent: str) -> None:
    (made,) = items(User((Document("text/plain", "aGVsbG8=", name),)))
    assert made["content"] == [{"type": "input_text", "text": sent}]
