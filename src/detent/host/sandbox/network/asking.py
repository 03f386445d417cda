"""The head of a request to an HTTP proxy, read strictly: where it goes, and what is passed on."""

from msgspec import Struct

from detent.http.addresses import normal_host, parse_address
from detent.http.transport import Origin, Target

_OURS = frozenset(
    {b"host", b"connection", b"keep-alive", b"proxy-connection", b"proxy-authorization", b"upgrade"}
)
"""Headers between a client and its proxy, and the one that must say what the address says."""


class Asked(Struct, frozen=True):
    """`fields` are the header lines to pass on; a tunnel has none."""

    method: str
    target: Target
    fields: bytes = b""

    @property
    def is_tunnel(self) -> bool:
        return self.method == "CONNECT"

    def head(self, *, whole_address: bool, credentials: str = "") -> bytes:
        """As the server gets it, or the next proxy. One request per connection: what comes behind
        it goes nowhere else."""
        where = self.target.url if whole_address else self.target.path
        lines = f"{self.method} {where} HTTP/1.1\r\nhost: {self.target.origin.place}\r\n"
        rest = f"{credentials}connection: close\r\n\r\n"
        return lines.encode("ascii") + self.fields + rest.encode("ascii")


def read_head(head: bytes) -> Asked:
    """Raises ValueError with words for whoever asked."""
    first, *lines = head.removesuffix(b"\r\n\r\n").split(b"\r\n")
    parts = first.split(b" ")
    if len(parts) != 3 or parts[2] not in (b"HTTP/1.1", b"HTTP/1.0") or not parts[0].isalpha():
        raise ValueError("the request line is not one of HTTP/1.1")
    method, where = parts[0].decode("ascii", "replace"), parts[1].decode("latin-1")
    if method == "CONNECT":
        return Asked(method, Target(_authority(where), ""))
    target = parse_address(where)
    if target.origin.scheme != "http":
        raise ValueError("for https a proxy is asked with CONNECT")
    return Asked(method, target, _passed_on(lines))


def _authority(text: str) -> Origin:
    host, colon, port = text.rpartition(":")
    if not colon or not (port.isascii() and port.isdecimal() and 0 < int(port[:6]) < 65536):
        raise ValueError("CONNECT needs a host and a port")
    return Origin("https", normal_host(host), int(port))


def _passed_on(lines: list[bytes]) -> bytes:
    kept = b""
    for line in lines:
        name, colon, value = line.partition(b":")
        if not colon or not name or name != name.strip() or _is_odd(line):
            raise ValueError("a header line is not one")
        if name.lower() not in _OURS:
            kept += name + b":" + value + b"\r\n"
    return kept


def _is_odd(line: bytes) -> bool:
    """A line end or NUL inside: servers disagree about what that means."""
    return any(byte in line for byte in (b"\r", b"\n", b"\0"))
