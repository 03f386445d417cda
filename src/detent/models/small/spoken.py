"""The text of an answer, while its JSON is still being written."""

import re

from detent.types.codec import decode_any

_OPENING = re.compile(r'\s*\{\s*"tool"\s*:\s*"answer"\s*,\s*"text"\s*:\s*"')
_PIECE = re.compile(r'(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*')


class SpokenText:
    """Fed with raw JSON, gives what of the answer is new; nothing for any other action."""

    def __init__(self) -> None:
        self._raw = ""
        self.text = ""

    def feed(self, raw: str) -> str:
        self._raw += raw
        opening = _OPENING.match(self._raw)
        piece = _PIECE.match(self._raw, opening.end()) if opening else None
        if piece is None:
            return ""
        try:
            text = str(decode_any(f'"{piece[0]}"'))
        except ValueError:  # half of a surrogate pair: the other half is on its way
            return ""
        fresh = text[len(self.text) :]
        self.text = text
        return fresh
