"""Words from files of strangers, as they may stand in a file that people and models read."""

import re
from unicodedata import category

MOST = 120
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:+@/-]{0,59}")
_VERSION = re.compile(r"[\w.<>=!~^,|* -]{1,40}", re.ASCII)
_MARKS = str.maketrans("`<>", "'()")


def plain(text: object, most: int = MOST) -> str:
    """One line without control and invisible characters, and without marks of Markdown that could
    begin something of their own; empty where it is no text."""
    if not isinstance(text, str):
        return ""
    cleaned = "".join(char if _is_seen(char) else " " for char in text[: most * 8])
    line = " ".join(cleaned.translate(_MARKS).split()).lstrip("#-*!|=~ ")
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"


def is_name(text: object) -> bool:
    """Whether it can stand in a command as it is: nothing that a shell would obey."""
    return isinstance(text, str) and bool(_NAME.fullmatch(text))


def version(text: object) -> str:
    """A range of versions as code; empty where it is none."""
    is_one = isinstance(text, str) and "--" not in text and _VERSION.fullmatch(text)
    return f"`{text}`" if is_one else ""


def _is_seen(char: str) -> bool:
    return category(char) not in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
