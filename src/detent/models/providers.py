"""Which model, where, and as whom: from a name, the environment and the catalog."""

from collections.abc import Mapping

from msgspec import Struct

from detent.http.transport import parse_target
from detent.models.catalog import Catalog, ModelFacts, ProviderFacts, Traits
from detent.models.credentials import is_printable
from detent.models.protocols.wire import Endpoint
from detent.types.errors import BadInput, NoModel


class Choice(Struct, frozen=True):
    """A model that can be reached."""

    provider: str
    model: str
    wire: str
    endpoint: Endpoint
    facts: ModelFacts
    traits: Traits = Traits()
    about: ProviderFacts = ProviderFacts("chat")
    secret: tuple[tuple[str, str], ...] = ()
    """The header that says who we are; empty where nobody asks or something else must tell."""


def choose(wanted: str, environ: Mapping[str, str], known: Catalog) -> Choice:
    """`PROVIDER/NAME`, an alias, a bare name, or nothing: then the environment decides."""
    prefix, slash, rest = wanted.partition("/")
    if slash and prefix in known.providers:
        return _at(prefix, rest, environ, known)
    wanted = alias(wanted, environ, known)
    provider = _provider_for(wanted, environ, known)
    if not provider:
        raise NoModel(_what_is_wrong(wanted, known) or "no model is configured")
    if slash and not _takes_slashes(known.providers[provider], environ):
        raise BadInput(_no_such_provider(prefix, known))
    return _at(provider, wanted, environ, known)


def alias(name: str, environ: Mapping[str, str], known: Catalog) -> str:
    """`sonnet` and its kin; the environment may say which model is meant.

    Others write `opus[1m]` for a long window, `opusplan` and `default`.
    """
    name = name.removesuffix("[1m]")
    name = {"opusplan": "opus", "default": ""}.get(name, name)
    if name not in known.aliases:
        return name
    return environ.get(f"ANTHROPIC_DEFAULT_{name.upper()}_MODEL") or known.aliases[name]


def _takes_slashes(facts: ProviderFacts, environ: Mapping[str, str]) -> bool:
    """A server of the user's own names its models as it likes: `Qwen/Qwen3-Coder`."""
    return facts.names_with_slash or _is_own(facts, environ)


def _what_is_wrong(wanted: str, known: Catalog) -> str:
    """With a name that leads nowhere: was it meant for something else? Empty when nobody knows."""
    prefix, slash, _ = wanted.partition("/")
    if slash:
        return _no_such_provider(prefix, known)
    if wanted in known.providers:
        return f"name the model: --model {wanted}/NAME"
    from difflib import get_close_matches

    near = get_close_matches(wanted, ("embedded", *known.aliases), n=1, cutoff=0.75)
    return f"there is no model {wanted}; did you mean {near[0]}?" if near else ""


def _no_such_provider(prefix: str, known: Catalog) -> str:
    from difflib import get_close_matches

    near = get_close_matches(prefix, known.providers, n=1)
    hint = f"; did you mean {near[0]}/…?" if near else f"; known are {', '.join(known.providers)}"
    return f"there is no provider {prefix}{hint}"


def _provider_for(model: str, environ: Mapping[str, str], known: Catalog) -> str:
    """Who is meant by the name, if we can go there; else the first we can go to, if any."""
    maker = next((name for name, facts in known.providers.items() if _made(model, facts)), "")
    if maker and (_open_to_us(known.providers[maker], environ) or _own(maker, environ, known)):
        return maker
    provider = _first_open(environ, known)
    if maker and (not provider or not _sells_others(provider, environ, known)):
        names = " or ".join((*known.providers[maker].key_from, *known.providers[maker].token_from))
        raise NoModel(f"{model} is a model of {maker}, which needs a key: set {names}")
    return provider


def _made(model: str, facts: ProviderFacts) -> bool:
    return bool(model) and model.startswith(facts.prefixes)


def _own(name: str, environ: Mapping[str, str], known: Catalog) -> bool:
    return _is_own(known.providers[name], environ)


def _sells_others(name: str, environ: Mapping[str, str], known: Catalog) -> bool:
    """A gateway has models of many makers; a maker at its own address only its own."""
    facts = known.providers[name]
    return not facts.prefixes or _is_own(facts, environ)


def _first_open(environ: Mapping[str, str], known: Catalog) -> str:
    if _open_to_us(known.providers["anthropic"], environ):
        return "anthropic"
    if _first(environ, ("OPENAI_API_KEY", "OPENAI_BASE_URL")):
        return "openai"
    for name, facts in known.providers.items():
        if _open_to_us(facts, environ) or (not facts.cloud and _is_local(facts, environ)):
            return name
    return ""


