"""Text files as the file tools see them: what to show, and what to put back unharmed."""

import re
from hashlib import sha256

from msgspec import Struct

LIMIT = 10 * 1024 * 1024
SHOWN_WIDTH = 300
"""Characters of a line where only its surroundings are of interest."""
BOM = "\ufeff"
_SNIFFED = 8_192
_LONE = re.compile("[\ud800-\udfff]")
_MARKS = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}


class TextFile(Struct, frozen=True):
    """A decoded file. `body` has neither mark nor carriage returns; `packed` restores both.

    Bytes that are not UTF-8 live in it as lone surrogates, so that they survive an edit elsewhere
    in the file. A file in UTF-16 stays one.
    """

    body: str
    bom: bool = False
    crlf: bool = False
    encoding: str = "utf-8"

    @property
    def damaged(self) -> bool:
        """Whether some bytes were not UTF-8."""
        return not _encodable(self.body)

    def packed(self) -> bytes:
        text = self.body.replace("\n", "\r\n") if self.crlf else self.body
        handling = "surrogateescape" if self.encoding == "utf-8" else "strict"
        return ((BOM if self.bom else "") + text).encode(self.encoding, handling)


def digest(data: bytes) -> str:
    return sha256(data).hexdigest()


def is_binary(data: bytes) -> bool:
    return b"\0" in data[:_SNIFFED] and _as_utf16(data) is None


def unpacked(data: bytes) -> TextFile:
    """Only a file with nothing but CRLF is taken as CRLF: a mixed one is kept byte for byte."""
    wide = _as_utf16(data)
    encoding, text = wide or ("utf-8", data.decode("utf-8", "surrogateescape"))
    bom = text.startswith(BOM)
    text = text.removeprefix(BOM)
    crlf = "\r\n" in text and text.count("\r\n") == text.count("\n")
    return TextFile(text.replace("\r\n", "\n") if crlf else text, bom, crlf, encoding)


def _as_utf16(data: bytes) -> tuple[str, str] | None:
    """Encoding and text, mark included. Only with a mark, and only if it is valid throughout."""
    encoding = _MARKS.get(data[:2])
    if encoding is None:
        return None
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        return None
    return None if "\0" in text[:_SNIFFED] else (encoding, text)


def legible(text: str) -> str:
    """Fit for JSON: a lone surrogate becomes the replacement character."""
    return text if _encodable(text) else _LONE.sub("\ufffd", text)


def lines_of(body: str) -> list[str]:
    """Lines as editors count them: only a newline ends one, and a last one may lack it."""
    lines = body.split("\n")
    if lines[-1] == "":
        lines.pop()
    return lines


def counted(number: int, noun: str) -> str:
    """`1 line`, `2,000 lines`"""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def shortened(text: str, room: int) -> str:
    if len(text) <= room:
        return text
    return f"{text[:room]}\n[cut: {len(text) - room:,} more characters]"


def excerpt(line: str, at: int = 0) -> str:
    """A line as far as it is shown, with the place `at` in it in sight."""
    if len(line) <= SHOWN_WIDTH:
        return line
    start = max(0, min(at - SHOWN_WIDTH // 3, len(line) - SHOWN_WIDTH))
    end = start + SHOWN_WIDTH
    return f"{'[...]' if start else ''}{line[start:end]}{'[...]' if end < len(line) else ''}"


def first_difference(one: str, other: str) -> int:
    length = min(len(one), len(other))
    if one[:length] == other[:length]:
        return length
    low, high = 0, length  # they are alike up to `low`, and not up to `high`
    while high - low > 1:
        middle = (low + high) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle
    return low


def numbered(lines: list[str], start: int) -> str:
    return "\n".join(f"{number:>6}\t{line}" for number, line in enumerate(lines, start))


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
