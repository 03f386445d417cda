"""An answer as it streams: what of its Markdown is finished, and what may still change.

A finished chunk is drawn once and never again. A block ends at a blank line, a heading at its own
end, an item of a list where the next begins, and of code every line by itself.
"""

import re
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

Kind = Literal["prose", "item", "code"]

LONGEST_OPEN = 8_000
"""Characters of a block that are held back until it ends: a line without end must not be."""

_FENCE = re.compile(r"^( *)(`{3,}|~{3,})[ \t]*([^\s`]*)[^`\n]*$")
_ITEM = re.compile(r"^ {0,3}(?:[-*+]|\d{1,9}[.)])(?: |$)")
_HEADING = re.compile(r"^ {0,3}#{1,6}(?: |$)")


class Chunk(Struct, frozen=True):
    kind: Kind
    text: str
    language: str = ""
    indent: int = 0
    """Columns it stands in: what belongs to an item of a list."""
    spaced: bool = False
    """A blank line goes before it."""


class Flow(Struct, frozen=True):
    open: str = ""
    """The block that has not ended, as it was written so far."""
    line: str = ""
    """The line of it that has not ended."""
    fence: str = ""
    """What ends the code that is being written; empty when none is."""
    language: str = ""
    indent: int = 0
    last: Kind | None = None
    gap: bool = False
    """A blank line has come since the last chunk."""

    @property
    def tail(self) -> Chunk | None:
        """What is there of the chunk that is still written."""
        text = f"{self.open}\n{self.line}" if self.open and self.line else self.open + self.line
        if self.fence:
            text = text[self.indent :] if not text[: self.indent].strip() else text
            return self._made("code", text) if text else None
        return self._made(_kind_of(text), text) if text.strip() else None

    def _made(self, kind: Kind, text: str) -> Chunk:
        is_apart = self.gap or kind != self.last or (kind == "prose" and _HEADING.match(text))
        spaced = self.last is not None and bool(is_apart)
        language = self.language if kind == "code" else ""
        indent = self.indent if kind == "code" else 0
        if kind == "item" or (kind == "prose" and self.last == "item"):
            indent = _indent_of(text)
            text = "\n".join(line[min(indent, _indent_of(line)) :] for line in text.split("\n"))
        return Chunk(kind, text, language, indent, spaced)


def feed(flow: Flow, text: str) -> tuple[Flow, tuple[Chunk, ...]]:
    """What is finished by this further piece."""
    *lines, rest = (flow.line + text).split("\n")
    flow = replace(flow, line="")
    chunks: list[Chunk] = []
    for line in lines:
        flow, line = _cut(flow, line, chunks)
        flow = _take(flow, line, chunks)
    flow, rest = _cut(flow, rest, chunks)
    return replace(flow, line=rest), tuple(chunks)


def end(flow: Flow) -> tuple[Flow, tuple[Chunk, ...]]:
    """Nothing more comes: whatever is open is finished."""
    chunks: list[Chunk] = []
    if flow.line:
        flow = _take(replace(flow, line=""), flow.line, chunks)
    flow = _close(flow, chunks)
    return Flow(last=flow.last, gap=True), tuple(chunks)


def _take(flow: Flow, line: str, chunks: list[Chunk]) -> Flow:
    if flow.fence:
        return _take_code(flow, line, chunks)
    if fence := _FENCE.match(line):
        flow = _close(flow, chunks)
        return replace(
            flow, fence=fence[2], language=fence[3], indent=min(len(fence[1]), 12),
            gap=flow.gap or flow.last == "code",
        )  # fmt: skip
    if not line.strip():
        return replace(_close(flow, chunks), gap=True)
    if _HEADING.match(line):
        flow = _close(flow, chunks)
        return _close(replace(flow, open=line), chunks)
    if (_ITEM.match(line) and not _is_within(flow.open, line)) or _is_other(flow.open, line):
        flow = _close(flow, chunks)
    return replace(flow, open=f"{flow.open}\n{line}" if flow.open else line)


def _is_within(open_block: str, line: str) -> bool:
    """An item of a list in an item."""
    return _kind_of(open_block) == "item" and _indent_of(line) > _indent_of(open_block) + 1


def _indent_of(text: str) -> int:
    return len(text) - len(text.lstrip(" "))


def _is_other(open_block: str, line: str) -> bool:
    """A table begins or ends."""
    return bool(open_block) and open_block.lstrip().startswith("|") != line.lstrip().startswith("|")


def _take_code(flow: Flow, line: str, chunks: list[Chunk]) -> Flow:
    stripped = line.strip()
    if stripped and set(stripped) == {flow.fence[0]} and len(stripped) >= len(flow.fence):
        return replace(flow, fence="", language="", indent=0, gap=True)
    text = line[flow.indent :] if not line[: flow.indent].strip() else line
    chunks.append(flow._made("code", text))
    return replace(flow, last="code", gap=False)


def _close(flow: Flow, chunks: list[Chunk]) -> Flow:
    if not flow.open.strip():
        return replace(flow, open="")
    kind = _kind_of(flow.open)
    chunks.append(flow._made(kind, flow.open))
    return replace(flow, open="", last=kind, gap=False)


def _kind_of(text: str) -> Kind:
    return "item" if _ITEM.match(text) else "prose"


def _cut(flow: Flow, line: str, chunks: list[Chunk]) -> tuple[Flow, str]:
    """What of a block without end waits no longer, up to a blank if there is one; and what is left
    of the line. The same, however the text came in pieces."""
    while (room := LONGEST_OPEN - len(flow.open)) < len(line):
        at = line.rfind(" ", 0, max(0, room)) + 1 or max(0, room)
        flow = _take(flow, line[:at], chunks) if line[:at].strip() else flow
        if not flow.fence:
            flow = _close(flow, chunks)
        line = line[at:]
    return flow, line
