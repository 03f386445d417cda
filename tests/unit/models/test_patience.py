"""Timers, names and placeholders that servers and readers bring."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from msgspec import Raw
from msgspec.structs import replace

from detent.models.assemble import Assembler
from detent.models.client import HttpModel
from detent.models.protocols.anthropic_messages import AnthropicMessages
from detent.models.protocols.openai_chat import OpenAIChat
from detent.models.protocols.openai_responses import OpenAIResponses
from detent.models.protocols.wire import Manner
from detent.models.retry import RetryPolicy
from detent.models.watch import Timers
from detent.testing import ScriptedServer, reply, say, think
from detent.types.content import Text
from detent.types.deltas import CallReady
from detent.types.errors import ModelFailure
from detent.types.messages import Request, ToolSpec, User
from kitbench import FakeClock
from modelbench import http_model


def model(url: str, **timers: float) -> HttpModel:
    return http_model(
        url, "anthropic", FakeClock(), timers=Timers(**timers), retry=RetryPolicy(delays=())
    )


ASKED = Request((), [User((Text("hi"),))])
TOOLS = (ToolSpec("T", "A tool.", Raw(b'{"type":"object"}')),)


async def ignore(delta: Any) -> None:
    pass


def test_a_slow_reader_does_not_spend_the_time_of_the_request() -> None:
    async def main() -> str:
        async with ScriptedServer(reply(say("a", "b"), gap=0.01)) as server:
            one = model(server.url, request=1.5, idle=1.5)

            async def slow(delta: Any) -> None:
                await asyncio.sleep(1.0)

            answer = await one.stream(ASKED, slow)
            await one.aclose()
            return "".join(b.text for b in answer.content if isinstance(b, Text))

    assert asyncio.run(main()) == "ab"


def test_the_whole_request_has_an_end_even_if_content_drips() -> None:
    async def main() -> None:
        async with ScriptedServer(reply(say(*["."] * 500), gap=0.02)) as server:
            one = model(server.url, request=0.3, idle=5.0)

            with pytest.raises(ModelFailure, match="too long"):
                await one.stream(ASKED, ignore)
            await one.aclose()

    asyncio.run(main())


def test_text_that_is_held_back_is_no_silence() -> None:
    """A call that is written as text is not shown until it is whole."""

    async def main() -> Any:
        pieces = ["<tool_call>", '{"name":"T","arguments":{"a":"', *["."] * 10, '"}}</tool_call>']
        async with ScriptedServer(reply(say(*pieces), gap=0.1)) as server:
            one = http_model(
                server.url,
                "chat",
                FakeClock(),
                timers=Timers(idle=0.6),
                retry=RetryPolicy(delays=()),
                manner=Manner(quirks=frozenset({"text_calls"})),
            )
            answer = await one.stream(replace(ASKED, tools=TOOLS), ignore)
            await one.aclose()
            return [call.arguments for call in answer.calls]

    assert asyncio.run(main()) == ['{"a":".........."}']


CHAT_NEWS: dict[str, Any] = {
    "text that may be a call": {"content": "<tool_call>"},
    "a call without arguments": {"tool_calls": [{"index": 0, "id": "a"}]},
    "an empty piece of it": {"tool_calls": [{"index": 0, "function": {"arguments": ""}}]},
    "thinking that is sealed": {"reasoning_details": [{"type": "x", "data": "y"}]},
    "more of it": {"reasoning_details": [{"type": "x", "data": "z"}]},
}
CHAT_NOISE = [
    {"choices": [{"delta": {"role": "assistant"}}]},
    {"choices": [{"delta": {"role": "assistant", "content": ""}}]},
    {"choices": [{"delta": {}}], "usage": {"completion_tokens": 7}},
    {"choices": [], "usage": {"completion_tokens": 8}},
]


def test_what_a_chat_server_says_is_heard_if_it_is_content() -> None:
    wire, into = OpenAIChat(Manner(quirks=frozenset({"text_calls"}))), Assembler()
    wire.body(replace(ASKED, tools=TOOLS), "m", 0)
    for name, delta in CHAT_NEWS.items():
        wire.read(json.dumps({"choices": [{"delta": delta}]}).encode(), into)
        assert into.heard(), name
        for noise in CHAT_NOISE:
            wire.read(json.dumps(noise).encode(), into)
            assert not into.heard(), noise


def test_what_grows_unseen_is_heard() -> None:
    wire, into = AnthropicMessages(), Assembler()
    begin = b'{"type":"content_block_start","index":0,"content_block":{"type":"server_tool_use"}}'
    piece = b'{"type":"content_block_delta","index":0,"delta":{"partial_json":"{"}}'
    for event in (begin, piece, piece):
        wire.read(event, into)
        assert into.heard(), event
        for noise in (b'{"type":"ping"}', b'{"type":"message_delta","usage":{"output_tokens":5}}'):
            wire.read(noise, into)
            assert not into.heard(), noise


def test_arguments_that_come_before_their_call_are_heard() -> None:
    into = Assembler()
    event = {"type": "response.function_call_arguments.delta", "output_index": 0, "delta": "{"}
    OpenAIResponses().read(json.dumps(event).encode(), into)
    assert into.heard()


def test_signed_thinking_goes_back_although_the_server_names_a_snapshot() -> None:
    async def main() -> bytes:
        plan = reply(think("hm", signature="sig"), say("x"), model="m-20260101")
        async with ScriptedServer(plan) as server:
            one = model(server.url)

            answer = await one.stream(ASKED, ignore)
            await one.aclose()
        from detent.types.messages import Assistant

        history = [*ASKED.messages, Assistant(answer.content, answer.model), *ASKED.messages]
        return AnthropicMessages(Manner(replay="always")).body(Request((), history), "m", 100)

    assert b'"signature":"sig"' in asyncio.run(main())


def test_an_empty_object_first_is_a_placeholder() -> None:
    wire, into = OpenAIChat(), Assembler()

    def send(arguments: str) -> list[Any]:
        function = {"name": "T", "arguments": arguments}
        delta = {"tool_calls": [{"index": 0, "id": "a", "function": function}]}
        wire.read(json.dumps({"choices": [{"delta": delta}]}).encode(), into)
        return [each.call.arguments for each in into.drain() if isinstance(each, CallReady)]

    assert send("{}") == []
    assert send('{"a": 1}') == ['{"a": 1}']
