"""Where in a JSON file the entries of its lists stand. The text is known to be good JSON."""

import re

from detent.types.codec import decode_any

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[][{},:]|[^][{},:"\s]+')
Path = tuple[str, ...]


class Positions:
    """Lines of list entries by the keys that lead to the list."""

    def __init__(self, data: bytes) -> None:
        self._text = data.decode(errors="replace")
        self._lines: dict[Path, list[int]] = {}
        self._line, self._seen = 1, 0
        self._tokens = _TOKEN.finditer(self._text)
        self._value((), self._next())

    def line(self, path: Path, index: int) -> int:
        """0 when it is not known."""
        lines = self._lines.get(path, [])
        return lines[index] if index < len(lines) else 0

    def _next(self) -> str:
        match = next(self._tokens, None)
        if match is None:
            return ""
        self._line += self._text.count("\n", self._seen, match.start())
        self._seen = match.start()
        return match[0]

    def _value(self, path: Path, token: str) -> None:
        if token == "{":
            self._object(path)
        elif token == "[":
            self._list(path)

    def _object(self, path: Path) -> None:
        while (token := self._next()) not in ("}", ""):
            if token == ",":
                continue
            key = (*path, str(decode_any(token)))
            # A key that comes again replaces what it said before, with all that is below it.
            for old in [old for old in self._lines if old[: len(key)] == key]:
                del self._lines[old]
            self._next()  # the colon
            self._value(key, self._next())

    def _list(self, path: Path) -> None:
        lines = self._lines[path] = []
        while (token := self._next()) not in ("]", ""):
            if token != ",":
                lines.append(self._line)
                self._value((*path, ""), token)
