"""Which addresses belong to the public internet. All others are somebody's inside: this machine,
its network, the metadata service of its cloud.
"""

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

_PRIVATE, _HERE, _KEPT = "a private network", "this machine", "kept for special uses"
_INSIDE = tuple(
    (ip_network(network), what)
    for network, what in (
        ("0.0.0.0/8", _HERE),
        ("127.0.0.0/8", _HERE),
        ("10.0.0.0/8", _PRIVATE),
        ("100.64.0.0/10", _PRIVATE),  # behind a carrier's NAT; some clouds keep metadata here
        ("172.16.0.0/12", _PRIVATE),
        ("192.168.0.0/16", _PRIVATE),
        ("169.254.0.0/16", "of the local link, where clouds keep their metadata"),
        ("168.63.129.16/32", "of the local link, where clouds keep their metadata"),
        ("192.0.0.0/24", _KEPT),
        ("192.0.2.0/24", _KEPT),
        ("192.88.99.0/24", _KEPT),
        ("198.18.0.0/15", _KEPT),
        ("198.51.100.0/24", _KEPT),
        ("203.0.113.0/24", _KEPT),
        ("224.0.0.0/4", "for many receivers"),
        ("240.0.0.0/4", _KEPT),
        ("::/127", _HERE),
        ("fc00::/7", _PRIVATE),
        ("fe80::/10", "of the local link"),
        ("fec0::/10", _PRIVATE),
        ("ff00::/8", "for many receivers"),
        ("2001::/23", _KEPT),  # Teredo among them: it can lead to any IPv4 address
        ("2001:db8::/32", _KEPT),
        ("3fff::/20", _KEPT),
    )
)
_GLOBAL = ip_network("2000::/3")
_CARRYING = tuple(map(ip_network, ("64:ff9b::/96", "::ffff:0:0/96", "::/96")))
"""IPv6 networks whose last four bytes are an IPv4 address."""
_INSIDE_NAMES = (
    "localhost", "local", "localdomain", "internal", "intranet", "lan", "home", "corp", "private",
    "home.arpa",
)  # fmt: skip


def inside(address: str) -> str:
    """What an address is when it is not public; empty when it is. Raises ValueError."""
    ip = ip_address(address.partition("%")[0])
    for network, what in _INSIDE:
        if ip.version == network.version and ip in network:
            return what
    if isinstance(ip, IPv4Address):
        return ""
    if (carried := _carried(ip)) is not None:
        return inside(str(carried))
    return "" if ip in _GLOBAL else _KEPT


def _carried(ip: IPv6Address) -> IPv4Address | None:
    """The IPv4 address that traffic to an IPv6 address ends up at."""
    if any(ip in network for network in _CARRYING):
        return IPv4Address(ip.packed[12:])
    if ip.sixtofour is not None:
        return ip.sixtofour
    if ip.packed[8:12] in (b"\0\0\x5e\xfe", b"\x02\0\x5e\xfe"):  # ISATAP
        return IPv4Address(ip.packed[12:])
    return None


def is_inside_name(host: str) -> bool:
    """Names that mean something only inside, whoever resolves them; those without a dot do too."""
    is_name = not host.replace(".", "").isdecimal() and ":" not in host
    labels = host.split(".")
    kinds = (labels[-1], ".".join(labels[-2:]))
    return is_name and (len(labels) == 1 or any(kind in _INSIDE_NAMES for kind in kinds))
