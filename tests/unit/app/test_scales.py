"""A model's wire and limits can be had without a key, and without asking anybody for one."""

from __future__ import annotations

import pytest

from detent.app.options import Options
from detent.app.scales import scales_of
from detent.app.settings.record import Settings
from detent.types.content import Call, Text, Thinking
from detent.types.events import Replied
from detent.types.messages import Assistant, Request, User
from detent.types.usage import Usage

TALK = Request(("s",), [User((Text("hi"),))])


def replied(model: str, provider: str) -> Replied:
    return Replied(
        turn=1, step=1, model=model, provider=provider, content=(), stop="x", usage=Usage()
    )


@pytest.mark.parametrize(
    ("model", "provider", "field"),
    [
        ("claude-sonnet-5-5", "anthropic", "anthropic"),
        ("claude-sonnet-5-5", "anthropic at http://127.0.0.1:9", "anthropic"),
        ("claude-sonnet-5-5", "bedrock", "bedrock"),
        ("claude-sonnet-5-5", "vertex", "vertex"),
        ("gemini-3.8-flash", "vertex", "vertex"),
        ("gemini-3.8-flash", "gemini", "gemini"),
        ("gpt-6.1-terra", "openai", "responses"),
        ("gpt-6.1-terra", "openai at http://127.0.0.1:9/v1", "chat"),
        ("x/y", "openrouter", "chat"),
    ],
)
def test_the_wire_is_that_of_the_answer(model: str, provider: str, field: str) -> None:
    scales = scales_of(Options(), Settings(), {}, replied(model, provider))
    assert scales.name == model
    assert scales.is_exact
    assert scales._choice.wire == field
    assert scales.weigh(TALK).total > 50


def test_what_an_author_sealed_goes_back_to_it_alone() -> None:
    said = Assistant(
        (Thinking("hm" * 50, "sig"), Call("a", "B", "{}")),
        "claude-sonnet-5-5",
        "anthropic at http://x",
    )
    talk = Request((), [User((Text("hi"),)), said])
    author = "anthropic at http://x"
    own = scales_of(Options(), Settings(), {}, replied("claude-sonnet-5-5", author)).weigh(talk)
    other = scales_of(Options(), Settings(), {}, replied("claude-sonnet-5-5", "anthropic"))
    assert own.messages[1][0] > 100
    assert other.weigh(talk).messages[1][0] == 0


@pytest.mark.parametrize(
    "reply",
    [replied("scripted", ""), replied("m", "nobody"), replied("qwen2.5-coder:1.5b", "ollama")],
)
def test_of_others_the_bytes_are_our_own(reply: Replied) -> None:
    scales = scales_of(Options(), Settings(), {}, reply)
    assert not scales.is_exact
    assert scales.name == reply.model
    assert scales.window > 0
    assert scales.weigh(TALK).total > 50


def test_a_name_given_counts_first() -> None:
    reply = replied("gpt-6.1-terra", "openai")
    scales = scales_of(Options(model="opus"), Settings(), {}, reply)
    assert (scales.name, scales._choice.wire) == ("claude-opus-5-5", "anthropic")


def test_without_an_answer_the_usual_model_is_taken() -> None:
    scales = scales_of(Options(), Settings(), {"GEMINI_API_KEY": "k"}, None)
    assert scales._choice.wire == "gemini"
    assert scales_of(Options(), Settings(), {}, None).window > 0
