"""A session as JSON: every entry whole, with what is known of the session. `import` reads it."""

from collections.abc import Sequence
from typing import Any

from msgspec import to_builtins

from detent.app.export.story import Facts
from detent.types.codec import encode
from detent.types.events import Entry

FORMAT = 1


def whole(entries: Sequence[Entry], facts: Facts) -> bytes:
    """An entry per line: large sessions can be looked through, and differences are readable."""
    head: dict[str, Any] = {"detent": "session", "v": FORMAT, "facts": to_builtins(facts)}
    lines = b",\n".join(map(encode, entries))
    return b'%b,"entries":[\n%b\n]}\n' % (encode(head)[:-1], lines)
