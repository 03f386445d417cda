"""What a server answered, as text that a model can read and use."""

from collections.abc import Awaitable, Callable, Sequence

from detent.tools.language.messages import (
    ERROR,
    KINDS,
    SEVERITIES,
    Diagnostic,
    Hover,
    Markup,
    Place,
    Position,
    Range,
    Symbol,
)
from detent.tools.language.positions import from_wire
from detent.tools.language.uris import path_of
from detent.tools.paths import shown

MOST_PLACES = 100
MOST_SYMBOLS = 200
LONGEST_LINE = 200
LONGEST_HOVER = 6_000
LONGEST_MESSAGE = 300
_START = Range(Position(0, 0), Position(0, 0))

Lines = Callable[[str], Awaitable[list[str]]]
"""The lines of a file, none when it cannot be shown."""


class Reading:
    """How places are written: relative to a folder, with the source line where we may show it."""

    def __init__(self, cwd: str, encoding: str, lines: Lines) -> None:
        self._cwd, self._encoding, self._lines = cwd, encoding, lines
        self._read: dict[str, list[str]] = {}

    async def places(self, places: Sequence[Place]) -> str:
        """A place a line, by file and line, each once."""
        found = sorted({_where(place) for place in places})
        written = [await self._place(*one) for one in found[:MOST_PLACES]]
        return "\n".join([*written, *more(len(found), MOST_PLACES)])

    async def _place(self, path: str, line: int, offset: int) -> str:
        if path not in self._read:
            self._read[path] = await self._lines(path)
        lines = self._read[path]
        if line >= len(lines):
            return f"{shown(path, self._cwd)}:{line + 1}:{offset + 1}"
        number, character = from_wire(lines, Position(line, offset), self._encoding)
        text = lines[line].strip()[:LONGEST_LINE]
        return f"{shown(path, self._cwd)}:{number}:{character}  {text}".rstrip()

    async def symbols(self, symbols: Sequence[Symbol]) -> str:
        """Of the whole workspace: where, what, and in what."""
        written = []
        for symbol in symbols[:MOST_SYMBOLS]:
            inside = f" in {symbol.container_name}" if symbol.container_name else ""
            place = await self._place(*_where(symbol.location or Place()))
            where = place.partition("  ")[0]
            written.append(f"{where}  {_kind(symbol.kind)} {symbol.name}{inside}")
        return "\n".join([*written, *more(len(symbols), MOST_SYMBOLS)])


def outline(symbols: Sequence[Symbol]) -> str:
    """Of one file: a line each, those inside others indented."""
    written = _outlined(symbols, 0)
    return "\n".join([*written[:MOST_SYMBOLS], *more(len(written), MOST_SYMBOLS)])


def hover_text(hover: Hover | None) -> str:
    if hover is None:
        return ""
    parts = hover.contents if isinstance(hover.contents, list) else [hover.contents]
    text = "\n\n".join(filter(None, (_said(part).strip() for part in parts)))
    return text if len(text) <= LONGEST_HOVER else text[:LONGEST_HOVER] + "\n[...]"


def fault_line(fault: Diagnostic, lines: list[str], encoding: str) -> str:
    """`12:5 error: … (pyright)`"""
    line, character = from_wire(lines, fault.range.start, encoding)
    severity = SEVERITIES.get(severity_of(fault), "error")
    source = f" ({fault.source})" if fault.source else ""
    return f"{line}:{character} {severity}: {message_of(fault)}{source}"


def severity_of(fault: Diagnostic) -> int:
    """A server that does not say means an error."""
    return fault.severity or ERROR


def message_of(fault: Diagnostic) -> str:
    text = " ".join(_said(fault.message).split())
    return text if len(text) <= LONGEST_MESSAGE else f"{text[:LONGEST_MESSAGE]}..."


def more(found: int, most: int) -> list[str]:
    """The last line of a list that was cut."""
    return [f"[{found - most:,} more]"] if found > most else []


def _said(part: str | Markup) -> str:
    if isinstance(part, str):
        return part
    return f"```{part.language}\n{part.value}\n```" if part.language else part.value


def _where(place: Place) -> tuple[str, int, int]:
    start = (place.target_selection_range or place.range or _START).start
    return path_of(place.target_uri or place.uri), start.line, start.character


def _outlined(symbols: Sequence[Symbol], depth: int) -> list[str]:
    written = []
    for symbol in sorted(symbols, key=_first_line):
        line = _first_line(symbol) + 1
        written.append(f"{line:>6}  {'  ' * depth}{_kind(symbol.kind)} {symbol.name}")
        written += _outlined(symbol.children or (), depth + 1)
    return written


def _first_line(symbol: Symbol) -> int:
    if symbol.selection_range is not None:
        return symbol.selection_range.start.line
    return _where(symbol.location or Place())[1]


def _kind(number: int) -> str:
    return KINDS[number - 1] if 0 < number <= len(KINDS) else "symbol"
