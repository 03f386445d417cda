"""Server-sent events: bytes in, the `data` of whole events out, whatever the split."""

from detent.types.errors import ModelFailure

MOST_PENDING = 32 * 1024 * 1024
"""An event that grows beyond this is not an event."""


class EventSplitter:
    def __init__(self) -> None:
        self._pending = b""

    def feed(self, chunk: bytes) -> list[bytes]:
        pending = self._pending + chunk if self._pending else chunk
        if b"\r" in pending:
            pending, held = _with_plain_newlines(pending)
        else:
            held = b""
        if b"\n\n" not in pending:
            self._pending = pending + held
            if len(self._pending) > MOST_PENDING:
                raise ModelFailure("invalid_response", "the server sent an endless event")
            return []
        *events, rest = pending.split(b"\n\n")
        self._pending = rest + held
        return [data for event in events if (data := event_data(event))]

    def finish(self) -> list[bytes]:
        """Some servers leave out the blank line behind the last event."""
        rest, self._pending = self._pending.replace(b"\r", b"\n"), b""
        data = event_data(rest)
        return [data] if data else []


def _with_plain_newlines(data: bytes) -> tuple[bytes, bytes]:
    """A carriage return at the very end may be half of a pair: it is held back."""
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
