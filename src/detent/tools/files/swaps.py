"""A text put in the place of another, wherever that occurs in a body."""

import re
from collections import Counter
from collections.abc import Iterator

from msgspec import Struct

Place = tuple[int, int]
"""Beginning and end."""

_LINE_END = re.compile(r"\r?\n")


class Exact(Struct, frozen=True):
    old: str
    new: str

    def count(self, body: str) -> int:
        return body.count(self.old)

    def places(self, body: str) -> Iterator[Place]:
        at = body.find(self.old)
        while at >= 0:
            end = at + len(self.old)
            yield at, end
            at = body.find(self.old, end)

    def applied(self, body: str, left: int, right: int) -> str:
        """The body between the two, which cut through no place."""
        return body[left:right].replace(self.old, self.new)


class AnyLineEnd(Struct, frozen=True):
    """For a body with line ends of both kinds: a newline in `old` stands for either, and the new
    lines end as those did in whose place they come."""

    old: str
    new: str

    def count(self, body: str) -> int:
        return sum(1 for _ in self.places(body))

    def places(self, body: str) -> Iterator[Place]:
        return self._between(body, 0, len(body))

    def applied(self, body: str, left: int, right: int) -> str:
        pieces, done, line_end = [], left, -1
        for start, end in self._between(body, left, right):
            if line_end < end:  # remembered: a line can be long and hold many places
                line_end = body.find("\n", end)
                line_end = body.rfind("\n") if line_end < 0 else line_end
            nearby = "\r\n" if body[line_end - 1 : line_end] == "\r" else "\n"
            pieces += [body[done:start], self._fitted(body[start:end], nearby)]
            done = end
        return "".join([*pieces, body[done:right]])

    def _between(self, body: str, left: int, right: int) -> Iterator[Place]:
        pattern = re.compile(r"\r?\n".join(map(re.escape, self.old.split("\n"))))
        return (found.span() for found in pattern.finditer(body, left, right))

    def _fitted(self, region: str, nearby: str) -> str:
        """Line for line; lines beyond those that were there end like most of them, and where there
        was no line end at all like the line itself."""
        ends = _LINE_END.findall(region)
        usual = Counter(ends).most_common(1)[0][0] if ends else nearby
        first, *rest = self.new.split("\n")
        missing = len(rest) - len(ends)
        ends = ends[: len(rest)] + [usual] * missing
        return first + "".join(end + line for end, line in zip(ends, rest, strict=True))


Swap = Exact | AnyLineEnd


def swap_for(body: str, old: str, new: str) -> Swap:
    """Models write plain newlines. Carriage returns count only where they are meant: in a body that
    has both kinds, and that holds just this text."""
    if "\r\n" in old and old in body:
        return Exact(old, new)
    old, new = old.replace("\r\n", "\n"), new.replace("\r\n", "\n")
    mixed = "\r\n" in body and "\n" in old + new
    return AnyLineEnd(old, new) if mixed else Exact(old, new)
