"""How each search provider is asked and what it answers: pure functions, one pair each."""

import html
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

import msgspec
from msgspec import Struct

from detent.http.addresses import normal_host, parse_address

MOST_TITLE, MOST_SNIPPET = 200, 500


class Engine(Struct, frozen=True):
    """Where to search. The key is asked for when it is sent, so that it lies nowhere meanwhile."""

    provider: str
    url: str
    key: Callable[[], str]
    most: int = 10


class Query(Struct, frozen=True):
    text: str
    allowed: tuple[str, ...] = ()
    blocked: tuple[str, ...] = ()
    """Domains, in normal form."""


class Asking(Struct, frozen=True):
    """A request; without a body it is a GET."""

    url: str
    headers: Mapping[str, str]
    body: bytes = b""


class Hit(Struct, frozen=True):
    title: str
    url: str
    snippet: str


def _asking_brave(engine: Engine, query: Query) -> Asking:
    fields = {"q": _with_sites(query), "count": min(engine.most, 20), "text_decorations": "false"}
    headers = {"accept": "application/json", "x-subscription-token": engine.key()}
    return Asking(f"{engine.url}?{urlencode(fields)}", headers)


def _asking_tavily(engine: Engine, query: Query) -> Asking:
    body = {
        "query": query.text,
        "max_results": min(engine.most, 20),
        "include_domains": query.allowed,
        "exclude_domains": query.blocked,
    }
    headers = {"content-type": "application/json", "authorization": f"Bearer {engine.key()}"}
    return Asking(engine.url, headers, msgspec.json.encode(body))


def _asking_searxng(engine: Engine, query: Query) -> Asking:
    fields = {"q": _with_sites(query), "format": "json"}
    headers = {"accept": "application/json"}
    if key := engine.key():
        headers["authorization"] = f"Bearer {key}"
    return Asking(f"{engine.url.rstrip('/')}/search?{urlencode(fields)}", headers)


def _with_sites(query: Query) -> str:
    """The notation that search engines share; some heed it, so the hits are sifted all the same."""
    sites = " OR ".join(f"site:{domain}" for domain in query.allowed)
    return f"{query.text} ({sites})" if " OR " in sites else f"{query.text} {sites}".strip()


class Provider(Struct, frozen=True):
    url: str
    key_from: str
    """The variable that holds the key."""
    ask: Callable[[Engine, Query], Asking]
    results: Callable[[Any], Any]
    snippet: str


PROVIDERS = {
    "brave": Provider(
        "https://api.search.brave.com/res/v1/web/search",
        "BRAVE_API_KEY",
        _asking_brave,
        lambda answer: answer["web"]["results"] if "web" in answer else [],
        "description",
    ),
    "tavily": Provider(
        "https://api.tavily.com/search",
        "TAVILY_API_KEY",
        _asking_tavily,
        lambda answer: answer["results"],
        "content",
    ),
    "searxng": Provider("", "", _asking_searxng, lambda answer: answer["results"], "content"),
}


def hits_in(engine: Engine, data: bytes) -> list[Hit]:
    """Raises ValueError for what is no answer; a hit that is none is left out."""
    provider = PROVIDERS[engine.provider]
    try:
        results = provider.results(msgspec.json.decode(data, type=dict[str, Any]))
        if not isinstance(results, list):
            raise TypeError
    except (msgspec.DecodeError, KeyError, TypeError, RecursionError):
        raise ValueError(f"{engine.provider} gave an answer that is none") from None
    found = (_hit(result, provider.snippet) for result in results)
    return [hit for hit in found if hit is not None]


def _hit(result: Any, snippet: str) -> Hit | None:
    if not isinstance(result, dict):
        return None
    try:
        url = parse_address(str(result.get("url"))).url
    except ValueError:
        return None
    title = _plain(result.get("title"), MOST_TITLE)
    return Hit(title or url, url, _plain(result.get(snippet), MOST_SNIPPET))


def _plain(text: Any, most: int) -> str:
    """One line, without the marks that engines put around what was searched for."""
    bare = html.unescape(re.sub(r"</?(?:strong|b|em|mark|span)\b[^>]{0,100}>", "", str(text or "")))
    return " ".join("".join(char if char.isprintable() else " " for char in bare).split())[:most]


def domain(text: str) -> str:
    """`https://Docs.Example.com/x` and `docs.example.com` are the same. Raises ValueError."""
    if "://" in text:
        return parse_address(text).origin.host
    return normal_host(text.strip().partition("/")[0].removeprefix("*."))


def sifted(hits: Sequence[Hit], query: Query) -> list[Hit]:
    """By whole labels: `example.com` is not the end of `badexample.com`."""

    def is_wanted(hit: Hit) -> bool:
        host = parse_address(hit.url).origin.host
        is_allowed = not query.allowed or any(_is_below(host, name) for name in query.allowed)
        return is_allowed and not any(_is_below(host, name) for name in query.blocked)

    return [hit for hit in hits if is_wanted(hit)]


def _is_below(host: str, domain: str) -> bool:
    return host == domain or host.endswith(f".{domain}")
