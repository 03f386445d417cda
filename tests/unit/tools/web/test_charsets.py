"""Text of the web in all the ways it is written."""

from __future__ import annotations

import pytest

from detent.tools.web.charsets import decoded


@pytest.mark.parametrize(
    ("data", "charset", "text"),
    [
        ("grün".encode(), "", "grün"),
        ("grün".encode(), "utf-8", "grün"),
        ("grün".encode("latin-1"), "iso-8859-1", "grün"),
        ("“x” €".encode("cp1252"), "iso-8859-1", "“x” €"),
        ("“x”".encode("cp1252"), "windows-1252", "“x”"),
        ("жук".encode("koi8-r"), "koi8-r", "жук"),
        ("жук".encode("cp1251"), "windows-1251", "жук"),
        ("日本".encode("shift_jis"), "shift_jis", "日本"),
        ("日本".encode("euc-jp"), "euc-jp", "日本"),
        ("中文".encode("gb18030"), "gb18030", "中文"),
        ("grün".encode("utf-16"), "", "grün"),
        ("grün".encode("utf-16-be"), "utf-16be", "grün"),
        (b"\xef\xbb\xbfx", "iso-8859-1", "x"),
        (b"a\xffb", "", "a\ufffdb"),
        ("grün".encode(), "nonsense", "grün"),
        (b"+ADw-", "utf-7", "+ADw-"),
        (rb"\x41", "unicode_escape", r"\x41"),
        (b"x", "zlib_codec", "x"),
        (b"x", "iso-8859-99", "x"),
    ],
)
def test_decoded(data: bytes, charset: str, text: str) -> None:
    assert decoded(data, charset) == text


@pytest.mark.parametrize(
    "head", ['<meta charset="windows-1251">', "<META content='text/html; charset=windows-1251'>"]
)
def test_what_a_page_says_of_itself(head: str) -> None:
    data = head.encode() + "жук".encode("cp1251")
    assert decoded(data, "", is_page=True).endswith("жук")
    assert not decoded(data, "").endswith("жук"), "only a page may"
    assert not decoded(data, "utf-8", is_page=True).endswith("жук"), "the server knows better"
