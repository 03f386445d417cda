"""In which line of a JSON file a key stands, so that a fault can be told with it."""

import re
from collections.abc import Mapping

from detent.types.codec import decode_any

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[][{},:]|[^][{},:"\s]+')
_WORD = re.compile(r"[\w$.-]+")


def located(said: str, texts: Mapping[str, bytes]) -> str:
    """`FILE: what` becomes `FILE:LINE: what`, where the key that it speaks of can be found."""
    path = next((path for path in texts if said.startswith(f"{path}: ")), "")
    rest = said[len(path) + 2 :]
    if not path or rest.startswith("line "):
        return said
    lines = key_lines(texts[path])
    words = (word.rstrip(".:") for word in _WORD.findall(rest))
    line = next((lines[word] for word in words if word in lines), 0)
    return f"{path}:{line}: {rest}" if line else said


def key_lines(data: bytes) -> dict[str, int]:
    """By keys with dots between them. One pass and no recursion; what is no good JSON gives what
    was found before its fault."""
    text = data.decode(errors="replace")
    found: dict[str, int] = {}
    path: list[str | None] = []
    """The key that each object around is at; None for a list."""
    waits_for_key = False
    line, seen = 1, 0
    for match in _TOKEN.finditer(text):
        line += text.count("\n", seen, match.start())
        token, seen = match[0], match.start()
        if token in "{[":
            path.append("" if token == "{" else None)
            waits_for_key = token == "{"
        elif token in "}]":
            if path:
                path.pop()
            waits_for_key = False
        elif token == ",":
            waits_for_key = bool(path) and path[-1] is not None
        elif waits_for_key and token.startswith('"'):
            try:
                path[-1] = str(decode_any(token))
            except ValueError:
                break
            if None not in path:
                found.setdefault(".".join(key or "" for key in path), line)
            waits_for_key = False
    return found
