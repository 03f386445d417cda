"""Positions: lines and characters from 1 for the model, from 0 and in code units on the wire."""

import re

from detent.tools.language.messages import Position

ENCODINGS = ("utf-32", "utf-8", "utf-16")
"""As we prefer them: in the first, a character counts one, as in our strings."""

_WORD = re.compile(r"\w+")


def units(text: str, encoding: str) -> int:
    """How long a text is on the wire."""
    if encoding == "utf-8":
        return len(text.encode("utf-8", "surrogatepass"))
    if encoding == "utf-16":
        return len(text) + sum(character > "\uffff" for character in text)
    return len(text)


def characters(line: str, offset: int, encoding: str) -> int:
    """How many characters of a line lie before an offset of the wire. One inside a character
    counts as its beginning, one behind the line as its end."""
    if encoding == "utf-32" or line.isascii():
        return min(offset, len(line))
    passed = 0
    for index, character in enumerate(line):
        passed += units(character, encoding)
        if passed > offset:
            return index
    return len(line)


def to_wire(lines: list[str], line: int, character: int, encoding: str) -> Position:
    """From a line and a character that count from 1."""
    text = lines[line - 1] if line <= len(lines) else ""
    return Position(line - 1, units(text[: character - 1], encoding))


def from_wire(lines: list[str], position: Position, encoding: str) -> tuple[int, int]:
    text = lines[position.line] if position.line < len(lines) else ""
    return position.line + 1, characters(text, position.character, encoding) + 1


def spot(lines: list[str], line: int, character: int, query: str) -> tuple[int, int]:
    """The place that is meant. Models count columns badly, so a name wins over a column.

    Raises LookupError with what to send instead.
    """
    count = len(lines) - (lines[-1] == "")  # what follows the last line end is no line
    if line > count:
        raise LookupError(f"the file has only {count} lines; there is no line {line}")
    if query:
        return _named(lines, line, character, query)
    if line and character:
        return line, min(character, len(lines[line - 1]) + 1)
    raise LookupError("give `query` (the name to look at), or `line` and `character`")


def word_at(lines: list[str], line: int, character: int) -> str:
    text = lines[line - 1] if line <= len(lines) else ""
    for word in _WORD.finditer(text):
        if word.start() < character <= word.end() + 1:
            return word[0]
    return ""


def _named(lines: list[str], line: int, character: int, query: str) -> tuple[int, int]:
    """The occurrence nearest to the given place; the first one when none was given."""
    name = re.split(r"\.|::|->|#", query.strip().removesuffix("()"))[-1] or query
    whole = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    places = [
        (number, found.start() + 1)
        for number, text in enumerate(lines, 1)
        for found in whole.finditer(text)
    ]
    if not places:
        raise LookupError(f"`{name}` does not occur in the file")
    # A column inside the name means that occurrence.
    return min(
        places, key=lambda place: (abs(place[0] - line), _gap(place[1], len(name), character))
    )


def _gap(start: int, length: int, character: int) -> int:
    return max(start - character, character - (start + length), 0)
