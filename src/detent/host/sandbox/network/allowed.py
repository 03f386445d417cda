"""Which hosts a sandbox may reach. Names are compared label by label, never as text."""

from collections.abc import Sequence

from msgspec import Struct

from detent.http.addresses import normal_host

SETTING = "sandbox.network.allowedDomains"
DENYING = "sandbox.network.deniedDomains"


class Place(Struct, frozen=True):
    """An entry of the list: `example.org`, `*.example.org`, `localhost:8080`, `10.0.0.7`, `*`."""

    host: str
    """In the one spelling that `normal_host` gives; empty for any."""
    is_below: bool = False
    """Not the host itself, but all that is below it."""
    port: int = 0
    """0 is any."""

    def covers(self, host: str, port: int) -> bool:
        if self.port not in (0, port):
            return False
        if not self.is_below:
            return host == self.host
        return not _is_address(host) and (not self.host or host.endswith(f".{self.host}"))


def parse_place(text: str) -> Place:
    """Raises ValueError with words for whoever wrote it."""
    host, port = _split(text)
    if host == "*":
        return Place("", is_below=True, port=port)
    is_below = host.startswith("*.")
    name = normal_host(host.removeprefix("*."))
    if is_below and _is_address(name):
        raise ValueError(f"{text!r}: an address has nothing below it; name each one")
    return Place(name, is_below, port)


class Hosts:
    """The user's two lists. Denied wins; what neither names is not reached."""

    def __init__(self, allowed: Sequence[str] = (), denied: Sequence[str] = ()) -> None:
        self._allowed = tuple(map(parse_place, allowed))
        self._denied = tuple(map(parse_place, denied))

    def why_not(self, host: str, port: int) -> str:
        """Empty when it may be reached."""
        if any(place.covers(host, port) for place in self._denied):
            return f"the setting {DENYING} names it"
        if not any(place.covers(host, port) for place in self._allowed):
            return f"it is not in the setting {SETTING}"
        return ""

    def is_named(self, host: str, port: int) -> bool:
        """Exactly, so that the user must know that it may be inside."""
        return any(not place.is_below and place.covers(host, port) for place in self._allowed)

    @property
    def own(self) -> frozenset[str]:
        """Names of this machine that are on the list: they are reached from outside the sandbox,
        and not in it."""
        return LOCAL & {place.host for place in self._allowed}


LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})


def _split(text: str) -> tuple[str, int]:
    if not text or any(char <= " " or char in "/\\@\x7f" for char in text):
        raise ValueError(f"{text!r} is not the name of a host")
    host, colon, port = text.rpartition(":")
    if not colon or text.endswith("]"):
        return text, 0
    if not (port.isascii() and port.isdecimal() and len(port) <= 5 and 0 < int(port) < 65536):
        raise ValueError(f"{text!r}: {port!r} is not a port")
    return host, int(port)


def _is_address(host: str) -> bool:
    return ":" in host or host.rpartition(".")[2].isdecimal()
