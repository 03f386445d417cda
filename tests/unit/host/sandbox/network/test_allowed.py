"""The list of hosts: labels are compared, and odd spellings lead nowhere."""

from __future__ import annotations

import pytest

from detent.host.sandbox.network.allowed import Hosts, parse_place
from detent.http.addresses import normal_host


@pytest.mark.parametrize(
    ("entry", "host", "permitted"),
    [
        ("example.org", "example.org", True),
        ("example.org", "EXAMPLE.org.", True),
        ("Example.Org.", "example.org", True),
        ("example.org", "www.example.org", False),
        ("example.org", "badexample.org", False),
        ("example.org", "example.org.evil.net", False),
        ("*.example.org", "www.example.org", True),
        ("*.example.org", "a.b.example.org", True),
        ("*.example.org", "example.org", False),
        ("*.example.org", "badexample.org", False),
        ("*", "anything.net", True),
        ("*", "10.0.0.1", False),
        ("*", "[::1]", False),
        ("10.0.0.1", "10.0.0.1", True),
        ("10.0.0.1", "0x0a.1", True),
        ("10.0.0.1", "10.0.0.2", False),
        ("[::1]", "[0:0:0:0:0:0:0:1]", True),
        ("bücher.example", "xn--bcher-kva.example", True),
    ],
)
def test_labels_are_compared(entry: str, host: str, permitted: bool) -> None:
    assert (not Hosts([entry]).why_not(normal_host(host), 443)) is permitted


def test_nothing_is_permitted_by_an_empty_list() -> None:
    assert "allowedDomains" in Hosts().why_not("example.org", 443)


def test_a_denied_host_is_denied_whatever_the_other_list_says() -> None:
    hosts = Hosts(["*.example.org", "bad.example.org"], ["bad.example.org", "*.worse.example.org"])
    assert not hosts.why_not("good.example.org", 443)
    assert "deniedDomains" in hosts.why_not("bad.example.org", 443)
    assert "deniedDomains" in hosts.why_not("a.worse.example.org", 443)


def test_a_port_limits_an_entry() -> None:
    hosts = Hosts(["localhost:8080"])
    assert not hosts.why_not("localhost", 8080)
    assert hosts.why_not("localhost", 22)
    assert hosts.is_named("localhost", 8080) and not hosts.is_named("localhost", 22)


def test_only_an_exact_entry_names_a_host() -> None:
    assert Hosts(["a.example.org"]).is_named("a.example.org", 80)
    assert not Hosts(["*.example.org", "*"]).is_named("a.example.org", 80)


@pytest.mark.parametrize(
    "text",
    [
        "", "*.", "*.*.org", "a.*.org", "exa mple.org", "example.org\0.evil.net", "example.org\n",
        "https://example.org", "example.org/path", "user@example.org", "example.org:0",
        "example.org:99999", "example.org:http", "*.10.0.0.1", "*.0.1", "-x.org", "a..b", "[::1",
    ],
)  # fmt: skip
def test_what_is_no_host_is_named_as_a_fault(text: str) -> None:
    with pytest.raises(ValueError):
        parse_place(text)
