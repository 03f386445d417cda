"""Keeps the beginning and the end of a stream in fixed memory."""

KEPT_HEAD = 15_000
KEPT_TAIL = 15_000


class Kept:
    """The first and the last bytes of what was fed, and how much lies between.

    Constant work per chunk and constant memory, however long the stream or one line of it: the
    tail is cut back only when it has doubled.
    """

    __slots__ = ("_head", "_head_size", "_seen", "_tail", "_tail_size")

    def __init__(self, head: int = KEPT_HEAD, tail: int = KEPT_TAIL) -> None:
        self._head_size, self._tail_size = head, tail
        self._head, self._tail = bytearray(), bytearray()
        self._seen = 0

    def feed(self, chunk: bytes) -> None:
        self._seen += len(chunk)
        room = self._head_size - len(self._head)
        if room > 0:
            self._head += chunk[:room]
            chunk = chunk[room:]
        self._tail += chunk[-self._tail_size :]
        if len(self._tail) > 2 * self._tail_size:
            del self._tail[: -self._tail_size]

    @property
    def seen(self) -> int:
        return self._seen

    @property
    def dropped(self) -> int:
        return max(0, self._seen - self._head_size - self._tail_size)

    @property
    def memory(self) -> int:
        """Bytes held."""
        return len(self._head) + len(self._tail)

    def text(self) -> str:
        if not self.dropped:
            return (self._head + self._tail).decode("utf-8", "replace")
        head = _without_torn_end(self._head).decode("utf-8", "replace")
        tail = _without_torn_start(self._tail[-self._tail_size :]).decode("utf-8", "replace")
        return f"{head}\n[... {self.dropped:,} bytes left out ...]\n{tail}"


def _without_torn_end(data: bytearray) -> bytearray:
    """Without a last character of which we hold only the first bytes."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte >= 0xC0:
            length = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return data[:-back] if length > back else data
        if byte < 0x80:
            break
    return data


def _without_torn_start(data: bytearray) -> bytearray:
    """Without the last bytes of a character whose beginning is gone."""
    torn = 0
    while torn < min(3, len(data)) and 0x80 <= data[torn] < 0xC0:
        torn += 1
    return data[torn:]
