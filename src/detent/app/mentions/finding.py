"""Files that a text names with an `@`: pure. Whether there are such files, others know.

    @src/app.py   @"with blanks.txt"   @docs/   @src/app.py#L10-20   @src/app.py:10-20

An `@` inside a word (an address of mail) is none, nor one in code between backticks.
"""

import re
from collections.abc import Iterator

from msgspec import Struct

LONGEST = 4_096
"""Characters of a path."""
TRAILING = ".,;:!?)]}>'\"…"
"""What may stand behind a path, and is not of it;"""
MOST_TRAILING = 6
"""and how much of it."""
MOST = 200
"""Of a text. A log that somebody has pasted is full of them."""
_FENCE = re.compile(r"[ \t]*(```+|~~~+)")
_TICKS = re.compile(r"`+")
_MENTION = re.compile(r"""(?<![^\s(\[{<"'>,;])@(?:"([^"\n]+)"([#:][\w-]*)?|([^\s"'`@][^\s"`]*))""")
_LINES = re.compile(r"(?:#L|:)(\d{1,7})(?:-L?(\d{1,7}))?$")


class Place(Struct, frozen=True):
    """A path as it is written, and which lines of the file; 0 is none in particular."""

    path: str
    first: int = 0
    last: int = 0


class Mention(Struct, frozen=True):
    written: str
    """With its `@`, as far as it may reach."""
    places: tuple[Place, ...]
    """What may be meant, the likeliest first: the text may go on right behind a path."""


def mentions(text: str) -> list[Mention]:
    """In their order, each once."""
    found: dict[tuple[Place, ...], Mention] = {}
    for line in _without_code(text):
        for match in _MENTION.finditer(line):
            quoted, lines, plain = match.groups()
            places = tuple(_quoted(quoted, lines or "") if quoted else _plain(plain))
            if places and len(places[0].path) <= LONGEST:
                found.setdefault(places, Mention(match[0], places))
    return [*found.values()][:MOST]


def _without_code(text: str) -> Iterator[str]:
    """Line by line; what stands between fences is code, to the end where none closes it."""
    fence = ""
    for line in text.split("\n"):
        match = _FENCE.match(line)
        if fence:
            is_end = match is not None and match[1].startswith(fence)
            fence = "" if is_end and not line.strip().strip("`~") else fence
        elif match is not None:
            fence = match[1]
        else:
            yield _without_spans(line) if "`" in line else line


def _without_spans(line: str) -> str:
    """Code goes from some backticks to the next that are as many."""
    runs = [match.span() for match in _TICKS.finditer(line)]
    partner: dict[int, int] = {}
    last: dict[int, int] = {}
    for number in reversed(range(len(runs))):
        size = runs[number][1] - runs[number][0]
        partner[number] = last.get(size, number)
        last[size] = number
    kept, begin, number = list[str](), 0, 0
    while number < len(runs):
        if (end := partner[number]) != number:
            kept.append(line[begin : runs[number][0]])
            begin, number = runs[end][1], end
        number += 1
    return "`".join([*kept, line[begin:]])


def _quoted(path: str, lines: str) -> Iterator[Place]:
    if lines and (match := _LINES.match(lines.rstrip(TRAILING))):
        yield _with_lines(path, match)
    yield Place(path)


def _plain(written: str) -> Iterator[Place]:
    """As it is written, then without what may be the text around it."""
    for _ in range(MOST_TRAILING + 1):
        yield Place(written)
        if (match := _LINES.search(written)) and match.start():
            yield _with_lines(written[: match.start()], match)
        if written[-1] not in TRAILING or len(written) == 1:
            return
        written = written[:-1]


def _with_lines(path: str, match: re.Match[str]) -> Place:
    first = max(1, int(match[1]))
    return Place(path, first, max(first, int(match[2] or first)))
