"""A chunk of Markdown as painted lines. The one place that knows markdown-it."""

from functools import cache
from typing import TYPE_CHECKING

from detent.surfaces.tables.widths import fitted, width_of
from detent.surfaces.tui.drawing.flow import Chunk
from detent.surfaces.tui.drawing.highlight import highlighted
from detent.surfaces.tui.screen.spans import Span, painted, wrapped
from detent.surfaces.tui.screen.themes import Theme
from detent.surfaces.wording.shown import shown

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

NARROWEST = 8
MARKS = {"strong_open": "strong", "em_open": "italic", "s_open": "struck", "link_open": "link"}


def drawn(chunk: Chunk, width: int, theme: Theme) -> list[str]:
    """Without the blank line before it."""
    text = shown(chunk.text).expandtabs(4)
    if chunk.kind == "code":
        return [" " * (chunk.indent + 2) + painted(highlighted(text, chunk.language), theme)]
    indent = max(0, min(chunk.indent, width - NARROWEST))
    lines = _Drawing(max(NARROWEST, width - indent), theme).of(_parser().parse(text))
    return [" " * indent + line for line in lines]


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


class _Drawing:
    """One walk over the tokens of a chunk."""

    def __init__(self, width: int, theme: Theme) -> None:
        self._width, self._theme = width, theme
        self._lines: list[str] = []
        self._lists: list[int | None] = []
        """The number of the next item; None where they have none."""
        self._margins: list[tuple[str, str]] = []
        """For each enclosing item or quote: before its first line, and before the others."""
        self._is_first = True

    def of(self, tokens: "list[Token]") -> list[str]:
        at = 0
        while at < len(tokens):
            at = self._take(tokens, at)
        return self._lines

    def _take(self, tokens: "list[Token]", at: int) -> int:
        token = tokens[at]
        match token.type:
            case "bullet_list_open":
                self._lists.append(None)
            case "ordered_list_open":
                self._lists.append(int(token.attrs.get("start", 1)))
            case "bullet_list_close" | "ordered_list_close":
                self._lists.pop()
            case "list_item_open":
                self._begin_item()
            case "blockquote_open":
                self._margin("▎ ", "▎ ")
            case "list_item_close" | "blockquote_close":
                self._margins.pop()
            case "heading_open":
                self._put([Span(_text(tokens[at + 1]), "heading")])
                return at + 3
            case "inline":
                self._put(_spans(token))
            case "fence" | "code_block":
                for line in token.content.rstrip("\n").split("\n"):
                    self._emit(painted(highlighted(line, token.info.strip()), self._theme), "  ")
            case "hr":
                self._put([Span("─" * min(self._room, 40), "faint")])
            case "table_open":
                return self._table(tokens, at)
        return at + 1

    def _begin_item(self) -> None:
        number = self._lists[-1]
        sign = "• " if number is None else f"{number}. "
        if number is not None:
            self._lists[-1] = number + 1
        self._margin(sign, " " * len(sign))

    def _margin(self, first: str, others: str) -> None:
        self._margins.append((first, others))
        self._is_first = True

    @property
    def _room(self) -> int:
        return max(NARROWEST, self._width - sum(len(others) for _, others in self._margins))

    def _put(self, spans: list[Span]) -> None:
        for line in wrapped(spans, self._room):
            self._emit(painted(line, self._theme))

    def _emit(self, line: str, further: str = "") -> None:
        margin = "".join(others for _, others in self._margins[:-1])
        if self._margins:
            margin += self._margins[-1][0 if self._is_first else 1]
        self._is_first = False
        self._lines.append(self._theme.paint("faint", margin) + further + line)

    def _table(self, tokens: "list[Token]", at: int) -> int:
        rows: list[list[str]] = []
        rightly: list[bool] = []
        while tokens[at].type != "table_close":
            match tokens[at].type:
                case "tr_open":
                    rows.append([])
                case "th_open":
                    rightly.append("right" in str(tokens[at].attrs.get("style", "")))
                case "inline":
                    rows[-1].append(_text(tokens[at]))
            at += 1
        table = _tabulated(rows, rightly, self._room)
        widest = max(map(width_of, table))
        for number, line in enumerate(table):
            self._emit(self._theme.paint("strong" if number == 0 else "", line))
            if number == 0:
                self._emit(self._theme.paint("faint", "─" * min(widest, self._room)))
        return at + 1


def _text(token: "Token") -> str:
    return "".join(span.text for span in _spans(token))


def _spans(token: "Token") -> list[Span]:
    spans: list[Span] = []
    roles: list[str] = []
    links: list[str] = []
    for child in token.children or ():
        match child.type:
            case "text" | "html_inline":
                spans.append(Span(_one_line(child.content), roles[-1] if roles else ""))
            case "code_inline":
                spans.append(Span(child.content, "code"))
            case "softbreak":
                spans.append(Span(" "))
            case "hardbreak":
                spans.append(Span("\n"))
            case "image":
                spans.append(Span(f"[{child.content or 'picture'}]", "link"))
            case kind if kind in MARKS:
                roles.append(MARKS[kind])
                if kind == "link_open":
                    links.append(str(child.attrs.get("href", "")))
            case kind if kind.endswith("_close"):
                roles.pop()
                if kind == "link_close" and (href := links.pop()) and not _tells(spans, href):
                    spans.append(Span(f" ({href})", "faint"))
    return spans


def _one_line(text: str) -> str:
    """An entity (`&#x202e;`) becomes a character only when it is parsed."""
    return shown(text).replace("\n", " ").replace("\t", " ")


def _tells(spans: list[Span], href: str) -> bool:
    """The text of the link is its address: it need not be said twice."""
    return bool(spans) and spans[-1].text in (href, href.removeprefix("mailto:"))


def _tabulated(rows: list[list[str]], rightly: list[bool], room: int) -> list[str]:
    """Columns as wide as what is in them, narrowed in turn until they fit; some stand right."""
    many = max(map(len, rows), default=0)
    cells = [row + [""] * (many - len(row)) for row in rows]
    widths = [max(width_of(row[column]) for row in cells) for column in range(many)]
    while sum(widths) + 2 * (many - 1) > room and max(widths, default=0) > 4:
        widths[widths.index(max(widths))] -= 1
    sides = [*rightly, *(False for _ in range(many - len(rightly)))]
    lines = (zip(row, widths, sides, strict=False) for row in cells)
    return ["  ".join(_filled(*cell) for cell in line).rstrip() for line in lines]


def _filled(cell: str, width: int, is_right: bool) -> str:
    cell = fitted(cell, width)
    rest = " " * (width - width_of(cell))
    return rest + cell if is_right else cell + rest
