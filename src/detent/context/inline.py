"""Values in the head of a file: scalars, quotes, and lists and tables in brackets."""

from typing import Any

from detent.types.codec import decode_any

DEEPEST = 20
_WORDS = {"true": True, "false": False, "null": None, "~": None}


class Unreadable(ValueError):
    """It does not close, or something stands behind its end."""


def scalar(text: str) -> Any:
    plain = text.strip()
    if plain.lower() in _WORDS:
        return _WORDS[plain.lower()]
    digits = plain.removeprefix("-")
    return int(plain) if digits.isascii() and digits.isdecimal() and len(digits) < 16 else plain


def without_remark(text: str) -> str:
    before = text.partition(" #")[0].rstrip()
    is_quoted = before.count('"') % 2 or before.count("'") % 2
    return text if is_quoted else before


def read_whole(text: str) -> tuple[Any, int]:
    """What stands in the quotes or brackets that it begins with, and how many line ends that takes.
    Raises Unreadable."""
    value, end = _inline(text, 0, 0)
    behind = text[end:].partition("\n")[0].strip()
    if behind and not behind.startswith("#"):
        raise Unreadable
    return value, text.count("\n", 0, end)


def _quoted(text: str, start: int) -> tuple[str, int]:
    quote, at = text[start], start + 1
    while at < len(text):
        if text[at] == "\\" and quote == '"':
            at += 2
        elif text[at] != quote:
            at += 1
        elif quote == "'" and text[at + 1 : at + 2] == "'":
            at += 2
        else:
            inner = text[start + 1 : at].replace("\n", " ")
            return (inner.replace("''", "'") if quote == "'" else _unescaped(inner)), at + 1
    raise Unreadable


def _unescaped(inner: str) -> str:
    try:
        return str(decode_any(f'"{inner}"'))
    except ValueError:
        return inner.replace('\\"', '"')


def _inline(text: str, at: int, depth: int) -> tuple[Any, int]:
    at = _past_blanks(text, at)
    if at >= len(text) or depth > DEEPEST:
        raise Unreadable
    match text[at]:
        case "[":
            return _items(text, at + 1, depth)
        case "{":
            return _pairs(text, at + 1, depth)
        case '"' | "'":
            return _quoted(text, at)
    plain, end = _plain(text, at, ",]}")
    return scalar(plain), end


def _items(text: str, at: int, depth: int) -> tuple[list[Any], int]:
    found: list[Any] = []
    while (at := _past_blanks(text, at)) < len(text):
        if text[at] == "]":
            return found, at + 1
        value, at = _inline(text, at, depth + 1)
        found.append(value)
        at = _past_comma(text, at, "]")
    raise Unreadable


def _pairs(text: str, at: int, depth: int) -> tuple[dict[str, Any], int]:
    found: dict[str, Any] = {}
    while (at := _past_blanks(text, at)) < len(text):
        if text[at] == "}":
            return found, at + 1
        key, at = _quoted(text, at) if text[at] in "\"'" else _plain(text, at, ":,}")
        at = _past_blanks(text, at)
        if text[at : at + 1] != ":":
            raise Unreadable
        found[key.strip()], at = _inline(text, at + 1, depth + 1)
        at = _past_comma(text, at, "}")
    raise Unreadable


def _plain(text: str, at: int, ends: str) -> tuple[str, int]:
    """Until one of these characters that does not stand in parentheses."""
    start, depth = at, 0
    while at < len(text) and (depth > 0 or text[at] not in ends):
        depth += (text[at] == "(") - (text[at] == ")")
        at += 1
    return text[start:at].strip(), at


def _past_blanks(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def _past_comma(text: str, at: int, closing: str) -> int:
    at = _past_blanks(text, at)
    if text[at : at + 1] == ",":
        return at + 1
    if text[at : at + 1] != closing:
        raise Unreadable
    return at
