"""Code in colours, line by line. The one place that knows Pygments."""

from functools import lru_cache
from typing import Any

from detent.surfaces.tui.screen.spans import Span

LONGEST = 500
"""Characters of a line that are looked at; a longer one is data."""
ROLES = (
    ("Token.Comment", "comment"),
    ("Token.Keyword.Type", "builtin"),
    ("Token.Keyword", "keyword"),
    ("Token.Literal.String", "string"),
    ("Token.Literal.Number", "number"),
    ("Token.Operator.Word", "keyword"),
    ("Token.Name.Builtin", "builtin"),
    ("Token.Name.Function", "name"),
    ("Token.Name.Class", "name"),
    ("Token.Name.Decorator", "name"),
    ("Token.Name.Tag", "keyword"),
    ("Token.Name.Attribute", "name"),
    ("Token.Generic.Heading", "heading"),
)


@lru_cache(maxsize=64)
def _lexer(language: str, file: str) -> Any:
    """None where nobody knows the language."""
    from pygments.lexers import get_lexer_by_name, get_lexer_for_filename
    from pygments.util import ClassNotFound

    try:
        found = get_lexer_for_filename(file) if file else get_lexer_by_name(language)
    except ClassNotFound:
        return None
    found.ensurenl = found.stripnl = False
    return found


@lru_cache(maxsize=512)
def _role(token: str) -> str:
    return next((role for prefix, role in ROLES if token.startswith(prefix)), "")


def highlighted(line: str, language: str = "", file: str = "") -> list[Span]:
    """One line of code; plain where its language is not known."""
    lexer = _lexer(language.lower(), file) if (language or file) and len(line) <= LONGEST else None
    if lexer is None:
        return [Span(line)]
    return [Span(text, _role(str(kind))) for kind, text in lexer.get_tokens(line) if text != "\n"]
