"""Web addresses: one reading each, and none for what programs read in different ways."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from detent.http.addresses import MOST_CHARACTERS, normal_host, parse_address


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("https://example.com", "https://example.com/"),
        ("  https://example.com/a  ", "https://example.com/a"),
        ("HTTPS://Example.COM:443/A?b=C", "https://example.com/A?b=C"),
        ("http://example.com:443/", "http://example.com:443/"),
        ("https://example.com./", "https://example.com/"),
        ("https://example.com?q", "https://example.com/?q"),
        ("https://example.com/a#part", "https://example.com/a"),
        ("https://example.com/#/@user:pw", "https://example.com/"),
        ("https://example.com:/", "https://example.com/"),
        ("https://example.com/a b?c=ä&d=%20", "https://example.com/a%20b?c=%C3%A4&d=%20"),
        ('https://example.com/<"{|}^`>', "https://example.com/%3C%22%7B%7C%7D%5E%60%3E"),
        ("https://example.com/a@b", "https://example.com/a@b"),
        ("https://bücher.example/", "https://xn--bcher-kva.example/"),
        ("https://ＥＸＡＭＰＬＥ。com/", "https://example.com/"),
        ("https://a_b.example/", "https://a_b.example/"),
        ("http://127.0.0.1/", "http://127.0.0.1/"),
        ("http://127.1/", "http://127.0.0.1/"),
        ("http://2130706433/", "http://127.0.0.1/"),
        ("http://0x7f000001/", "http://127.0.0.1/"),
        ("http://0X7F.0.0.1/", "http://127.0.0.1/"),
        ("http://0177.0.0.01/", "http://127.0.0.1/"),
        ("http://0/", "http://0.0.0.0/"),
        ("http://0x/", "http://0.0.0.0/"),
        ("http://１２７.０.０.１/", "http://127.0.0.1/"),
        ("http://127.0.0.1./", "http://127.0.0.1/"),
        ("http://[::1]:8080/x", "http://[::1]:8080/x"),
        ("http://[0:0:0:0:0:0:0:1]/", "http://[::1]/"),
        ("http://[::ffff:7f00:1]/", "http://127.0.0.1/"),
        ("http://[2001:DB8::A]/", "http://[2001:db8::a]/"),
    ],
)
def test_one_spelling_for_each(text: str, url: str) -> None:
    target = parse_address(text)
    assert target.url == url
    assert parse_address(target.url) == target


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "http://"),
        ("example.com", "http://"),
        ("//example.com", "http://"),
        ("ftp://example.com/", "http://"),
        ("file:///etc/passwd", "http://"),
        ("javascript:alert(1)", "http://"),
        ("http:/example.com", "http://"),
        ("http+unix://%2Frun%2Fx.sock/", "http://"),
        ("https://user:pw@example.com/", "user name"),
        ("https://example.com@evil.test/", "user name"),
        ("https://@evil.test/", "user name"),
        ("https://example.com\\@evil.test/", "backslash"),
        ("https:\\\\evil.test", "backslash"),
        ("https://exam\tple.com/", "control"),
        ("https://example.com/a\r\nx: y", "control"),
        ("https://example.com/\0", "control"),
        ("https://example.com/\x85", "control"),
        ("https://exam ple.com/", "name of a host"),
        ("https://", "name of a host"),
        ("https:///path", "name of a host"),
        ("https://.example.com/", "name of a host"),
        ("https://example..com/", "name of a host"),
        ("https://example.com../", "name of a host"),
        ("https://exam%70le.com/", "name of a host"),
        ("https://-a.com/", "name of a host"),
        ("https://a,b.com/", "name of a host"),
        ("https://a℀b.com/", "name of a host"),
        (f"https://{'a' * 64}.com/", "name of a host"),
        (f"https://{'a.' * 127}com/", "name of a host"),
        ("https://\ud800.com/", "name of a host"),
        ("https://example.com:0/", "port"),
        ("https://example.com:65536/", "port"),
        ("https://example.com:8a/", "port"),
        ("https://example.com:+80/", "port"),
        ("https://example.com:٨٠/", "port"),
        ("https://example.com:80:80/", "port"),
        ("http://1.2.3.4.5/", "IPv4"),
        ("http://256.1.1.1/", "IPv4"),
        ("http://1.2.3.256/", "IPv4"),
        ("http://4294967296/", "IPv4"),
        ("http://08/", "IPv4"),
        ("http://1_0.0.0.1/", "IPv4"),
        ("http://a.1/", "IPv4"),
        ("http://[::1/", "brackets"),
        ("http://[::1]x/", "brackets"),
        ("http://[::1%25eth0]/", "zone"),
        ("http://[fe80::1%eth0]/", "zone"),
        ("http://[v1.x]/", "IPv6"),
        ("http://[127.0.0.1]/", "IPv6"),
        (f"https://example.com/{'x' * MOST_CHARACTERS}", "longer"),
    ],
)
def test_what_is_not_understood_is_refused(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        parse_address(text)


@given(st.text(max_size=40), st.sampled_from(["http://", "https://", "https://a.test", ""]))
def test_whatever_comes_is_read_in_one_way_or_refused(text: str, before: str) -> None:
    try:
        target = parse_address(before + text)
    except ValueError:
        return
    assert parse_address(target.url) == target
    assert target.url.isascii() and target.url.isprintable() and " " not in target.url
    assert target.origin.host == target.origin.host.lower().rstrip(".")


@given(st.text(max_size=30))
def test_a_host_is_normal_once_it_was_made_so(text: str) -> None:
    try:
        host = normal_host(text)
    except ValueError:
        return
    assert normal_host(f"[{host}]" if ":" in host else host) == host
