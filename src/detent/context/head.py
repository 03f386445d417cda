"""The head of a file that defines something: the part of YAML that people write there.

    ---
    name: reviewer
    tools: [Read, "Grep"]
    hooks:
      PreToolUse:
        - matcher: Bash
    ---

Texts, numbers, switches, lists and tables, nested or in brackets; texts over several lines (`|`,
`>`, quotes, indented). It is as lenient as people are: a text without quotes may hold anything. No
anchors, no tags. Whatever cannot be read is named, and the rest counts.
"""

import re
from typing import Any

from detent.context.inline import Unreadable, read_whole, scalar, without_remark

MARK = "---"
DEEPEST = 20
MOST_LINES = 2_000
_KEY = re.compile(r"""("[^"]*"|'[^']*'|[\w.@/-]+)\s*:(?:\s+(.*)|$)""")
_BLOCK = re.compile(r"[|>][-+0-9]*$")


def split_head(text: str) -> tuple[list[str] | None, str]:
    """The lines of the head, and the text behind it; None where there is no head."""
    lines = text.split("\n")
    if lines[0].rstrip() != MARK:
        return None, text
    end = next((n for n, line in enumerate(lines[1:], 1) if line.rstrip() == MARK), 0)
    return (lines[1:end], "\n".join(lines[end + 1 :])) if end else (None, text)


def parse_head(lines: list[str]) -> tuple[dict[str, Any], list[str]]:
    """What it says, and what of it could not be read."""
    reader = _Reader(lines[:MOST_LINES])
    found = reader.table(0, 0)
    if len(lines) > MOST_LINES:
        reader.faults.append(f"its head has more than {MOST_LINES:,} lines: the rest is not read")
    return found, reader.faults


class _Reader:
    def __init__(self, lines: list[str]) -> None:
        self._lines = [line.expandtabs(2).rstrip() for line in lines]
        self._at = 0
        self.faults: list[str] = []

    def _next(self) -> tuple[int, str]:
        """Indent and text of the next line that says something; -1 at the end."""
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if (plain := line.lstrip()) and not plain.startswith("#"):
                return len(line) - len(plain), plain
            self._at += 1
        return -1, ""

    def _pass_over(self) -> None:
        self.faults.append(f"line {self._at + 2} of its head is not understood")
        self._at += 1

    def table(self, indent: int, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        last = ""
        while True:
            here, text = self._next()
            if here < indent or (here == indent and _is_item(text)):
                return found
            match = _KEY.match(text) if here == indent else None
            if match is not None:
                self._at += 1
                last = match[1].strip("\"'")
                found[last] = self._value((match[2] or "").strip(), indent, depth)
            elif isinstance(found.get(last), str):  # a text that goes on where it should not
                found[last] += f"\n{text}"
                self._at += 1
            else:
                self._pass_over()

    def _list(self, indent: int, depth: int) -> list[Any]:
        found: list[Any] = []
        while True:
            here, text = self._next()
            if here != indent or not _is_item(text):
                return found
            rest = text[1:].lstrip()
            if rest and _KEY.match(rest) and depth < DEEPEST:
                inner = here + len(text) - len(rest)
                self._lines[self._at] = " " * inner + rest  # the first line of a table
                found.append(self.table(inner, depth + 1))
            else:
                self._at += 1
                found.append(self._value(rest, indent, depth))

    def _value(self, text: str, indent: int, depth: int) -> Any:
        if not text or text.startswith("#"):
            return self._below(indent, depth)
        if _BLOCK.match(without_remark(text)):
            return self._block(indent, folds=text.startswith(">"))
        if text[0] in "\"'[{":
            whole = self._whole(text, indent)
            if whole is not None:
                return whole[0]
        return scalar(self._going_on(without_remark(text), indent))

    def _below(self, indent: int, depth: int) -> Any:
        """What stands in the lines under a key."""
        here, text = self._next()
        if _is_item(text) and here >= indent:
            return self._list(here, depth + 1) if depth < DEEPEST else self._pass_over()
        if here <= indent:
            return None
        if _KEY.match(text):
            return self.table(here, depth + 1) if depth < DEEPEST else self._pass_over()
        self._at += 1
        return scalar(self._going_on(without_remark(text), indent))

    def _whole(self, text: str, indent: int) -> tuple[Any] | None:
        """Of quotes or brackets that may close lines further down; None where they never do."""
        lines = [text]
        for line in self._lines[self._at :]:
            if not self._is_inside(line, indent):
                break
            lines.append(line.strip())
        try:
            value, taken = read_whole("\n".join(lines))
        except Unreadable:
            return None
        self._at += taken
        return (value,)

    def _is_inside(self, line: str, indent: int) -> bool:
        """What closes a bracket may stand below the key that opened it."""
        plain = line.lstrip()
        return not plain or len(line) - len(plain) > indent or plain[0] in "]}"

    def _going_on(self, text: str, indent: int) -> str:
        """A text without quotes, with the lines below it that stand further in."""
        gap = " "
        while self._at < len(self._lines):
            line = self._lines[self._at]
            plain = line.lstrip()
            if plain and len(line) - len(plain) <= indent:
                break
            if not plain:
                gap = "\n"
            elif not plain.startswith("#"):
                text, gap = f"{text}{gap}{plain}", " "
            self._at += 1
        return text

    def _block(self, indent: int, *, folds: bool) -> str:
        lines: list[str] = []
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if line and len(line) - len(line.lstrip()) <= indent:
                break
            lines.append(line)
            self._at += 1
        margin = min((len(line) - len(line.lstrip()) for line in lines if line), default=0)
        text = "\n".join(line[margin:] for line in lines).strip("\n")
        return re.sub(r"(?<!\n)\n(?![\n ])", " ", text) if folds else text


def _is_item(text: str) -> bool:
    return text == "-" or text.startswith("- ")
