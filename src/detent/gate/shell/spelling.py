"""What a word of a shell text comes to, read leniently: quotes, escapes and `$'…'` undone."""

import re
from functools import cache, lru_cache

from msgspec import Struct


class Spelled(Struct, frozen=True, gc=False):
    text: str
    """Quotes removed; what the shell fills in as written, `${X…}` as `$X`."""
    is_literal: bool
    without: str = ""
    """The text with nothing filled in: `r$@m` is `rm` when there is nothing to fill in."""


LONGEST = 2000
"""Of a word with a substitution inside. Nested ones would be spelled again at every level."""

_LETTERS = {"a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r",
            "t": "\t", "v": "\v"}  # fmt: skip
_PARTS = r"""
    (?P<joined>\\\n)
  | \\(?P<escaped>.)
  | '(?P<single>[^']*)'
  | \$'(?P<ansi>(?:[^'\\]|\\.)*)'
  | \$?"(?P<double>(?:[^"\\]|\\.)*)"
  | \$\{[!#]?(?P<braced>\w+)[^}]*\}
  | (?P<filled>\$(?:\w+|[({@*#?$!\[-]) | ` | <\( | >\()
  | (?P<glob>[*?\[] | \{(?=[^}]*(?:,|\.\.)))
  | (?P<plain>[^\\'"$`*?\[{<>]+ | .)
"""
_ANSI = r"\\(?:x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|([0-7]{1,3})|c(.)|(.))"


@cache
def _parts() -> re.Pattern[str]:
    return re.compile(_PARTS, re.VERBOSE | re.DOTALL)


@cache
def _ordinary() -> re.Pattern[str]:
    return re.compile(r"[\w./=:,@%+^~!#-]+", re.ASCII)


@lru_cache(1024)
def spelled(raw: str) -> Spelled:
    if _ordinary().fullmatch(raw):
        return Spelled(raw, True, raw)
    if len(raw) > LONGEST and ("$(" in raw or "`" in raw):
        return Spelled("$(…)", False)  # its commands are found by themselves
    shown: list[str] = []
    without: list[str] = []
    literal = True
    for part in _parts().finditer(raw):
        kind, text = part.lastgroup, part[0]
        value = part[kind] if kind else ""
        if kind == "joined":
            continue
        if kind == "ansi":
            value = ansi(value)
        elif kind == "double":
            inner = _double(value)
            literal = literal and inner.is_literal
            shown.append(inner.text)
            without.append(inner.without)
            continue
        elif kind in ("braced", "filled"):
            literal = False
            shown.append("$" + value if kind == "braced" else text)
            continue
        elif kind == "glob" and raw not in ("[", "[["):
            literal = False
        shown.append(value)
        without.append(value)
    return Spelled("".join(shown), literal, "".join(without))


def _double(inner: str) -> Spelled:
    """Between double quotes only `$`, backticks and few escapes mean something."""
    text = re.sub(r'\\([$`"\\])', r"\1", inner.replace("\\\n", ""))
    bare = re.sub(r"\\.", "", inner, flags=re.DOTALL)
    if "$" not in bare and "`" not in bare:
        return Spelled(text, True, text)
    named = re.sub(r"\$\{[!#]?(\w+)[^}]*\}", r"$\1", text)
    return Spelled(named, False, re.sub(r"\$(?:\w+|[@*#?$!-])", "", named))


def ansi(inner: str) -> str:
    """The escapes of `$'…'`."""
    return re.sub(_ANSI, _unescaped, inner, flags=re.DOTALL)


def _unescaped(match: re.Match[str]) -> str:
    two, four, eight, octal, control, other = match.groups()
    if octal:
        return chr(int(octal, 8) & 0xFF)
    if control:
        return chr(ord(control[0]) & 0x1F)
    if number := two or four or eight:
        code = int(number, 16)
        return chr(code) if code <= 0x10FFFF else "\ufffd"
    return _LETTERS.get(other) or (other if other in "\\'\"?" else "\\" + other)
