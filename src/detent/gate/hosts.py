"""Which hosts rules name, and which hosts no rule names by the way.

An address of a cloud machine's metadata gives its keys to whoever asks, so it is refused unless a
rule names it exactly; what is private to this network is not meant by `*`.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from detent.http.addresses import normal_host, parse_address
from detent.ports import Proposal
from detent.types.effects import Connects

UNKNOWN = "*"
"""The host of an effect that may reach anything."""

_METADATA_NAMES = frozenset(
    {"metadata.google.internal", "metadata.goog", "metadata", "instance-data",
     "instance-data.ec2.internal", "metadata.azure.internal", "metadata.tencentyun.com"}
)  # fmt: skip
_METADATA_ADDRESSES = frozenset(
    {"100.100.100.200", "168.63.129.16", "192.0.0.192", "fd00:ec2::254", "fd20:ce::254"}
)
_LOCAL_ENDINGS = (".localhost", ".local", ".internal", ".lan", ".home.arpa", ".intranet", ".corp")
_CARRIERS = ("64:ff9b::/96", "2002::/16", "::/96")
"""Networks of IPv6 whose addresses hold one of IPv4."""
_WEB = r"(?i:https?)://"


def hosts_of(proposal: Proposal) -> tuple[str, ...]:
    """Every host that a call reaches, in one spelling; `*` when that is not known."""
    declared = [effect.host for effect in proposal.effects if isinstance(effect, Connects)]
    if not declared and proposal.tool == "WebFetch":
        declared = [host_of(proposal.arguments.get("url"))]
    return tuple(host if host == UNKNOWN else spelled(host) for host in declared)


def host_of(url: Any) -> str:
    """Also of an address that would not be dialled, such as one with a password in it."""
    text = url if isinstance(url, str) else ""
    if "\\" in text:
        return UNKNOWN  # what stands behind it is the host for some, and a path for others
    try:
        return parse_address(text).origin.host
    except ValueError:
        authority = re.sub(r"^[A-Za-z][\w+.-]*:(//)?", "", text.strip())
        authority = re.split(r"[/?#]", authority, maxsplit=1)[0].rpartition("@")[2]
        return spelled(re.sub(r":[0-9]*$", "", authority))


def has_odd_scheme(proposal: Proposal) -> bool:
    url = proposal.arguments.get("url")
    if proposal.tool != "WebFetch" or not isinstance(url, str):
        return False
    return re.match(_WEB, url.strip()) is None


@lru_cache(512)
def spelled(host: str) -> str:
    """The one spelling of a host, or the text itself in lower case where there is none."""
    host = host.strip()
    if ":" in host and not host.startswith("["):
        host = f"[{host}]"
    try:
        return normal_host(host)
    except ValueError:
        return (host.strip("[]") if ":" in host else host).lower().rstrip(".")


def is_metadata(host: str) -> bool:
    """Metadata of cloud machines, and link-local addresses, in any spelling."""
    if host in _METADATA_NAMES:
        return True
    return any(
        str(address) in _METADATA_ADDRESSES or address.is_link_local for address in _addresses(host)
    )


def is_near(host: str) -> bool:
    """This machine, its network, or metadata: not what a person means by "any host"."""
    if is_metadata(host) or host == "localhost" or host.endswith(_LOCAL_ENDINGS):
        return True
    if "." not in host and ":" not in host:
        return True  # a name without a dot is one of the own network
    return any(not address.is_global or address.is_multicast for address in _addresses(host))


def _addresses(host: str) -> Iterator[Any]:
    """The address that a host is, and the one of IPv4 that it may carry."""
    from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

    try:
        address = ip_address(host)
    except ValueError:
        return
    yield address
    if isinstance(address, IPv6Address):
        if any(address in ip_network(carrier) for carrier in _CARRIERS):
            shift = 80 if address in ip_network("2002::/16") else 0
            yield IPv4Address(int(address) >> shift & 0xFFFFFFFF)
        if address.teredo:
            yield address.teredo[1]


def names_host(what: str, host: str) -> bool:
    """`domain:x` is x only, `*.x` any below x; `*` alone is any host, another one any label."""
    wanted = what.removeprefix("domain:").strip()
    if wanted == "*":
        return True
    below = wanted.startswith("*.")
    stem = wanted[2:] if below else wanted
    if "*" not in stem:
        stem = spelled(stem)
        return host.endswith(f".{stem}") if below else host == stem
    pattern = re.escape(stem.lower().rstrip(".")).replace(r"\*", "[^.]*")
    return re.fullmatch((r".+\." if below else "") + pattern, host) is not None


def names_exactly(what: str, host: str) -> bool:
    return what.startswith("domain:") and "*" not in what and names_host(what, host)
