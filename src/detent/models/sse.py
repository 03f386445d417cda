"""Server-sent events: bytes in, the `data` of whole events out, whatever the split."""

from detent.types.errors import ModelFailure

MOST_PENDING = 32 * 1024 * 1024
"""An event that grows beyond this is not an event."""


class EventSplitter:
    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0
        self._held = b""
        self._is_first = True

    def feed(self, chunk: bytes) -> list[bytes]:
        """A piece that ends no event only waits: a huge event is not joined again and again."""
        fresh = self._with_plain_newlines(chunk)
        seam = self._parts[-1][-1:] + fresh[:1] if self._parts else b""
        self._keep(fresh)
        if b"\n\n" not in fresh and seam != b"\n\n":
            return []
        *events, rest = self._begun(self._taken()).split(b"\n\n")
        self._keep(rest)
        return [data for event in events if (data := event_data(event))]

    def finish(self) -> list[bytes]:
        """Some servers leave out the blank line behind the last event."""
        self._held = b""
        data = event_data(self._begun(self._taken()))
        return [data] if data else []

    def _begun(self, data: bytes) -> bytes:
        """A byte order mark may stand before the very first event."""
        if self._is_first:
            self._is_first = False
            return data.removeprefix(b"\xef\xbb\xbf")
        return data

    def _with_plain_newlines(self, chunk: bytes) -> bytes:
        """A carriage return at the very end may be half of a pair: it is held back."""
        data = self._held + chunk if self._held else chunk
        self._held = b""
        if b"\r" not in data:
            return data
        if data.endswith(b"\r"):
            data, self._held = data[:-1], b"\r"
        return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")

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
