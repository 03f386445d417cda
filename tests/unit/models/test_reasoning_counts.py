"""How much of an answer was thinking, as each provider tells it."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest

from detent.models.assemble import Assembler
from detent.models.protocols.anthropic_messages import AnthropicMessages
from detent.models.protocols.openai_chat import OpenAIChat
from detent.testing import reply, script, serve, think
from detent.types.content import Text
from detent.types.deltas import Counted, Delta
from detent.types.messages import Reply, Request, User
from detent.types.usage import Usage
from kitbench import FakeClock
from modelbench import WIRES, http_model


async def _unheard(delta: Delta) -> None:
    pass


def answered(wire: str, **counts: int) -> Reply:
    with serve(script(reply(think("hm"), "yes", **counts))) as server:

        async def ask() -> Reply:
            model = http_model(server.url, wire, FakeClock())
            try:
                return await model.stream(Request((), (User((Text("hi"),)),)), _unheard)
            finally:
                await model.aclose()

        return asyncio.run(ask())


@pytest.mark.parametrize("wire", WIRES)
def test_thinking_is_a_part_of_the_output(wire: str) -> None:
    usage = answered(wire, input=20, output=12, reasoning=7).usage
    assert (usage.input, usage.output, usage.reasoning) == (20, 12, 7)


@pytest.mark.parametrize("wire", WIRES)
def test_who_does_not_tell_has_not_thought(wire: str) -> None:
    assert answered(wire, input=20, output=12).usage == Usage(20, 12)


def counted(wire: Any, *events: dict[str, Any]) -> Usage:
    into = Assembler()
    for event in events:
        wire.read(msgspec.json.encode(event), into)
    return [delta.usage for delta in into.drain() if isinstance(delta, Counted)][-1]


def test_a_count_that_came_early_is_kept() -> None:
    """Anthropic's counts come in parts; one that is missing later still holds."""
    early = {"input_tokens": 3, "output_tokens": 9, "output_tokens_details": {"thinking_tokens": 8}}
    usage = counted(
        AnthropicMessages(),
        {"type": "message_start", "message": {"id": "m", "usage": early}},
        {"type": "message_delta", "delta": {}, "usage": {"output_tokens": 11}},
    )
    assert usage == Usage(3, 11, reasoning=8)


@pytest.mark.parametrize(
    "said",
    [
        {"completion_tokens_details": {"reasoning_tokens": 6}},
        {"reasoning_tokens": 6},
        {"completion_tokens_details": None, "reasoning_tokens": 6},
    ],
)
def test_servers_of_the_chat_wire_tell_it_in_two_places(said: dict[str, Any]) -> None:
    counts = {"prompt_tokens": 5, "completion_tokens": 9, **said}
    usage = counted(OpenAIChat(), {"choices": [], "usage": counts})
    assert usage == Usage(5, 9, reasoning=6)


@pytest.mark.parametrize("wire", WIRES)
def test_nothing_is_counted_below_nothing(wire: str) -> None:
    usage = answered(wire, input=-20, output=-12).usage
    assert usage == Usage()
