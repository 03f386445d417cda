"""From a choice to a route: the wire of the provider, spoken in its manner."""

from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Raw, Struct

from detent.http.transport import Transport
from detent.models.catalog import ModelFacts
from detent.models.credentials import Credentials, Fixed
from detent.models.protocols.wire import Endpoint, Manner, Wire
from detent.models.providers import Choice
from detent.models.route import Bounds, Route
from detent.models.watch import Timers
from detent.types.messages import USUAL_OUTPUT

BUDGETS = {"low": 2_048, "medium": 8_192, "high": 16_384, "xhigh": 24_576, "max": 32_000}
"""What an effort is worth in tokens."""


TASK_BETA = "task-budgets-2026-03-13"
LEAST_TASK = 20_000
"""The provider refuses a smaller budget for a task."""


class Wishes(Struct, frozen=True):
    """What the user said about the use of models."""

    timers: Timers = Timers()
    effort: str = ""
    thinking_budget: int | None = None
    replay: Literal["", "never", "tool_turns", "always"] = ""
    """Empty leaves it to the provider's facts."""
    betas: tuple[str, ...] = ()
    server_tools: tuple[Raw, ...] = ()
    extra_body: Raw | None = None
    caching: bool = True
    cache_ttl: Literal["5m", "1h"] = "5m"
    max_output: int = 0
    """What an answer may have at first; 0 leaves it to the model."""
    task_budget: int = 0
    """Tokens for all of the work; models that can be told so are."""


def build_route(
    choice: Choice,
    wishes: Wishes,
    environ: Mapping[str, str],
    credentials: Credentials | None = None,
) -> Route:
    most = choice.facts.max_output

    def wire() -> Wire:
        return wire_of(choice, manner_of(choice, wishes), environ)

    route = Route(
        choice.model,
        provider=author_of(choice),
        wire=wire(),
        endpoint=_endpoint(choice, wishes, environ),
        credentials=credentials or Fixed(dict(choice.secret)),
        transport=Transport(environ),
        bounds=Bounds(choice.facts.window, most, wishes.max_output or min(most, USUAL_OUTPUT)),
        timers=wishes.timers,
    )
    route.twin = wire
    return route


def manner_of(choice: Choice, wishes: Wishes) -> Manner:
    effort, budget = _thinking(choice, wishes)
    return Manner(
        provider=author_of(choice),
        replay=wishes.replay or ("always" if choice.wire == "responses" else choice.about.replay),
        thinks=choice.traits.thinks,
        effort=effort,
        thinking_budget=budget,
        caching=wishes.caching,
        cache_ttl=wishes.cache_ttl,
        betas=_betas(choice, wishes),
        task_budget=tells_task(choice, wishes),
        server_tools=wishes.server_tools,
        extra_body=wishes.extra_body,
        quirks=frozenset((*choice.about.quirks, *choice.traits.quirks)),
    )


def tells_task(choice: Choice, wishes: Wishes) -> bool:
    return wishes.task_budget >= LEAST_TASK and choice.traits.task_budget


def _betas(choice: Choice, wishes: Wishes) -> tuple[str, ...]:
    if not tells_task(choice, wishes) or TASK_BETA in wishes.betas:
        return wishes.betas
    return (*wishes.betas, TASK_BETA)


def author_of(choice: Choice) -> str:
    """Who answers: at another address it is somebody else, whatever the provider's name."""
    url = choice.endpoint.base_url
    is_usual = choice.about.cloud or url == choice.about.base_url
    return choice.provider if is_usual else f"{choice.provider} at {url}"


def _thinking(choice: Choice, wishes: Wishes) -> tuple[str, int | None]:
    """Models that count tokens do not know effort: it is turned into a budget for them.

    A model that does not think is not asked to; of a stranger the user knows best.
    """
    effort, budget = wishes.effort, wishes.thinking_budget
    is_stranger = choice.wire == "chat" and choice.facts == ModelFacts()
    if is_stranger or not effort or choice.traits.thinks in ("adaptive", "effort"):
        return effort, budget
    if choice.traits.thinks == "budget" and budget is None:
        budget = BUDGETS[effort]
    return "", budget


def _endpoint(choice: Choice, wishes: Wishes, environ: Mapping[str, str]) -> Endpoint:
    """Betas are a header, but for Bedrock, which wants them in the body."""
    url, headers = choice.endpoint.base_url, choice.endpoint.headers
    if choice.about.cloud:
        url = _cloud(choice.wire).base_url(environ)
    betas = _betas(choice, wishes)
    if betas and choice.wire in ("anthropic", "vertex"):
        headers = (*headers, ("anthropic-beta", ",".join(betas)))
    if url.startswith("https:"):
        from detent.http.tls import check

        check(environ)
    return Endpoint(url, headers)


def _cloud(wire: str) -> Any:
    from importlib import import_module

    return import_module(f"detent.models.cloud.{wire}")


def wire_of(choice: Choice, manner: Manner, environ: Mapping[str, str]) -> Wire:
    """Only the wire in use is imported."""
    match choice.wire:
        case "bedrock":
            from detent.models.cloud.bedrock import BedrockMessages
            from detent.models.protocols.anthropic_messages import AnthropicMessages

            return BedrockMessages(AnthropicMessages(manner), manner.betas)
        case "vertex":
            return _vertex(choice.model, manner, environ)
        case "anthropic":
            from detent.models.protocols.anthropic_messages import AnthropicMessages

            return AnthropicMessages(manner)
        case "responses":
            from detent.models.protocols.openai_responses import OpenAIResponses

            return OpenAIResponses(manner)
        case "gemini":
            from detent.models.protocols.gemini import Gemini

            return Gemini(manner)
        case _:
            from detent.models.protocols.openai_chat import OpenAIChat

            return OpenAIChat(manner)


def _vertex(model: str, manner: Manner, environ: Mapping[str, str]) -> Wire:
    """One cloud, two makers of models, each with its wire."""
    from detent.models.cloud.vertex import VertexGemini, VertexMessages, place

    if model.startswith("gemini"):
        from detent.models.protocols.gemini import Gemini

        return VertexGemini(Gemini(manner), place(environ))
    from detent.models.protocols.anthropic_messages import AnthropicMessages

    return VertexMessages(AnthropicMessages(manner), place(environ))
