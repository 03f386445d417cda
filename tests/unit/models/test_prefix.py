"""Request n is the beginning of request n + 1, byte for byte but for the marks, on every wire."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from detent.context.conversation import Conversation
from detent.models.cloud.bedrock import BedrockMessages
from detent.models.cloud.vertex import Place, VertexGemini, VertexMessages
from detent.models.protocols.anthropic_messages import AnthropicMessages
from detent.models.protocols.gemini import Gemini
from detent.models.protocols.openai_chat import OpenAIChat
from detent.models.protocols.openai_responses import OpenAIResponses
from detent.models.protocols.wire import Manner
from detent.types.content import Call, Image, Text, Thinking
from detent.types.events import CallEnded, Entry, Prompted, Reminded, Replied
from detent.types.messages import Message, Request, ToolSpec
from detent.types.outcomes import Done, Failed
from detent.types.usage import Usage

PLACE = Place("p", "global")
WIRES: dict[str, Callable[[], Any]] = {
    "anthropic": AnthropicMessages,
    "anthropic hour": lambda: AnthropicMessages(Manner(cache_ttl="1h")),
    "bedrock": lambda: BedrockMessages(AnthropicMessages(), ("b",)),
    "vertex": lambda: VertexMessages(AnthropicMessages(), PLACE),
    "vertex gemini": lambda: VertexGemini(Gemini(), PLACE),
    "chat": OpenAIChat,
    "chat marked": lambda: OpenAIChat(Manner(quirks=frozenset({"cache_control"}))),
    "responses": lambda: OpenAIResponses(Manner(replay="always", thinks="effort")),
    "gemini": lambda: Gemini(Manner(replay="always")),
}
MARK = re.compile(rb',"cache_control":\{"type":"ephemeral"(,"ttl":"1h")?\}')
TOOL = ToolSpec("Bash", "Runs.", msgspec.Raw(b'{"type":"object"}'))
SEALED = '{"type":"reasoning","encrypted_content":"x"}'


def histories(steps: int) -> list[list[Message]]:
    """The conversation as each request of two turns has it."""
    talk, found = Conversation(), list[list[Message]]()
    seq = 0

    def add(*entries: Entry) -> None:
        nonlocal seq
        for entry in entries:
            seq += 1
            talk.add(msgspec.structs.replace(entry, seq=seq))

    for turn in (1, 2):
        add(Prompted(turn=turn, content=(Text("do"), Image("image/png", "cGl4"))))
        add(Reminded(text="rules", source="memory", leads=True))
        for step in range(steps):
            found.append(talk.messages())
            calls = tuple(Call(f"{turn}-{step}-{n}", "Bash", "{}") for n in range(1 + step % 3))
            content = (Thinking("hm", SEALED), Text(f"step {step}"), *calls)
            add(Replied(turn=turn, step=step, model="m", content=content, stop="x", usage=Usage()))
            for number, one in enumerate(calls):
                outcome = Failed("no") if number else Done((Text("ü" * 50),))
                add(CallEnded(call_id=one.id, name="Bash", outcome=outcome))
        add(Replied(turn=turn, step=9, model="m", content=(Text("so"),), stop="x", usage=Usage()))
    return found


@pytest.mark.parametrize("name", list(WIRES))
def test_each_request_begins_with_the_one_before(name: str) -> None:
    warm, before = WIRES[name](), b""
    for messages in histories(12):
        request = Request(("stable", "session"), messages, (TOOL,))
        sent = warm.body(request, "m", 1_000)
        assert sent == WIRES[name]().body(request, "m", 1_000), "a resumed session says the same"
        plain = MARK.sub(b"", sent)
        assert plain.startswith(before)
        assert plain.endswith(b"]}")
        before = plain[:-2]
