"""Chat Completions and Responses, as the vendor's SDK reads them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from detent.testing import Reply, ServedScript, call, fault, reply, say, script, serve

openai = pytest.importorskip("openai")

CHAT: dict[str, Any] = {"model": "gpt-test", "messages": [{"role": "user", "content": "hi"}]}
RESPONSES: dict[str, Any] = {"model": "gpt-test", "input": "hi", "store": False}


def client(server: ServedScript, retries: int = 0) -> Any:
    return openai.OpenAI(api_key="test", base_url=f"{server.url}/v1", max_retries=retries)


def chunks(made: Reply) -> list[Any]:
    options = {"include_usage": True}
    with serve(made) as server, client(server) as sdk:
        return list(sdk.chat.completions.create(**CHAT, stream=True, stream_options=options))


def completion(made: Reply) -> Any:
    """What the SDK gathers from the stream."""
    options = {"include_usage": True}
    with (
        serve(made) as server,
        client(server) as sdk,
        sdk.chat.completions.stream(**CHAT, stream_options=options) as stream,
    ):
        return stream.get_final_completion()


def calls(message: Any) -> list[tuple[str, str, Any]]:
    found = message.tool_calls or []
    return [(c.id, c.function.name, json.loads(c.function.arguments)) for c in found]


RICH_CALLS = [
    ("one", "Bash", {"command": "ls"}),
    ("two", "Read", {"path": "ü", "lines": [1, 2]}),
]


# Chat Completions.


def test_a_rich_chat_stream_is_gathered_as_scripted(rich: Reply) -> None:
    found = completion(rich)
    (choice,) = found.choices
    assert choice.message.content == "Hello wörld 😀"
    assert calls(choice.message) == RICH_CALLS
    assert (choice.finish_reason, found.model) == ("tool_calls", "gpt-test")
    usage = found.usage
    assert (usage.prompt_tokens, usage.completion_tokens, usage.total_tokens) == (110, 20, 130)
    assert usage.prompt_tokens_details.cached_tokens == 7
    assert usage.completion_tokens_details.reasoning_tokens == 4


def test_the_same_chat_without_a_stream(rich: Reply) -> None:
    with serve(rich) as server, client(server) as sdk:
        found = sdk.chat.completions.create(**CHAT)
    assert calls(found.choices[0].message) == RICH_CALLS
    assert found.choices[0].message.content == "Hello wörld 😀"


def test_parallel_calls_may_interleave(rich: Reply) -> None:
    found = completion(replace(rich, quirks=frozenset({"interleave"})))
    assert calls(found.choices[0].message) == RICH_CALLS


def test_usage_comes_in_a_chunk_without_choices(rich: Reply) -> None:
    *_, last = chunks(rich)
    assert (last.choices, last.usage.completion_tokens) == ([], 20)


@pytest.mark.parametrize("key", ["reasoning", "reasoning_content"])
def test_reasoning_is_in_the_extra_fields(rich: Reply, key: str) -> None:
    found = chunks(replace(rich, quirks=frozenset({key})))
    deltas = [chunk.choices[0].delta for chunk in found if chunk.choices]
    assert "".join((delta.model_extra or {}).get(key, "") for delta in deltas) == "let me see"


@pytest.mark.parametrize(
    ("stop", "finish"),
    [("end_turn", "stop"), ("max_tokens", "length"), ("refusal", "content_filter")],
)
def test_chat_finish_reasons(stop: str, finish: str) -> None:
    *_, last, _ = chunks(reply("x", stop=stop))
    assert last.choices[0].finish_reason == finish


def test_an_error_in_the_middle_of_a_chat_stream() -> None:
    with pytest.raises(openai.APIError, match="Overloaded"):
        chunks(reply(say("a", "b"), fault=fault(error_after=1)))


# Responses.


def events(made: Reply) -> list[Any]:
    with serve(made) as server, client(server) as sdk:
        return list(sdk.responses.create(**RESPONSES, stream=True))


def response(made: Reply) -> Any:
    """What the SDK gathers from the stream."""
    with serve(made) as server, client(server) as sdk, sdk.responses.stream(**RESPONSES) as stream:
        return stream.get_final_response()


def items(found: Any) -> Iterator[tuple[Any, ...]]:
    for item in found.output:
        match item.type:
            case "reasoning":
                summary = "".join(part.text for part in item.summary)
                yield "reasoning", summary, item.encrypted_content
            case "message":
                yield "message", "".join(part.text for part in item.content)
            case "function_call":
                yield "call", item.call_id, item.name, json.loads(item.arguments)


RICH_ITEMS = [
    ("reasoning", "let me see", "signed"),
    ("reasoning", "", "sealed"),
    ("message", "Hello wörld 😀"),
    ("call", "one", "Bash", {"command": "ls"}),
    ("call", "two", "Read", {"path": "ü", "lines": [1, 2]}),
]


def test_a_rich_response_is_gathered_as_scripted(rich: Reply) -> None:
    found = response(rich)
    assert list(items(found)) == RICH_ITEMS
    assert found.output_text == "Hello wörld 😀"
    assert (found.status, found.model) == ("completed", "gpt-test")
    usage = found.usage
    assert (usage.input_tokens, usage.output_tokens, usage.total_tokens) == (110, 20, 130)
    assert usage.input_tokens_details.cached_tokens == 7
    assert usage.output_tokens_details.reasoning_tokens == 4


def test_the_same_response_without_a_stream(rich: Reply) -> None:
    with serve(rich) as server, client(server) as sdk:
        found = sdk.responses.create(**RESPONSES)
    assert list(items(found)) == RICH_ITEMS


def test_what_the_events_say_is_what_the_response_holds(rich: Reply) -> None:
    found = events(rich)
    assert [event.sequence_number for event in found] == list(range(len(found)))
    texts = [e.delta for e in found if e.type == "response.output_text.delta"]
    assert texts == ["Hello ", "wörld 😀"]
    thoughts = [e.delta for e in found if e.type == "response.reasoning_summary_text.delta"]
    assert thoughts == ["let me ", "see"]
    whole = [e.arguments for e in found if e.type == "response.function_call_arguments.done"]
    assert [json.loads(each) for each in whole] == [given for _, _, given in RICH_CALLS]


def test_a_response_that_is_cut_says_why() -> None:
    last = events(reply("x", stop="max_tokens"))[-1]
    assert last.type == "response.incomplete"
    assert last.response.incomplete_details.reason == "max_output_tokens"


def test_a_response_that_fails_says_why() -> None:
    last = events(reply("x", stop="failed"))[-1]
    assert last.type == "response.failed"
    assert last.response.error.code == "server_error"


def test_an_error_in_the_middle_of_a_response() -> None:
    *_, last = events(reply(say("a", "b"), fault=fault(error_after=1)))
    assert (last.type, last.code, last.message) == ("error", "overloaded_error", "Overloaded")


# Both.


@pytest.mark.parametrize("edits", ["crlf", "cr", "comments", "data_lines", "gzip", "deflate"])
def test_legal_ways_to_write_a_stream(rich: Reply, edits: str) -> None:
    made = replace(rich, fault=fault(edits=edits, split=5))
    assert calls(completion(made).choices[0].message) == RICH_CALLS
    assert list(items(response(made))) == RICH_ITEMS


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, "BadRequestError"),
        (401, "AuthenticationError"),
        (429, "RateLimitError"),
        (500, "InternalServerError"),
        (529, "InternalServerError"),
    ],
)
def test_errors_are_known_by_their_class(status: int, error: str) -> None:
    plan = script(fault(status), fault(status))
    with serve(plan) as server, client(server) as sdk:
        with pytest.raises(getattr(openai, error)):
            sdk.chat.completions.create(**CHAT)
        with pytest.raises(getattr(openai, error)):
            sdk.responses.create(**RESPONSES)


def test_a_call_without_arguments() -> None:
    made = reply(call("T", id="i"))
    assert [c.function.arguments for c in completion(made).choices[0].message.tool_calls] == [""]
    assert [item.arguments for item in response(made).output] == [""]
