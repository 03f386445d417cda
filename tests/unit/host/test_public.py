"""Which addresses belong to the public internet."""

from __future__ import annotations

import pytest

from detent.host.public import inside, is_inside_name

INSIDE = """
0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.100.100.200 100.127.255.255 127.0.0.1
127.255.255.254 169.254.0.1 169.254.169.254 168.63.129.16 172.16.0.1 172.31.255.255 192.0.0.192
192.0.2.1 192.88.99.1 192.168.0.1 198.18.0.1 198.19.255.255 198.51.100.7 203.0.113.9 224.0.0.1
239.255.255.250 240.0.0.1 255.255.255.255
:: ::1 ::2 ::7f00:1 ::a9fe:a9fe ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:169.254.169.254
64:ff9b::7f00:1 64:ff9b::a00:1 64:ff9b::a9fe:a9fe 64:ff9b:1::1 100::1 2001::1 2001:0:4136::1
2001:10::1 2001:db8::1 2002:7f00:1:: 2002:a00:1:: 2002:c0a8:101::5 2002:a9fe:a9fe:: 3fff::1
2a00:1450::5efe:a00:1 2a00:1450::200:5efe:127.0.0.1 4000::1 5f00::1 8000::1 fc00::1 fd00:ec2::254
fdff::1 fe80::1 fe80::1%eth0 febf::1 fec0::1 ff02::1
""".split()  # noqa: SIM905
PUBLIC = """
1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 93.184.216.34 100.63.255.255 100.128.0.0 126.255.255.255
128.0.0.1 168.63.129.17 169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 192.0.1.0
192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0 223.255.255.255
2606:4700:4700::1111 2a00:1450:4001::200e 2001:200::1 2002:808:808:: 64:ff9b::808:808
::ffff:8.8.8.8 3ffe::1
""".split()  # noqa: SIM905


@pytest.mark.parametrize("address", INSIDE)
def test_inside(address: str) -> None:
    assert inside(address)


@pytest.mark.parametrize("address", PUBLIC)
def test_public(address: str) -> None:
    assert inside(address) == ""


def test_a_name_is_no_address() -> None:
    with pytest.raises(ValueError, match="example"):
        inside("example.com")


@pytest.mark.parametrize(
    "host",
    ["localhost", "a.localhost", "printer", "printer.local", "metadata.google.internal",
     "metadata", "wiki.corp", "nas.lan", "router.home", "x.home.arpa", "db.private"],
)  # fmt: skip
def test_names_of_an_inside(host: str) -> None:
    assert is_inside_name(host)


@pytest.mark.parametrize(
    "host",
    ["example.com", "local.example.com", "mylocal.test", "internal.io", "localhost.com", "8.8.8.8",
     "::1", "arpa.com"],
)  # fmt: skip
def test_names_of_the_outside(host: str) -> None:
    assert not is_inside_name(host)
