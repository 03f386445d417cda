"""Which model, where, and as whom: from a name, the environment and the catalog."""

from collections.abc import Mapping

from msgspec import Struct

from detent.models.catalog import Catalog, ModelFacts, ProviderFacts
from detent.models.client import Conduct, HttpModel
from detent.models.protocols.wire import Endpoint, Wire
from detent.models.retry import RetryPolicy
from detent.models.transport import Transport, parse_target
from detent.models.watch import Timers
from detent.ports import Clock
from detent.types.errors import BadInput, NoModel


class Choice(Struct, frozen=True):
    """A model that can be reached."""

    provider: str
    model: str
    wire: str
    endpoint: Endpoint
    facts: ModelFacts


class Wishes(Struct, frozen=True):
    """What the user said about models, beyond the environment."""

    fallbacks: tuple[str, ...] = ()
    timers: Timers = Timers()
    retry: RetryPolicy = RetryPolicy()


def choose(wanted: str, environ: Mapping[str, str], known: Catalog) -> Choice:
    """`PROVIDER/NAME`, an alias, a bare name, or nothing: then the environment decides."""
    prefix, slash, rest = wanted.partition("/")
    if slash and prefix in known.providers:
        return _at(prefix, rest, environ, known)
    wanted = known.aliases.get(wanted, wanted)
    return _at(_provider_for(wanted, environ, known), wanted, environ, known)


def _provider_for(model: str, environ: Mapping[str, str], known: Catalog) -> str:
    anthropic = _first(environ, ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"))
    openai = _first(environ, ("OPENAI_API_KEY", "OPENAI_BASE_URL"))
    if model.startswith("claude") and anthropic:
        return "anthropic"
    if model.startswith(("gpt-", "o1", "o3", "o4")) and openai:
        return "openai"
    if anthropic:
        return "anthropic"
    if openai:
        return "openai"
    for name, facts in known.providers.items():
        if _first(environ, facts.token_from) or (not facts.token_from and _reached(facts, environ)):
            return name
    raise NoModel("no model is configured")


def _reached(facts: ProviderFacts, environ: Mapping[str, str]) -> bool:
    return not facts.key_from and bool(_first(environ, facts.base_url_from))


def _at(provider: str, model: str, environ: Mapping[str, str], known: Catalog) -> Choice:
    facts = known.providers[provider]
    model = known.aliases.get(model, model) or _first(environ, facts.model_from) or facts.model
    model = known.aliases.get(model, model)
    if not model:
        raise BadInput(f"name the model: --model {provider}/NAME")
    headers = _auth(facts, environ)
    if not headers and (facts.key_from or facts.token_from) and not _is_own(facts, environ):
        names = " or ".join((*facts.key_from, *facts.token_from))
        raise NoModel(f"{provider} needs a key: set {names}")
    if facts.wire == "anthropic":
        headers = (*headers, ("anthropic-version", "2023-06-01"))
    endpoint = Endpoint(_base_url(facts, environ), headers)
    return Choice(provider, model, facts.wire, endpoint, known.facts(model))


def _is_own(facts: ProviderFacts, environ: Mapping[str, str]) -> bool:
    """A server the user named by address may need no key."""
    return bool(_first(environ, facts.base_url_from))


def _auth(facts: ProviderFacts, environ: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    if key := _secret(environ, facts.key_from):
        return (("x-api-key", key),)
    if token := _secret(environ, facts.token_from):
        return (("authorization", f"Bearer {token}"),)
    return ()


def _secret(environ: Mapping[str, str], names: tuple[str, ...]) -> str:
    """A key that holds a line end would become a header of its own."""
    secret = _first(environ, names).strip()
    if not all("!" <= char <= "~" for char in secret):
        raise BadInput(f"{' or '.join(names)} holds characters that no key has")
    return secret


def _base_url(facts: ProviderFacts, environ: Mapping[str, str]) -> str:
    url = (_first(environ, facts.base_url_from) or facts.base_url).rstrip("/")
    if "://" not in url:
        url = f"http://{url}"
    _check_address(url, facts)
    if facts.wire == "anthropic":
        return url.removesuffix("/v1")
    return url if facts.model or url.endswith("/v1") else f"{url}/v1"


def _check_address(url: str, facts: ProviderFacts) -> None:
    try:
        origin = parse_target(url).origin
    except ValueError as error:
        raise BadInput(f"{' or '.join(facts.base_url_from)}: {error}") from None
    if origin.scheme not in ("http", "https") or not origin.host:
        raise BadInput(f"{' or '.join(facts.base_url_from)}: {url!r} is not a web address")


def _first(environ: Mapping[str, str], names: tuple[str, ...]) -> str:
    return next((environ[name] for name in names if environ.get(name)), "")


def fallbacks_for(choice: Choice, names: tuple[str, ...], known: Catalog) -> tuple[str, ...]:
    """Fallbacks are reached as the model is: another provider would need another key."""
    found = []
    for name in names:
        prefix, slash, rest = name.partition("/")
        is_provider = bool(slash) and prefix in known.providers
        if is_provider and prefix != choice.provider:
            raise BadInput(f"the fallback model {name} is not of the provider {choice.provider}")
        plain = rest if is_provider else name
        found.append(known.aliases.get(plain, plain))
    return tuple(found)


def build(choice: Choice, wishes: Wishes, clock: Clock, environ: Mapping[str, str]) -> HttpModel:
    conduct = Conduct(
        window=choice.facts.window,
        max_output=choice.facts.max_output,
        fallbacks=wishes.fallbacks,
        retry=wishes.retry,
        timers=wishes.timers,
    )
    return HttpModel(
        choice.model,
        wire=_wire(choice.wire, environ),
        endpoint=choice.endpoint,
        transport=Transport(environ),
        clock=clock,
        conduct=conduct,
    )


def _wire(name: str, environ: Mapping[str, str]) -> Wire:
    """Only the wire in use is imported."""
    if name == "anthropic":
        from detent.models.protocols.anthropic_messages import AnthropicMessages

        return AnthropicMessages(caching=not environ.get("DISABLE_PROMPT_CACHING"))
    from detent.models.protocols.openai_chat import OpenAIChat

    return OpenAIChat()
