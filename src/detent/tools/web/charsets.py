"""The text of what came over the web, whatever letters it was written in."""

import codecs
import re

MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
KNOWN = re.compile(
    r"utf-?8|utf-?16(-?[lb]e)?|(us-?)?ascii|latin-?1|iso-?8859-?\d{1,2}|(windows-?|cp-?)125\d"
    r"|shift[_-]jis|sjis|euc-jp|iso-2022-jp|euc-kr|gb2312|gbk|gb18030|big5|koi8-[ru]|macintosh"
)
"""Not every codec of Python is a way to write letters: some unpack, some execute escapes."""
WINDOWS = re.compile(r"(us-?)?ascii|latin-?1|iso-?8859-?1")
"""Who says this means what Windows made of it; so browsers read it."""
_IN_PAGE = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w-]{1,40})", re.IGNORECASE)
LOOKED_AT = 2_048


def decoded(data: bytes, charset: str, *, is_page: bool = False) -> str:
    """By its mark, what the server said, what the page says of itself, and else as UTF-8."""
    for mark, name in MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(name, "replace")
    named = charset
    if not named and is_page and (found := _IN_PAGE.search(data[:LOOKED_AT])):
        named = found[1].decode().lower()
    return data.decode(_codec(named), "replace")


def _codec(name: str) -> str:
    if KNOWN.fullmatch(name) is None:
        return "utf-8"
    if WINDOWS.fullmatch(name):
        return "cp1252"
    try:
        return codecs.lookup("mac_roman" if name == "macintosh" else name).name
    except LookupError:
        return "utf-8"
