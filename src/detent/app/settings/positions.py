"""Where in a JSON file the entries of its lists stand. The text is known to be good JSON."""

import re
from typing import Any

from detent.types.codec import decode_any

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[][{},:]|[^][{},:"\s]+')
Path = tuple[str, ...]


class Positions:
    """Lines of list entries by the keys that lead to the list.

    One pass and no recursion: how long it takes is not for whoever wrote the file to say.
    """

    def __init__(self, data: bytes) -> None:
        text = data.decode(errors="replace")
        whole: dict[str, Any] = {}
        around: list[Any] = [whole]
        key: str | None = ""
        line, seen = 1, 0
        for match in _TOKEN.finditer(text):
            line += text.count("\n", seen, match.start())
            token, seen, inner = match[0], match.start(), around[-1]
            if token in ("}", "]"):
                around.pop()
            elif token in (",", ":"):
                continue
            elif isinstance(inner, dict) and key is None:
                key = str(decode_any(token))
            else:
                value: Any = {"{": {}, "[": []}.get(token)
                if isinstance(inner, dict):
                    inner[key] = value  # a key that comes again replaces what it said before
                    key = None
                else:
                    inner.append(line)
                if value is not None:
                    around.append(value)
        self._whole = whole

    def line(self, path: Path, index: int) -> int:
        """0 when it is not known."""
        found: Any = self._whole
        for key in ("", *path):
            found = found.get(key) if isinstance(found, dict) else None
        return found[index] if isinstance(found, list) and index < len(found) else 0
