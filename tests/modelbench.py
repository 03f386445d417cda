"""A model over HTTP for tests: any wire, at the address of a scripted server."""

from __future__ import annotations

from collections.abc import Callable

from detent.http.transport import Transport
from detent.models.client import HttpModel
from detent.models.credentials import Fixed
from detent.models.protocols.anthropic_messages import AnthropicMessages
from detent.models.protocols.gemini import Gemini
from detent.models.protocols.openai_chat import OpenAIChat
from detent.models.protocols.openai_responses import OpenAIResponses
from detent.models.protocols.wire import Endpoint, Manner, Wire
from detent.models.retry import RetryPolicy
from detent.models.route import Bounds, Route
from detent.models.watch import Timers
from detent.ports import Clock

WIRES: dict[str, tuple[Callable[[Manner], Wire], str]] = {
    "anthropic": (AnthropicMessages, ""),
    "chat": (OpenAIChat, "/v1"),
    "responses": (OpenAIResponses, "/v1"),
    "gemini": (Gemini, "/v1beta"),
}
"""Each wire with what its base address ends in."""


def route(
    url: str,
    wire: str = "anthropic",
    name: str = "m",
    *,
    timers: Timers = Timers(),
    max_output: int = 0,
    manner: Manner = Manner(),
) -> Route:
    codec, path = WIRES[wire]
    return Route(
        name,
        provider=manner.provider,
        wire=codec(manner),
        endpoint=Endpoint(url + path),
        credentials=Fixed(),
        transport=Transport({}),
        bounds=Bounds(max_output=max_output, first_output=max_output),
        timers=timers,
    )


def http_model(
    url: str,
    wire: str,
    clock: Clock,
    *,
    fallbacks: tuple[str, ...] = (),
    retry: RetryPolicy = RetryPolicy(),
    timers: Timers = Timers(),
    max_output: int = 0,
    manner: Manner = Manner(),
) -> HttpModel:
    routes = [
        route(url, wire, name, timers=timers, max_output=max_output, manner=manner)
        for name in ("m", *fallbacks)
    ]
    return HttpModel(routes, clock=clock, retry=retry)
