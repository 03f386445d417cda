"""The network outside: only public hosts, and exactly the address that was checked.

A host is looked up once; each address it has must be public, and the connection goes to one of
these. So a name that means another address a moment later leads nowhere else. Where the
environment names a proxy, the proxy looks names up: then only addresses written as such and names
that always mean an inside are refused here, the rest is the proxy's to decide.
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Any
from urllib.parse import urljoin

from detent.host.page_cache import PageCache
from detent.host.public import inside, is_inside_name
from detent.http.addresses import DEFAULT_PORTS, parse_address
from detent.http.body import beginning
from detent.http.exchange import Exchange
from detent.http.transport import Origin, Target, Transport
from detent.ports import Page
from detent.types.errors import ModelFailure
from detent.types.version import VERSION

MOST_REDIRECTS = 5
USUAL = {
    "user-agent": f"detent/{VERSION}",
    "accept": "text/markdown, text/html;q=0.9, text/plain;q=0.8, */*;q=0.5",
    "accept-encoding": "gzip, deflate",
    "connection": "close",
}

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""Host and port to addresses."""


class OpenWeb:
    """`may_reach` names hosts, with or without a port, that need not be public."""

    def __init__(
        self,
        environ: Mapping[str, str],
        now: Callable[[], float],
        *,
        may_reach: Collection[str] = (),
        resolve: Resolve | None = None,
    ) -> None:
        self._resolve = resolve or _resolved
        self._may_reach = frozenset(map(_normal_place, may_reach))
        self._transport = Transport(_anonymous(environ), self._lookup)
        self._cache = PageCache(now)

    async def get(
        self, url: str, *, most: int, seconds: float, headers: Mapping[str, str] = {}
    ) -> Page:
        target = _parsed(url)
        if headers:  # they may say who asks: such an answer is for nobody else
            return await self._answer("GET", target, b"", most, seconds, headers)
        if page := self._cache.find(target.url, most):
            return page
        page = await self._answer("GET", target, b"", most, seconds, headers)
        if page.status == 200:
            self._cache.keep(target.url, most, page)
        return page

    async def post(
        self, url: str, body: bytes, *, most: int, seconds: float, headers: Mapping[str, str]
    ) -> Page:
        return await self._answer("POST", _parsed(url), body, most, seconds, headers)

    async def aclose(self) -> None:
        await self._transport.aclose()

    async def _answer(
        self,
        method: str,
        target: Target,
        body: bytes,
        most: int,
        seconds: float,
        headers: Mapping[str, str],
    ) -> Page:
        """Every failure becomes an OSError with words."""
        host = target.origin.host
        try:
            async with asyncio.timeout(seconds):
                return await self._followed(method, target, body, most, headers)
        except TimeoutError:
            raise TimeoutError(f"{host} did not answer in time") from None
        except ModelFailure as failure:
            raise OSError(f"{host}: {failure.message}") from None
        except socket.gaierror as error:
            raise OSError(f"the host {host} was not found: {error.strerror}") from None
        except PermissionError:
            raise
        except OSError as error:
            raise OSError(f"{host}: {error.strerror or error}") from None

    async def _followed(
        self, method: str, target: Target, body: bytes, most: int, headers: Mapping[str, str]
    ) -> Page:
        for _ in range(MOST_REDIRECTS + 1):
            self._check(target.origin)
            exchange = await self._transport.ask(method, target, {**USUAL, **headers}, body)
            try:
                elsewhere = _redirected(target, exchange)
                if elsewhere is None:
                    return await _page(target, exchange, most)
            finally:
                exchange.abort()
            if method != "GET" or not _leads_on(target.origin, elsewhere.origin, bool(headers)):
                return Page(target.url, exchange.status, "", b"", moved_to=elsewhere.url)
            target = elsewhere
        raise OSError(f"it redirects more than {MOST_REDIRECTS} times")

    def _check(self, origin: Origin) -> None:
        """What can be told without a lookup; a proxy gets no further check."""
        if self._is_exempt(origin):
            return
        if origin.port < 1024 and origin.port not in DEFAULT_PORTS.values():
            raise PermissionError(f"port {origin.port} is not one of web servers")
        if is_inside_name(origin.host):
            raise _refusal(origin.host, "a name inside a private network")
        if what := _literally_inside(origin.host):
            raise _refusal(origin.host, what)

    async def _lookup(self, origin: Origin) -> Sequence[str]:
        found = await self._resolve(origin.host, origin.port)
        if not self._is_exempt(origin):
            for address in found:
                if what := inside(address):
                    raise _refusal(f"{origin.host} ({address})", what)
        return found

    def _is_exempt(self, origin: Origin) -> bool:
        host = _bracketed(origin.host)
        return host in self._may_reach or f"{host}:{origin.port}" in self._may_reach


def _refusal(host: str, what: str) -> PermissionError:
    return PermissionError(
        f"{host} is {what}, and only public hosts may be reached. Only the user can permit it, "
        "by naming the host in the setting webFetch.mayReach."
    )


def _parsed(url: str) -> Target:
    try:
        return parse_address(url)
    except ValueError as error:
        raise OSError(str(error)) from None


def _normal_place(text: str) -> str:
    """`Host`, `host:8080`, `[::1]:80`. Raises ValueError."""
    origin = parse_address(f"http://{text}/").origin
    has_port = text.rpartition("]")[2].count(":") == 1
    return _bracketed(origin.host) + (f":{origin.port}" if has_port else "")


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _anonymous(environ: Mapping[str, str]) -> Mapping[str, str]:
    """Without the client certificate: that is for the model's endpoint, not for any web server."""
    from detent.http.tls import IDENTITIES

    return {name: value for name, value in environ.items() if not name.startswith(IDENTITIES)}


def _literally_inside(host: str) -> str:
    try:
        return inside(host)
    except ValueError:  # a name
        return ""


async def _resolved(host: str, port: int) -> Sequence[str]:
    loop = asyncio.get_running_loop()
    found: list[Any] = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(sockaddr[0] for *_, sockaddr in found))


def _redirected(asked: Target, answer: Exchange) -> Target | None:
    location = answer.headers.get("location", "")
    if answer.status not in (301, 302, 303, 307, 308) or not location:
        return None
    try:
        # Headers are read as Latin-1, but servers write UTF-8.
        written = location.encode("latin-1").decode("utf-8", "replace")
        return parse_address(urljoin(asked.url, written))
    except ValueError as error:
        raise OSError(f"it redirects to where nobody can follow: {error}") from None


def _leads_on(old: Origin, new: Origin, is_private: bool) -> bool:
    """Whether a redirect stays with the host that was judged (`www.` in front is another one);
    what says who asks stays with its very origin."""
    if is_private or old == new:
        return old == new
    if old.host != new.host:
        return False
    became_secure = (old.scheme, old.port, new.scheme, new.port) == ("http", 80, "https", 443)
    return became_secure or (old.scheme, old.port) == (new.scheme, new.port)


async def _page(target: Target, exchange: Exchange, most: int) -> Page:
    body = await beginning(exchange, most + 1)
    kind, _, parameters = exchange.headers.get("content-type", "").partition(";")
    return Page(
        url=target.url,
        status=exchange.status,
        media_type=kind.strip().lower(),
        body=body[:most],
        charset=_charset(parameters),
        is_cut=len(body) > most,
    )


def _charset(parameters: str) -> str:
    for parameter in parameters.split(";"):
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "charset":
            return value.strip().strip("\"'").lower()
    return ""
