"""Timers, names and placeholders that servers and readers bring."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from detent.models.assemble import Assembler
from detent.models.client import HttpModel
from detent.models.protocols.anthropic_messages import AnthropicMessages
from detent.models.protocols.openai_chat import OpenAIChat
from detent.models.protocols.wire import Manner
from detent.models.retry import RetryPolicy
from detent.models.watch import Timers
from detent.testing import ScriptedServer, reply, say, think
from detent.types.content import Text
from detent.types.errors import ModelFailure
from detent.types.events import CallReady
from detent.types.messages import Request, User
from kitbench import FakeClock
from modelbench import http_model


def model(url: str, **timers: float) -> HttpModel:
    return http_model(
        url, "anthropic", FakeClock(), timers=Timers(**timers), retry=RetryPolicy(delays=())
    )


ASKED = Request((), [User((Text("hi"),))])


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

            async def ignore(delta: Any) -> None:
                pass

            with pytest.raises(ModelFailure, match="too long"):
                await one.stream(ASKED, ignore)
            await one.aclose()

    asyncio.run(main())


def test_signed_thinking_goes_back_although_the_server_names_a_snapshot() -> None:
    async def main() -> bytes:
        plan = reply(think("hm", signature="sig"), say("x"), model="m-20260101")
        async with ScriptedServer(plan) as server:
            one = model(server.url)

            async def ignore(delta: Any) -> None:
                pass

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
