"""A web address, read once and strictly: the host that is judged is the host that is dialled.

Programs disagree about odd addresses, and a guard that reads one otherwise than the client it
guards is none. So there is one reader; what it does not understand, it refuses.
"""

import re

from detent.http.transport import Origin, Target

MOST_CHARACTERS = 8_000
DEFAULT_PORTS = {"http": 80, "https": 443}

_PARTS = re.compile(r"(https?)://([^/?#]*)([^#]*)(?:#.*)?", re.IGNORECASE | re.DOTALL)
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"0x[0-9a-f]{0,16}|[0-9]{1,16}")
"""Bounded: a host that is one long number is none."""
_UNSAFE = re.compile(r"[^!#-;=?-\[\]_a-z~]+")
"""What may not stand in a request line as it is; a percent sign may."""


def parse_address(text: str) -> Target:
    """Its host is in lower case and ASCII, without a dot at the end; numbers are written as an
    address usually is. Raises ValueError with words for whoever wrote it."""
    text = text.strip(" ")
    if len(text) > MOST_CHARACTERS:
        raise ValueError(f"the address is longer than {MOST_CHARACTERS:,} characters")
    if "\\" in text or any(char < " " or "\x7f" <= char <= "\xa0" for char in text):
        raise ValueError("the address holds a backslash or a control character")
    match = _PARTS.fullmatch(text)
    if match is None:
        raise ValueError("the address must begin with http:// or https://")
    scheme, authority, path = match[1].lower(), match[2], match[3]
    if "@" in authority:
        raise ValueError("the address holds a user name or password; leave them out")
    host, port = _split(authority)
    path = path if path.startswith("/") else f"/{path}"
    return Target(Origin(scheme, normal_host(host), _port(port, scheme)), _quoted(path))


def normal_host(host: str) -> str:
    """One spelling for each host. Raises ValueError."""
    if host.startswith("[") and host.endswith("]"):
        return _ipv6(host[1:-1])
    name = _ascii(host).removesuffix(".")
    labels = name.split(".")
    if _NUMBER.fullmatch(labels[-1]):
        return _ipv4(labels)
    if len(name) > 253 or not all(map(_LABEL.fullmatch, labels)):
        raise ValueError(f"{host!r} is not the name of a host")
    return name


def _split(authority: str) -> tuple[str, str]:
    if authority.startswith("["):
        host, bracket, rest = authority.partition("]")
        if not bracket or (rest and not rest.startswith(":")):
            raise ValueError("the brackets around the host do not match")
        return f"{host}]", rest[1:]
    host, _, port = authority.partition(":")
    return host, port


def _port(text: str, scheme: str) -> int:
    if not text:
        return DEFAULT_PORTS[scheme]
    if not (text.isascii() and text.isdecimal() and len(text) <= 5 and 0 < int(text) < 65536):
        raise ValueError(f"{text!r} is not a port")
    return int(text)


def _ascii(host: str) -> str:
    if host.isascii():
        return host.lower()
    try:
        # Also folds letters and dots that only look like others: full width, ideographic.
        return host.encode("idna").decode().lower()
    except UnicodeError:
        raise ValueError(f"{host!r} is not the name of a host") from None


def _ipv6(text: str) -> str:
    from ipaddress import IPv6Address

    if "%" in text:
        raise ValueError("an address with a zone is of this machine's network only")
    try:
        address = IPv6Address(text)
    except ValueError:
        raise ValueError(f"{text!r} is not an IPv6 address") from None
    return str(address.ipv4_mapped or address)  # what is mapped is reached as IPv4 anyway


def _ipv4(labels: list[str]) -> str:
    """As browsers and resolvers read it: fewer parts than four, octal and hexadecimal too."""
    from ipaddress import IPv4Address

    fault = ValueError(f"{'.'.join(labels)[:100]!r} is not an IPv4 address")
    if len(labels) > 4 or not all(_NUMBER.fullmatch(label) for label in labels):
        raise fault
    try:
        *first, last = map(_number, labels)
    except ValueError:
        raise fault from None
    if any(part > 255 for part in first) or last >= 256 ** (4 - len(first)):
        raise fault
    return str(IPv4Address(last + sum(part << (24 - 8 * n) for n, part in enumerate(first))))


def _number(text: str) -> int:
    if text.startswith("0x"):
        return int(text[2:] or "0", 16)
    return int(text, 8 if text.startswith("0") else 10)


def _quoted(path: str) -> str:
    """Whatever else a model writes, such as spaces and letters with accents, is encoded."""

    def encoded(match: re.Match[str]) -> str:
        return "".join(f"%{byte:02X}" for byte in match[0].encode("utf-8", "replace"))

    return _UNSAFE.sub(encoded, path)