def _open_to_us(facts: ProviderFacts, environ: Mapping[str, str]) -> bool:
    return bool(facts.key_helper or _first(environ, (*facts.key_from, *facts.token_from)))


def _is_local(facts: ProviderFacts, environ: Mapping[str, str]) -> bool:
    """Needs no key, and the user said where it is."""
    return not facts.key_from and bool(_first(environ, facts.base_url_from))


def _at(provider: str, model: str, environ: Mapping[str, str], known: Catalog) -> Choice:
    facts = known.providers[provider]
    model = model or _first(environ, facts.model_from) or facts.model
    model = alias(model, environ, known)
    if not model:
        raise BadInput(f"name the model: --model {provider}/NAME")
    secret = _auth(facts, environ)
    if not secret and _needs_key(facts, environ):
        names = " or ".join((*facts.key_from, *facts.token_from))
        raise NoModel(f"{provider} needs a key: set {names}")
    traits = known.traits_of(model, provider)
    wire = facts.wire
    if facts.own_wire and traits.wire == facts.own_wire and not _is_own(facts, environ):
        wire = facts.own_wire
    return Choice(
        provider,
        model,
        wire,
        Endpoint(base_url(provider, facts, environ, wire), _headers(provider, facts, environ)),
        known.facts(model, provider),
        traits,
        facts,
        secret,
    )


def _needs_key(facts: ProviderFacts, environ: Mapping[str, str]) -> bool:
    """Not a server on this machine, nor one the user named by address: they may ask for none."""
    if facts.oauth or facts.key_helper or _is_own(facts, environ):
        return False
    if facts.base_url_from and facts.base_url.startswith("http://127."):
        return False
    return bool(facts.key_from or facts.token_from)


def _headers(
    provider: str, facts: ProviderFacts, environ: Mapping[str, str]
) -> tuple[tuple[str, str], ...]:
    """The provider's own, and those the environment adds for one of them."""
    headers = {"anthropic-version": "2023-06-01"} if facts.wire == "anthropic" else {}
    headers |= facts.headers
    if provider == "anthropic":
        for line in environ.get("ANTHROPIC_CUSTOM_HEADERS", "").splitlines():
            name, colon, value = line.partition(":")
            if colon and name.strip():
                headers[name.strip().lower()] = value.strip()
    for name, value in headers.items():
        if not is_printable(name) or not is_printable(value.replace(" ", "")):
            raise BadInput(f"the header {name!r} holds characters that no header has")
    return tuple(headers.items())


def _is_own(facts: ProviderFacts, environ: Mapping[str, str]) -> bool:
    """A server the user named by address may need no key."""
    return bool(_first(environ, facts.base_url_from))


def _auth(facts: ProviderFacts, environ: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    if key := _secret(environ, facts.key_from):
        return ((facts.key_header, key),)
    if token := _secret(environ, facts.token_from):
        return (("authorization", f"Bearer {token}"),)
    return ()


def _secret(environ: Mapping[str, str], names: tuple[str, ...]) -> str:
    """A key that holds a line end would become a header of its own."""
    secret = _first(environ, names).strip()
    if not is_printable(secret):
        raise BadInput(f"{' or '.join(names)} holds characters that no key has")
    return secret


def base_url(
    provider: str, facts: ProviderFacts, environ: Mapping[str, str], wire: str = ""
) -> str:
    given = _first(environ, facts.base_url_from)
    url = (given or facts.base_url).rstrip("/")
    if not url and facts.cloud:
        return ""  # the cloud's region decides
    if not url:
        raise NoModel(f"{provider} needs an address: set {' or '.join(facts.base_url_from)}")
    if "://" not in url:
        url = f"http://{url}"
    source = " or ".join(facts.base_url_from) or f"providers.{provider}"
    _check_address(url, source)
    if given and facts.path and not url.endswith(facts.path):
        url += facts.path
    return _with_version(url, wire or facts.wire, facts)


def _with_version(url: str, wire: str, facts: ProviderFacts) -> str:
    """People give the address with or without the version behind it."""
    if wire == "anthropic":
        return url.removesuffix("/v1")
    if wire == "gemini":
        return url if url.rpartition("/")[2].startswith("v1") else f"{url}/v1beta"
    return url if facts.model or facts.path or url.endswith("/v1") else f"{url}/v1"


def _check_address(url: str, source: str) -> None:
    try:
        origin = parse_target(url).origin
    except ValueError as error:
        raise BadInput(f"{source}: {error}") from None
    if url.startswith(("unix://", "http+unix://")):
        return
    if origin.scheme not in ("http", "https") or not origin.host:
        raise BadInput(f"{source}: {url!r} is not a web address")


def _first(environ: Mapping[str, str], names: tuple[str, ...]) -> str:
    return next((environ[name] for name in names if environ.get(name)), "")
