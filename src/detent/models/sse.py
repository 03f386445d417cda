"""Server-sent events: bytes in, the `data` of whole events out, whatever the split."""

from detent.types.errors import ModelFailure

MOST_PENDING = 32 * 1024 * 1024
"""An event that grows beyond this is not an event."""


class EventSplitter:
    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> list[bytes]:
        """A piece without a line end only waits: a huge event is not joined again and again."""
        self._keep(chunk)
        if b"\n" not in chunk and b"\r" not in chunk:
            return []
        pending, held = _with_plain_newlines(self._taken())
        *events, rest = pending.split(b"\n\n")
        self._keep(rest + held)
        return [data for event in events if (data := event_data(event))]

    def finish(self) -> list[bytes]:
        """Some servers leave out the blank line behind the last event."""
        data = event_data(self._taken().replace(b"\r", b"\n"))
        return [data] if data else []

    def _keep(self, piece: bytes) -> None:
        if piece:
            self._parts.append(piece)
            self._size += len(piece)
        if self._size > MOST_PENDING:
            raise ModelFailure("invalid_response", "the server sent an endless event")

    def _taken(self) -> bytes:
        pending = self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)
        self._parts, self._size = [], 0
        return pending


def _with_plain_newlines(data: bytes) -> tuple[bytes, bytes]:
    """A carriage return at the very end may be half of a pair: it is held back."""
    if b"\r" not in data:
        return data, b""
    held = b"\r" if data.endswith(b"\r") else b""
    body = data[: len(data) - len(held)]
    return body.replace(b"\r\n", b"\n").replace(b"\r", b"\n"), held


def event_data(event: bytes) -> bytes:
    """Joined `data` lines; comments, names and ids are passed over."""
    if event.startswith(b"data: ") and b"\n" not in event:
        return event[6:]
    lines = []
    for line in event.split(b"\n"):
        if line.startswith(b"data:"):
            value = line[5:]
            lines.append(value[1:] if value.startswith(b" ") else value)
    return b"\n".join(lines)
