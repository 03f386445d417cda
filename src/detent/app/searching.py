"""The web as the user's settings have it: who is asked to search, and which hosts may be reached.

    "webSearch": {"provider": "brave", "apiKeyEnv": "MY_KEY", "url": …, "maxResults": 10}
    "webFetch": {"mayReach": ["wiki.corp.example", "127.0.0.1:8000"]}

Without the first, a variable that holds a key or an address decides.
"""

from collections.abc import Mapping
from typing import Any, Literal

import msgspec
from msgspec import Struct

from detent.app.settings.record import Settings
from detent.http.addresses import parse_address
from detent.tools.web.engines import PROVIDERS, Engine
from detent.types.errors import BadInput

SEARXNG = "SEARXNG_URL"
NATIVE: dict[str, dict[str, Any]] = {
    "anthropic": {"type": "web_search_20250305", "name": "web_search", "max_uses": 8},
    "responses": {"type": "web_search"},
}
"""By wire: how a provider is told to search by itself."""


class _Search(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    provider: Literal["brave", "tavily", "searxng", "native"]
    url: str = ""
    api_key_env: str = ""
    max_results: int = 10


class _Fetch(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    may_reach: tuple[str, ...] = ()


def checked_search(given: Mapping[str, Any], name: str) -> dict[str, Any]:
    """As it was given. Raises BadInput."""
    if not given:
        return {}
    try:
        search = msgspec.convert(given, _Search)
        if search.url:
            parse_address(search.url)
        if not 1 <= search.max_results <= 20:
            raise ValueError("maxResults lies between 1 and 20")
    except ValueError as error:
        raise BadInput(f"{name}: webSearch: {error}") from None
    return dict(given)


def checked_hosts(given: Mapping[str, Any], name: str) -> tuple[str, ...]:
    try:
        hosts = msgspec.convert(given, _Fetch).may_reach
        for host in hosts:
            if "/" in host:
                raise ValueError(f"{host!r}: name a host, or host:port")
            parse_address(f"http://{host}/")
    except ValueError as error:
        raise BadInput(f"{name}: webFetch.mayReach: {error}") from None
    return hosts


def engine_of(settings: Settings, environ: Mapping[str, str]) -> Engine | None:
    """None when nobody is there to be asked by us."""
    search = _wanted(settings, environ)
    if search is None or search.provider == "native":
        return None
    about = PROVIDERS[search.provider]
    url = search.url or about.url or environ.get(SEARXNG, "")
    variable = search.api_key_env or about.key_from
    if not url or (about.key_from and not environ.get(variable)):
        return None
    return Engine(search.provider, url, lambda: environ.get(variable, ""), search.max_results)


def why_nobody_searches(settings: Settings, environ: Mapping[str, str]) -> str:
    """Empty where somebody does; a provider may do it by itself."""
    search = _wanted(settings, environ)
    if search is None:
        return "no search provider is set up (webSearch in the settings)"
    if search.provider == "native" or engine_of(settings, environ) is not None:
        return ""
    about = PROVIDERS[search.provider]
    if about.key_from:
        return f"{search.provider} needs a key in {search.api_key_env or about.key_from}"
    return f"{search.provider} needs its url (webSearch.url, or {SEARXNG})"


def _wanted(settings: Settings, environ: Mapping[str, str]) -> _Search | None:
    if settings.web_search:
        return msgspec.convert(settings.web_search, _Search)
    if environ.get("BRAVE_API_KEY"):
        return _Search("brave")
    if environ.get("TAVILY_API_KEY"):
        return _Search("tavily")
    if url := environ.get(SEARXNG):
        try:
            parse_address(url)
        except ValueError as error:
            raise BadInput(f"{SEARXNG}: {error}") from None
        return _Search("searxng", url)
    return None


def reachable(settings: Settings, environ: Mapping[str, str]) -> tuple[str, ...]:
    """What the user has named need not be public: hosts, and the search provider's address."""
    engine = engine_of(settings, environ)
    if engine is None or engine.url == PROVIDERS[engine.provider].url:
        return settings.may_reach
    origin = parse_address(engine.url).origin
    host = f"[{origin.host}]" if ":" in origin.host else origin.host
    return (*settings.may_reach, f"{host}:{origin.port}")
