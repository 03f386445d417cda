"""Is a JSON object whole that comes in pieces? Then its call may start before the answer ends."""

import re

import msgspec

_MARK = re.compile(r'\\.?|["{}]', re.DOTALL)


class Wholeness:
    """Counts braces as they come, so that the text is read as JSON once and not at every `}`."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._depth = 0
        self._in_string = self._escaped = self._over = False

    def feed(self, piece: str) -> bool:
        """Whether the object is whole now. It cannot grow into another one then.

        An empty one may be a placeholder: some servers send `{}` first and the arguments after it.
        """
        if self._over:
            return False
        self._pieces.append(piece)
        self._count(piece)
        if self._depth > 0 or not piece.rstrip().endswith("}"):
            return False
        self._over = True
        text = "".join(self._pieces)
        self._pieces = []
        try:
            return bool(msgspec.json.decode(text))
        except (ValueError, RecursionError):
            return False

    def _count(self, piece: str) -> None:
        start, self._escaped = int(self._escaped), False
        for mark in _MARK.finditer(piece, start):
            match mark.group():
                case '"':
                    self._in_string = not self._in_string
                case "{" if not self._in_string:
                    self._depth += 1
                case "}" if not self._in_string:
                    self._depth -= 1
                case "\\":  # what it stands before is in the next piece
                    self._escaped = True
                case _:
                    pass
