"""The text of a command in pieces: what is said, and what is run so that its output is said.

    !`git status`

at the beginning of a line or behind a blank; or lines between ```! and ```.
"""

import re
from collections.abc import Iterator

from msgspec import Struct

OPENING, CLOSING = "```!", "```"
_INLINE = re.compile(r"(?<!\S)!`([^`\n]+)`")


class Run(Struct, frozen=True):
    command: str


Piece = str | Run


def pieces(body: str) -> list[Piece]:
    """Joined again, with a text for each `Run`, they are the whole."""
    found: list[Piece] = []
    said: list[str] = []
    lines, at = body.split("\n"), 0
    while at < len(lines):
        end = _end_of_block(lines, at)
        if end:
            found += _of_text("".join(f"{line}\n" for line in said))
            found.append(Run("\n".join(lines[at + 1 : end])))
            said = [""] if end + 1 < len(lines) else []
            at = end
        else:
            said.append(lines[at])
        at += 1
    found += _of_text("\n".join(said))
    return found


def _end_of_block(lines: list[str], at: int) -> int:
    """The line that closes what this one opens; 0 where it opens nothing. What nobody closes is
    text, and whatever is behind it is not looked through again."""
    if lines[at].strip() != OPENING:
        return 0
    for end in range(at + 1, len(lines)):
        line = lines[end].strip()
        if line == CLOSING:
            return end if any(one.strip() for one in lines[at + 1 : end]) else 0
        if line == OPENING:
            return 0
    return 0


def _of_text(text: str) -> Iterator[Piece]:
    begin = 0
    for match in _INLINE.finditer(text):
        if match.start() > begin:
            yield text[begin : match.start()]
        yield Run(match[1].strip())
        begin = match.end()
    if begin < len(text):
        yield text[begin:]
