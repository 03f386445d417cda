"""The way out of a sandbox: names are looked up here only, and what was checked is dialled."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence

from msgspec import Struct

from detent.host.public import inside, is_inside_name
from detent.host.sandbox.network.allowed import SETTING, Hosts
from detent.http.proxy import open_forwarding, open_tunnel, proxy_for
from detent.http.transport import Origin

CONNECT_TIMEOUT = 30.0
ADDRESS_TIMEOUT = 10.0
"""For one address of several."""

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""Host and port to addresses."""


class RefusedHost(Exception):
    """The sentence is for whoever wanted to go there."""

    def __init__(self, host: str, why: str) -> None:
        super().__init__(f"The sandbox does not let commands reach {host}: {why}.")
        self.host = host


class Way(Struct, frozen=True):
    """An open connection."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    forwards: bool = False
    """It leads to another proxy, which must be told the whole address."""
    credentials: str = ""
    """A header line for that proxy."""


class Outward:
    def __init__(
        self, hosts: Hosts, environ: Mapping[str, str], resolve: Resolve | None = None
    ) -> None:
        """`environ` is the user's: it may name a proxy on the way out."""
        self._hosts, self._environ = hosts, environ
        self._resolve = resolve or _resolved

    async def open(self, origin: Origin) -> Way:
        """Raises RefusedHost, or OSError when it cannot be reached."""
        if why := self._hosts.why_not(origin.host, origin.port):
            raise RefusedHost(origin.host, why)
        async with asyncio.timeout(CONNECT_TIMEOUT):
            if proxy := proxy_for(origin, self._environ):
                self._check_unresolved(origin)
                return await _through(proxy, origin)
            return await self._straight(origin)

    def _check_unresolved(self, origin: Origin) -> None:
        """The other proxy looks names up; these mean an inside whoever does. An address got here
        only because it is named."""
        is_named = self._hosts.is_named(origin.host, origin.port)
        if not is_named and is_inside_name(origin.host):
            raise _inside(origin.host, "a name inside a private network")

    async def _straight(self, origin: Origin) -> Way:
        addresses = await self._resolve(origin.host, origin.port)
        if not self._hosts.is_named(origin.host, origin.port):
            for address in addresses:
                if what := inside(address):
                    raise _inside(origin.host, f"{address}, {what}")
        failure = OSError(f"{origin.host} has no address")
        for address in addresses:
            try:
                async with asyncio.timeout(ADDRESS_TIMEOUT):
                    return Way(*await asyncio.open_connection(address, origin.port))
            except OSError as error:  # TimeoutError is one
                failure = error
        raise failure


def _inside(host: str, what: str) -> RefusedHost:
    return RefusedHost(
        host, f"it is {what}, and only a host that {SETTING} names exactly may be that"
    )


async def _through(proxy: str, origin: Origin) -> Way:
    from detent.types.errors import ModelFailure

    try:
        if origin.scheme == "http":
            reader, writer, credentials = await open_forwarding(proxy)
            return Way(reader, writer, forwards=True, credentials=credentials)
        return Way(*await open_tunnel(proxy, origin))
    except ModelFailure as failure:  # a wrong setting
        raise OSError(failure.message) from None


async def _resolved(host: str, port: int) -> Sequence[str]:
    import socket

    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(sockaddr[0]) for *_, sockaddr in found))
