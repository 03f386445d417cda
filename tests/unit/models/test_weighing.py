"""The parts of a request weigh what the whole does, on every wire."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from detent.models.cloud.bedrock import BedrockMessages
from detent.models.cloud.vertex import Place, VertexMessages
from detent.models.protocols.anthropic_messages import AnthropicMessages
from detent.models.protocols.gemini import Gemini
from detent.models.protocols.openai_chat import OpenAIChat
from detent.models.protocols.openai_responses import OpenAIResponses
from detent.models.protocols.wire import Manner
from detent.models.weighing import Neutral, weigh
from detent.types.content import (
    Call,
    Document,
    Image,
    Opaque,
    Redacted,
    Result,
    Text,
    Thinking,
)
from detent.types.messages import Assistant, Message, Request, ToolSpec, User

MARKED = Manner(quirks=frozenset({"cache_control"}))
WIRES: dict[str, Callable[[], Any]] = {
    "anthropic": AnthropicMessages,
    "anthropic unmarked": lambda: AnthropicMessages(Manner(caching=False)),
    "anthropic hour": lambda: AnthropicMessages(Manner(cache_ttl="1h", provider="p")),
    "bedrock": lambda: BedrockMessages(AnthropicMessages(), ("beta",)),
    "vertex": lambda: VertexMessages(AnthropicMessages(), Place("p", "global")),
    "chat": OpenAIChat,
    "chat marked": lambda: OpenAIChat(MARKED),
    "mistral": lambda: OpenAIChat(Manner(quirks=frozenset({"bridge", "short_ids"}))),
    "responses": OpenAIResponses,
    "gemini": Gemini,
    "neutral": Neutral,
}
EVERY = pytest.mark.parametrize("name", list(WIRES))

TOOLS = tuple(
    ToolSpec(name, f"Does {name}. ü", msgspec.Raw(b'{"type":"object"}')) for name in "ABC"
)
SYSTEM = ("You are Detent.", "# Surroundings\n- /p", "more")
STEP: list[Message] = [
    Assistant(
        (
            Thinking("hm", "sig"),
            Redacted("sealed"),
            Opaque('{"type":"x"}'),
            Text("I"),
            Call("a", "Read", '{"path":"ü"}'),
            Call("b", "Read", "{broken"),
        ),
        "m",
    ),
    User(
        (
            Result("a", (Text("one\ntwo" * 50), Image("image/png", "cGl4ZWxz"))),
            Result("b", (Text("no"),), is_error=True),
            Text("and be quick"),
            Document("application/pdf", "cGRm", "d.pdf"),
        )
    ),
]
TALK: list[Message] = [User((Text("hi"), Text("there"))), *STEP, *STEP, *STEP]


def weighed(name: str, request: Request, model: str = "m") -> tuple[Any, bytes]:
    return weigh(WIRES[name](), request, model, 100), WIRES[name]().body(request, model, 100)


def together(weights: Any) -> int:
    blocks = sum(sum(message) for message in weights.messages)
    return int(weights.frame + sum(weights.system) + sum(weights.tools) + blocks)


@EVERY
@pytest.mark.parametrize("system", [SYSTEM, SYSTEM[:1], ()])
@pytest.mark.parametrize("tools", [TOOLS, ()])
def test_the_parts_are_the_body(
    name: str, system: tuple[str, ...], tools: tuple[ToolSpec, ...]
) -> None:
    for count in range(1, len(TALK) + 1, 2):
        request = Request(system, TALK[:count], tools)
        weights, body = weighed(name, request)
        assert weights.total == len(body) == together(weights)
        assert (len(weights.system), len(weights.tools)) == (len(system), len(tools))
        assert [len(one) for one in weights.messages] == [len(m.content) for m in TALK[:count]]
        assert all(n >= 0 for message in weights.messages for n in message)


@EVERY
def test_before_anything_was_said(name: str) -> None:
    weights = weigh(WIRES[name](), Request(SYSTEM, [], TOOLS), "m", 100)
    assert weights.total == together(weights)
    assert 0 < weights.frame < 400


@EVERY
def test_the_frame_hides_nothing(name: str) -> None:
    """What is not in the parts is the same however long the conversation is, and small."""
    frames = set[int]()
    for count in range(3, len(TALK) + 1, 2):
        frames.add(weighed(name, Request(SYSTEM, TALK[:count], TOOLS))[0].frame)
    assert len(frames) == 1
    assert 0 < frames.pop() < 400


@EVERY
def test_a_part_has_what_it_holds(name: str) -> None:
    long = "x" * 10_000
    messages: list[Message] = [User((Text("a"), Text(long))), *STEP]
    weights, _ = weighed(name, Request(("s", long), messages, TOOLS))
    assert 10_000 <= weights.system[1] < 10_200
    assert 10_000 <= weights.messages[0][1] < 10_200
    assert weights.messages[0][0] < 100
    assert 350 <= weights.messages[2][0] < 700  # the first result


def test_thinking_weighs_where_it_goes_back() -> None:
    manner = Manner(replay="always", thinks="effort")
    sealed = '{"type":"reasoning","encrypted_content":"%s"}' % ("s" * 500)
    talk: list[Message] = [
        User((Text("hi"),)),
        Assistant((Thinking("t", sealed), Call("a", "B", "{}")), "m"),
    ]
    weights = weigh(OpenAIResponses(manner), Request((), talk), "m", 0)
    assert weights.messages[1][0] > 500
    assert weights.messages[1][1] < 200
    other = weigh(OpenAIResponses(manner), Request((), talk), "another", 0)
    assert other.messages[1][0] == 0


def test_marks_are_told() -> None:
    request = Request(SYSTEM, TALK, TOOLS)
    told = {name: weighed(name, request)[0].is_marked for name in WIRES}
    assert {name for name, marked in told.items() if marked} == {
        "anthropic", "anthropic hour", "bedrock", "vertex", "chat marked",
    }  # fmt: skip


_words = st.text(max_size=20)
_user = st.one_of(
    _words.filter(str.strip).map(Text),
    st.builds(Image, st.just("image/png"), st.just("cGl4")),
    st.builds(
        Document, st.sampled_from(["text/plain", "application/pdf"]), st.just("cGRm"), _words
    ),
)
_answers = st.one_of(
    _words.filter(str.strip).map(Text),
    st.builds(Thinking, _words, _words),
    st.builds(Redacted, _words),
    st.builds(Opaque, st.sampled_from(["{}", '{"a":1}', "[", ""])),
    st.builds(Call, _words, _words, st.sampled_from(["{}", "{", '{"a": 1}', ""]), _words),
)
_turns = st.lists(
    st.tuples(
        st.lists(_user, min_size=1, max_size=3).map(lambda b: User(tuple(b))),
        st.lists(_answers, min_size=1, max_size=4).map(
            lambda b: Assistant(tuple(b), "m")  # type: ignore[arg-type]
        ),
    ),
    max_size=3,
)


@settings(max_examples=60, deadline=None)
@given(_turns, st.lists(_words, max_size=3), st.integers(0, 3), st.sampled_from(list(WIRES)))
def test_whatever_is_said(turns: Any, system: list[str], tools: int, name: str) -> None:
    talk: list[Message] = [message for pair in turns for message in pair]
    request = Request(tuple(system), [*talk, User((Text("go on"),))], TOOLS[:tools])
    weights, body = weighed(name, request)
    assert weights.total == len(body) == together(weights)
