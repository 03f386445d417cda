"""Providers and models of the user's own, from the settings: a few lines of data each.

"providers": {"house": {"baseUrl": "https://llm.example/v1", "apiKeyEnv": "HOUSE_KEY",
                        "models": {"big": {"window": 200000, "maxOutput": 16000}}}}
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from detent.models.catalog import ModelFacts, Price, ProviderFacts, Traits
from detent.types.errors import BadInput

WIRES = ("anthropic", "chat", "responses", "gemini")


class _Model(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    window: Annotated[int, Meta(ge=1)] = 128_000
    max_output: Annotated[int, Meta(ge=0)] = 0
    price: Price | None = None
    """Dollars per million tokens: input, output, cache read, cache write."""
    thinks: Literal["", "adaptive", "budget", "effort"] = ""
    quirks: tuple[str, ...] = ()
    profile: Literal["", "small"] = ""


class _Provider(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    base_url: str
    wire: str = "chat"
    api_key_env: str = ""
    """The variable that holds the key; with neither it nor a helper no key is sent."""
    api_key_helper: str = ""
    """A command that prints the key."""
    key_header: str = ""
    """Empty sends a bearer token."""
    model: str = ""
    headers: dict[str, str] = {}
    quirks: tuple[str, ...] = ()
    replay_thinking: Literal["never", "tool_turns", "always"] = "tool_turns"
    oauth: dict[str, str] = {}
    models: dict[str, _Model] = {}


def providers_from(
    given: Mapping[str, Any], source: str
) -> tuple[dict[str, ProviderFacts], dict[str, ModelFacts]]:
    providers: dict[str, ProviderFacts] = {}
    models: dict[str, ModelFacts] = {}
    for name, described in given.items():
        if not name or "/" in name:
            raise BadInput(f"{source}: providers: {name!r} cannot be the name of a provider")
        provider = _described(described, f"{source}: providers.{name}")
        providers[name] = _facts(provider)
        for model, facts in provider.models.items():
            models[f"{name}/{model}"] = _model_facts(facts)
    return providers, models


def _described(described: Any, where: str) -> _Provider:
    try:
        provider = msgspec.convert(described, _Provider)
    except msgspec.ValidationError as error:
        raise BadInput(f"{where}: {error}") from None
    if provider.wire not in WIRES:
        raise BadInput(f"{where}: wire is one of {', '.join(WIRES)}, not {provider.wire!r}")
    _check_quirks(provider, where)
    return provider


def _check_quirks(provider: _Provider, where: str) -> None:
    used = {*provider.quirks, *(quirk for m in provider.models.values() for quirk in m.quirks)}
    if not used:
        return
    from detent.models.protocols.chat_writing import QUIRKS

    if strange := sorted(used - set(QUIRKS)):
        raise BadInput(f"{where}: there is no quirk {strange[0]}; known are {', '.join(QUIRKS)}")


def _facts(provider: _Provider) -> ProviderFacts:
    names = (provider.api_key_env,) if provider.api_key_env else ()
    return ProviderFacts(
        wire=provider.wire,
        base_url=provider.base_url,
        model=provider.model or next(iter(provider.models), ""),
        key_from=names if provider.key_header else (),
        key_header=provider.key_header,
        token_from=() if provider.key_header else names,
        names_with_slash=True,
        headers=provider.headers,
        quirks=provider.quirks,
        replay=provider.replay_thinking,
        oauth=provider.oauth,
        key_helper=provider.api_key_helper,
    )


def _model_facts(model: _Model) -> ModelFacts:
    return ModelFacts(
        window=model.window,
        max_output=model.max_output,
        price=model.price,
        traits=Traits(thinks=model.thinks, quirks=model.quirks, profile=model.profile),
    )
