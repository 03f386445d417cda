"""What the user wants and what a provider can, as fields of the request."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from detent.models.protocols.anthropic_messages import AnthropicMessages
from detent.models.protocols.chat_writing import QUIRKS
from detent.models.protocols.forms import is_strict
from detent.models.protocols.openai_chat import OpenAIChat
from detent.models.protocols.wire import Manner
from detent.types.content import Call, Document, Image, Opaque, Result, Text, Thinking
from detent.types.messages import Assistant, Message, Request, ToolSpec, User

HI = (User((Text("hi"),)),)
TOOL = ToolSpec("T", "A tool.", msgspec.Raw(b'{"type":"object"}'))
FORM = msgspec.Raw(b'{"type":"object","properties":{}}')


def messages_wire(manner: Manner, request: Request, limit: int = 8_000, model: str = "m") -> Any:
    return json.loads(AnthropicMessages(manner).body(request, model, limit))


def chat_wire(manner: Manner, request: Request | None = None, model: str = "m") -> Any:
    return json.loads(OpenAIChat(manner).body(request or Request((), HI), model, 1_000))


def quirky(*names: str, **more: Any) -> Manner:
    assert set(names) <= set(QUIRKS)
    return Manner(quirks=frozenset(names), **more)


# The Messages wire


@pytest.mark.parametrize(
    ("manner", "thinking"),
    [
        (Manner(), None),
        (Manner(thinks="adaptive"), None),
        (Manner(thinks="budget"), None),
        (Manner(effort="high", thinking_budget=5_000), None),
        (Manner(thinks="effort", effort="high"), None),
        (Manner(thinks="budget", effort="high"), None),
        (Manner(thinks="adaptive", effort="low"), {"type": "adaptive", "display": "summarized"}),
        (
            Manner(thinks="adaptive", thinking_budget=9),
            {"type": "adaptive", "display": "summarized"},
        ),
        (Manner(thinks="adaptive", thinking_budget=0), {"type": "disabled"}),
        (Manner(thinks="budget", thinking_budget=0), {"type": "disabled"}),
        (
            Manner(thinks="budget", thinking_budget=5_000),
            {"type": "enabled", "budget_tokens": 5000},
        ),
        (
            Manner(thinks="budget", thinking_budget=9_999),
            {"type": "enabled", "budget_tokens": 6976},
        ),
        (Manner(thinks="budget", thinking_budget=1), {"type": "enabled", "budget_tokens": 1024}),
    ],
)
def test_thinking_is_asked_for_only_when_the_user_asks(manner: Manner, thinking: Any) -> None:
    assert messages_wire(manner, Request((), HI)).get("thinking") == thinking


@pytest.mark.parametrize(("limit", "sent"), [(1_500, 2_048), (2_048, 2_048), (9_000, 9_000)])
def test_a_budget_leaves_room_for_the_answer(limit: int, sent: int) -> None:
    manner = Manner(thinks="budget", thinking_budget=20_000)
    body = messages_wire(manner, Request((), HI), limit)
    assert body["max_tokens"] == sent
    assert 1_024 <= body["thinking"]["budget_tokens"] == sent - 1_024


def test_effort_and_form_share_a_place() -> None:
    request = Request((), HI, form=FORM)
    form = {"type": "json_schema", "schema": json.loads(bytes(FORM))}
    assert messages_wire(Manner(), request)["output_config"] == {"format": form}
    both = {"effort": "max", "format": form}
    assert messages_wire(Manner(effort="max"), request)["output_config"] == both
    assert "output_config" not in messages_wire(Manner(), Request((), HI))


@pytest.mark.parametrize("wire", [AnthropicMessages, OpenAIChat])
def test_tools_of_the_provider_stand_behind_ours_and_extras_win(wire: Any) -> None:
    search = b'{"type":"web_search_20250305","name":"web_search"}'
    extra = msgspec.Raw(b'{"stream":false,"top_k":1}')
    manner = Manner(server_tools=(msgspec.Raw(search),), extra_body=extra)
    sent = json.loads(wire(manner).body(Request((), HI, (TOOL,)), "m", 1))
    assert sent["tools"][1:] == [json.loads(search)]
    assert (sent["stream"], sent["top_k"]) == (False, 1)
    assert len(json.loads(wire(manner).body(Request((), HI), "m", 1))["tools"]) == 1


SEALED = Opaque('{"type":"server_tool_use","id":"s"}')


@pytest.mark.parametrize(
    ("replay", "content", "kinds"),
    [
        ("tool_turns", (Thinking("a", "s"), Text("b")), ["text"]),
        ("always", (Thinking("a", "s"), Text("b")), ["thinking", "text"]),
        ("tool_turns", (Thinking("a", "s"), SEALED), ["thinking", "server_tool_use"]),
        ("never", (Thinking("a", "s"), SEALED, Text("b")), ["server_tool_use", "text"]),
        ("never", (Thinking("a", "s"), Call("c", "T", "{}")), ["tool_use"]),
        ("tool_turns", (Opaque("not JSON"), Opaque("[]"), Text("b")), ["text"]),
    ],
)
def test_what_goes_back_to_its_author(replay: Any, content: Any, kinds: list[str]) -> None:
    said = Assistant(content, "m", "p")
    request = Request((), (*HI, said, *HI))
    sent = messages_wire(Manner(provider="p", replay=replay), request)["messages"][1]["content"]
    assert [block["type"] for block in sent] == kinds
    for manner, model in ((Manner(provider="q", replay=replay), "m"), (Manner("p"), "n")):
        sent = messages_wire(manner, request, model=model)["messages"][1]["content"]
        assert {block["type"] for block in sent} <= {"text", "tool_use"}


def test_ids_of_other_providers_are_made_to_fit_in_call_and_result() -> None:
    odd = "functions.Read:0"
    history = (
        *HI,
        Assistant((Call(odd, "T", "{}"), Call("fits_1-A", "T", "{}")), "m"),
        User((Result(odd, (Text("x"),)), Result("fits_1-A", (Text("y"),)))),
    )
    _, said, answered = messages_wire(Manner(), Request((), history))["messages"]
    ids = [block["id"] for block in said["content"]]
    assert ids == [block["tool_use_id"] for block in answered["content"]]
    assert ids[0] != odd
    assert ids[1] == "fits_1-A"
    assert ids[0].replace("_", "").isalnum()


def test_documents_of_text_are_sent_as_text() -> None:
    plain = Document("text/markdown", "aGnDvA==", "n")
    broken = Document("text/plain", "x")
    pdf = Document("application/pdf", "cGRm")
    content = User((plain, broken, pdf, Result("c", (pdf,))))
    first, second, third, result = messages_wire(Manner(), Request((), (content,)))["messages"][0][
        "content"
    ]
    assert first["source"] == {"type": "text", "media_type": "text/plain", "data": "hiü"}
    assert first["title"] == "n"
    assert second["source"]["type"] == third["source"]["type"] == "base64"
    assert "title" not in third
    assert result["content"][0]["type"] == "document"


# The Chat wire


@pytest.mark.parametrize(
    ("manner", "fields"),
    [
        (Manner(), {}),
        (Manner(thinking_budget=5), {}),
        (Manner(effort="high"), {"reasoning_effort": "high"}),
        (quirky("reasoning_object"), {}),
        (quirky("reasoning_object", effort="low"), {"reasoning": {"effort": "low"}}),
        (
            quirky("reasoning_object", effort="low", thinking_budget=7),
            {"reasoning": {"max_tokens": 7}},
        ),
        (quirky("reasoning_object", thinking_budget=0), {"reasoning": {"enabled": False}}),
        (quirky("enable_thinking"), {}),
        (quirky("enable_thinking", thinking_budget=0), {"enable_thinking": False}),
        (
            quirky("enable_thinking", thinking_budget=7),
            {"enable_thinking": True, "thinking_budget": 7},
        ),
        (quirky("enable_thinking", effort="low"), {"enable_thinking": True}),
        (
            quirky("thinking_type", effort="low"),
            {"reasoning_effort": "low", "thinking": {"type": "enabled"}},
        ),
        (quirky("thinking_type", thinking_budget=0), {"thinking": {"type": "disabled"}}),
    ],
)
def test_thinking_has_many_names(manner: Manner, fields: dict[str, Any]) -> None:
    usual = {"model", "stream", "stream_options", "max_tokens", "messages"}
    assert {k: v for k, v in chat_wire(manner).items() if k not in usual} == fields


def test_the_limit_and_the_usage_as_the_server_wants_them() -> None:
    assert chat_wire(quirky("max_completion_tokens"))["max_completion_tokens"] == 1_000
    assert "stream_options" not in chat_wire(quirky("no_stream_options"))


def test_the_form_of_the_answer() -> None:
    request = Request((), HI, form=FORM)
    form = chat_wire(Manner(), request)["response_format"]
    assert form["type"] == "json_schema"
    assert form["json_schema"]["schema"] == json.loads(bytes(FORM))
    assert "response_format" not in chat_wire(quirky("no_form"), request)
    assert "response_format" not in chat_wire(Manner())


@pytest.mark.parametrize(
    ("schema", "strict"),
    [
        ('{"type":"string"}', True),
        ('{"type":"object"}', False),
        ('{"type":"object","additionalProperties":false}', True),
        ('{"properties":{"a":{}},"required":["a"]}', False),
        ('{"properties":{"a":{}},"required":["a"],"additionalProperties":false}', True),
        ('{"properties":{"a":{}},"additionalProperties":false}', False),
        ('{"anyOf":[{"type":"object"}]}', False),
    ],
)
def test_only_closed_schemas_are_strict(schema: str, strict: bool) -> None:
    assert is_strict(msgspec.Raw(schema.encode())) is strict


CALLED = (
    *HI,
    Assistant((Thinking("hm"), Call("c1", "T", "{}", '{"x":{"s":1}}')), "m", "p"),
    User((Result("c1", (Text("ok"),)), Text("go on"))),
)


def assistant(manner: Manner, model: str = "m", history: tuple[Message, ...] = CALLED) -> Any:
    return chat_wire(manner, Request((), history), model)["messages"][1]


def test_thinking_goes_back_to_the_server_that_thought_it() -> None:
    assert assistant(Manner(provider="p"))["reasoning_content"] == "hm"
    assert assistant(quirky("reasoning_field", provider="p"))["reasoning"] == "hm"
    for manner, model in (
        (Manner(provider="q"), "m"),
        (Manner(provider="p"), "n"),
        (Manner(provider="p", replay="never"), "m"),
    ):
        assert "hm" not in json.dumps(assistant(manner, model))
        assert "reasoning_content" not in assistant(manner, model)


def test_some_servers_want_an_empty_place_rather_than_none() -> None:
    back = quirky("reasoning_back", provider="p")
    assert assistant(back)["reasoning_content"] == "hm"
    assert assistant(back, "n")["reasoning_content"] == ""
    assert assistant(quirky("reasoning_back", provider="q"))["reasoning_content"] == ""
    silent = (*HI, Assistant((Call("c1", "T", "{}"),), "m", "p"), *HI)
    assert assistant(back, history=silent)["reasoning_content"] == ""
    no_calls = (*HI, Assistant((Thinking("hm"), Text("a")), "m", "p"), *HI)
    assert "reasoning_content" not in assistant(back, history=no_calls)


def test_the_state_of_a_call_goes_back_to_its_author_only() -> None:
    def extra(manner: Manner, model: str = "m") -> Any:
        return assistant(manner, model)["tool_calls"][0].get("extra_content")

    assert extra(Manner(provider="p")) == extra(Manner(provider="p", replay="never"))
    assert extra(Manner(provider="p")) == {"x": {"s": 1}}
    assert extra(Manner(provider="q")) is extra(Manner(provider="p"), "n") is None
    foreign = extra(quirky("foreign_calls", provider="q"))
    assert foreign["google"]["thought_signature"].startswith("skip_")
    assert extra(quirky("foreign_calls", provider="p")) == {"x": {"s": 1}}


def test_a_broken_state_is_left_out() -> None:
    broken = Assistant((Thinking("hm", "not JSON"), Call("c", "T", "{}", "[")), "m")
    sent = assistant(Manner(), history=(*HI, broken, *HI))
    assert sent["reasoning_content"] == "hm"
    assert "extra_content" not in sent["tool_calls"][0]


def test_short_ids_are_the_same_in_call_and_result() -> None:
    manner = quirky("short_ids")
    _, said, result, _ = chat_wire(manner, Request((), CALLED))["messages"]
    short = said["tool_calls"][0]["id"]
    assert short == result["tool_call_id"]
    assert len(short) == 9
    assert short.isalnum()
    fitting = (*HI, Assistant((Call("abcDEF123", "T", "{}"),), "m"), *HI)
    assert assistant(manner, history=fitting)["tool_calls"][0]["id"] == "abcDEF123"


def test_a_bridge_between_results_and_words() -> None:
    sent = chat_wire(quirky("bridge"), Request((), CALLED))["messages"]
    assert [one["role"] for one in sent] == ["user", "assistant", "tool", "assistant", "user"]


def test_files_for_servers_that_read_and_for_those_that_do_not() -> None:
    pdf, png = Document("application/pdf", "cGRm", "a.pdf"), Image("image/png", "cG5n")
    plain = Document("text/plain", "aGk=")
    request = Request((), (User((pdf, png, plain)),))
    file, image, text = chat_wire(Manner(), request)["messages"][0]["content"]
    url = "data:application/pdf;base64,cGRm"
    assert file == {"type": "file", "file": {"filename": "a.pdf", "file_data": url}}
    assert image["image_url"]["url"] == "data:image/png;base64,cG5n"
    assert text == {"type": "text", "text": "hi"}
    only_text = chat_wire(quirky("text_only"), request)["messages"][0]["content"]
    assert "application/pdf left out" in only_text
    assert "image/png left out" in only_text
    assert only_text.endswith("hi")


def test_marks_for_servers_that_cache_only_what_is_marked() -> None:
    request = Request(("stable", "session"), CALLED)
    sent = chat_wire(quirky("cache_control"), request)
    assert json.dumps(sent).count("cache_control") == 3
    marked = [(part["text"], "cache_control" in part) for part in sent["messages"][0]["content"]]
    assert marked == [("stable", True), ("session", False)]
    assert sent["messages"][-1]["content"][-1]["cache_control"] == {"type": "ephemeral"}
    for plain in (Manner(), quirky("cache_control", caching=False)):
        assert "cache_control" not in json.dumps(chat_wire(plain, request))
