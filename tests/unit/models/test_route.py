"""What one request says of us, and what is told of a failure."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from detent.http.transport import Transport
from detent.models.cloud.bedrock import BedrockMessages
from detent.models.credentials import Fixed
from detent.models.protocols.anthropic_messages import AnthropicMessages
from detent.models.protocols.wire import Endpoint, Wire
from detent.models.route import MOST_SAID, Route
from detent.testing import ScriptedServer, fault
from detent.types.content import Text
from detent.types.errors import ModelFailure
from detent.types.messages import Request, User
from detent.types.version import VERSION

KEY = "sk-ant-api03-SECRETSECRETSECRETSECRET"


def route(url: str, wire: Wire | None = None, *headers: tuple[str, str]) -> Route:
    return Route(
        "m",
        wire=wire or AnthropicMessages(),
        endpoint=Endpoint(url, headers),
        credentials=Fixed({"x-api-key": KEY}),
        transport=Transport({}),
    )


def failure(answer: Any) -> ModelFailure:
    async def main() -> ModelFailure:
        async def ignore(delta: Any) -> None:
            pass

        async with ScriptedServer(answer) as server:
            one = route(server.url)
            with pytest.raises(ModelFailure) as caught:
                await one.attempt(Request((), [User((Text("hi"),))]), 0, ignore)
            await one.aclose()
            return caught.value

    return asyncio.run(main())


def in_stream(message: str) -> Any:
    event = f'data: {{"type":"error","error":{{"type":"api_error","message":"{message}"}}}}'
    head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"
    return fault(raw=f"{head}{event}\n\n".encode())


PADDED = "x" * (MOST_SAID - 20) + f" {KEY} is no good " + "x" * MOST_SAID


@pytest.mark.parametrize(
    "answer",
    [
        fault(401, body=f"<html>{PADDED}"),
        fault(401, body={"error": {"message": PADDED}}),
        fault(401, body={"error": PADDED}),
        fault(401, body=[PADDED]),
        fault(200, headers={"content-type": "application/json"}, body={"error": PADDED}),
        in_stream(PADDED),
    ],
)
def test_a_key_is_taken_out_before_the_text_is_cut(answer: Any) -> None:
    said = failure(answer).message
    assert len(said) == MOST_SAID
    assert KEY[:8] not in said


def test_an_error_in_the_place_of_a_stream_is_told() -> None:
    body = {"error": {"type": "not_found_error", "message": "your plan has expired"}}
    found = failure(fault(200, headers={"content-type": "application/json"}, body=body))
    assert (found.kind, found.message) == ("not_found", "your plan has expired")


def test_a_request_says_who_we_are_and_what_we_read() -> None:
    sent = route("http://h")._headers
    assert (sent["user-agent"], sent["accept"]) == (f"detent/{VERSION}", "text/event-stream")
    assert route("http://h", None, ("User-Agent", "mine"))._headers["user-agent"] == "mine"
    framed = route("http://h", BedrockMessages(AnthropicMessages()))
    assert "accept" not in framed._headers, "it sends frames of its own"
