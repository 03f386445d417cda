"""Texts and questions as the full-text search takes them."""

import re
from functools import cache

MARKS = "\x02", "\x03"
"""Around what was found. No text of ours holds them."""
_CONTROLS = dict.fromkeys((*range(9), 11, 12, *range(14, 32), 127), " ")
_JOINT = "\u200b"


@cache
def _unspaced() -> re.Pattern[str]:
    """Thai, Lao, Burmese, Khmer, Japanese, Chinese; Korean too, which writes words together."""
    return re.compile(
        "([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u9fff"
        "\uac00-\ud7a3\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff])"
    )


@cache
def _escapes() -> re.Pattern[str]:
    """Colours and titles: a word that is red is the same word."""
    return re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")


def indexed(text: str) -> str:
    """Without controls. Scripts that put no blanks between words are searched by character: an
    invisible joint makes each a word, and a row of them a phrase. A letter and its accent are
    one character, as most write it: names of files often have them apart."""
    if "\x1b" in text:
        text = _escapes().sub("", text)
    text = text.translate(_CONTROLS)
    if text.isascii():
        return text
    from unicodedata import normalize

    text = normalize("NFC", text.encode("utf-8", "replace").decode())
    return _unspaced().sub(rf"\1{_JOINT}", text)


def plain(snippet: str) -> str:
    """As people read it, in one line."""
    return " ".join(snippet.replace(_JOINT, "").split())


def query(words: str) -> str:
    """All of them must be there, in any order; what is in quotes must be there as it is, any other
    word may go on. Empty where there is nothing to look for."""
    found = []
    for phrase, word in re.findall(r'"([^"]*)"?|([^\s"]+)', words):
        text = indexed(phrase or word).replace('"', " ").strip()
        if any(char.isalnum() for char in text):
            found.append(f'"{text}"' if phrase else f'"{text}" *')
    return " AND ".join(found)
