"""Gemini, as the vendor's SDK reads it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from detent.testing import Reply, ServedScript, call, fault, reply, say, serve, think

genai = pytest.importorskip("google.genai")
errors = pytest.importorskip("google.genai.errors")


def client(server: ServedScript) -> Any:
    return genai.Client(api_key="test", http_options={"base_url": server.url})


def fragments(made: Reply) -> list[Any]:
    with serve(made) as server, client(server) as sdk:
        return list(sdk.models.generate_content_stream(model="g-test", contents="hi"))


def parts(found: list[Any]) -> list[Any]:
    return [part for each in found for part in each.candidates[0].content.parts]


def test_a_rich_stream_holds_what_was_scripted(rich: Reply) -> None:
    found = fragments(rich)
    thoughts = "".join(part.text for part in parts(found) if part.thought)
    texts = "".join(part.text or "" for part in parts(found) if not part.thought)
    assert (thoughts, texts) == ("let me see", "Hello wörld 😀")
    calls = [part.function_call for part in parts(found) if part.function_call]
    assert [(c.id, c.name, c.args) for c in calls] == [
        ("one", "Bash", {"command": "ls"}),
        ("two", "Read", {"path": "ü", "lines": [1, 2]}),
    ]
    last = found[-1]
    assert last.candidates[0].finish_reason.name == "STOP"
    assert last.model_version == "g-test"
    usage = last.usage_metadata
    assert (usage.prompt_token_count, usage.cached_content_token_count) == (110, 7)
    assert (usage.candidates_token_count, usage.thoughts_token_count) == (16, 4)
    assert usage.total_token_count == 130


def test_the_signature_of_a_thought_is_on_the_call_that_follows() -> None:
    found = parts(fragments(reply(think("hm", signature="signed"), call("T", x=1), call("U"))))
    signed = [(p.function_call.name, p.thought_signature) for p in found if p.function_call]
    assert signed == [("T", b"signed"), ("U", None)]


def test_the_same_without_a_stream(rich: Reply) -> None:
    with serve(rich) as server, client(server) as sdk:
        found = sdk.models.generate_content(model="g-test", contents="hi")
    assert [c.name for c in found.function_calls] == ["Bash", "Read"]


@pytest.mark.parametrize(
    ("stop", "finish"),
    [("end_turn", "STOP"), ("max_tokens", "MAX_TOKENS"), ("refusal", "SAFETY")],
)
def test_finish_reasons(stop: str, finish: str) -> None:
    last = fragments(reply("x", stop=stop))[-1]
    assert last.candidates[0].finish_reason.name == finish


def test_a_prompt_that_is_blocked() -> None:
    (only,) = fragments(reply(stop="blocked"))
    assert only.prompt_feedback.block_reason.name == "SAFETY"


@pytest.mark.parametrize("edits", ["crlf", "gzip", "deflate"])
def test_legal_ways_to_write_a_stream(rich: Reply, edits: str) -> None:
    found = parts(fragments(replace(rich, fault=fault(edits=edits, split=5))))
    assert "".join(p.text or "" for p in found if not p.thought) == "Hello wörld 😀"


@pytest.mark.parametrize(
    ("status", "kind"), [(400, "ClientError"), (429, "ClientError"), (503, "ServerError")]
)
def test_errors_are_known_by_their_class(status: int, kind: str) -> None:
    with pytest.raises(getattr(errors, kind)) as caught:
        fragments(replace(reply(), fault=fault(status)))
    assert caught.value.code == status


def test_an_error_in_the_middle_of_a_stream() -> None:
    with pytest.raises(errors.APIError):
        fragments(reply(say("a", "b"), fault=fault(error_after=1)))
