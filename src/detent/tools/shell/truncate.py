"""Keeps the beginning and the end of a stream in fixed memory."""

from collections.abc import Callable

from detent.tools.terminal import plain

MOST = 30_000
"""Characters of an output that a model gets."""
WIDEST = 4
"""Bytes of a character at most."""


def left_out(where: str = "") -> str:
    """What stands for the middle. Plain ASCII: one other character in a long text doubles what it
    takes in memory."""
    return f"[... the middle is left out{where and f'; {where}'} ...]"


NOTE = left_out()


class Kept:
    """A short stream as it is; of a long one what is enough for `most` characters.

    Constant work per chunk and constant memory, however long the stream or one line of it: the
    tail is cut back only when it has doubled. `overflow` gets every byte from the first on, as
    soon as there is more than is kept.
    """

    __slots__ = ("_head", "_overflow", "_room", "_seen", "_tail", "_window")

    def __init__(
        self, most: int = MOST, overflow: Callable[[bytes], None] = lambda chunk: None
    ) -> None:
        self._room = WIDEST * most
        # One more than is shown: cut anywhere, it may begin with the rest of a character.
        self._window = WIDEST * (most // 2 + 1)
        self._overflow = overflow
        self._head, self._tail = bytearray(), bytearray()
        self._seen = 0

    def feed(self, chunk: bytes) -> None:
        before, self._seen = self._seen, self._seen + len(chunk)
        if self._seen <= self._room:
            self._head += chunk
            return
        if before <= self._room and before:
            self._overflow(bytes(self._head))
        self._overflow(chunk)
        missing = self._room - len(self._head)
        self._head += chunk[:missing]
        self._tail += chunk[missing:][-self._window :]
        if len(self._tail) > 2 * self._window:
            del self._tail[: -self._window]

    @property
    def seen(self) -> int:
        """Bytes that came."""
        return self._seen

    @property
    def memory(self) -> int:
        """Bytes held."""
        return len(self._head) + len(self._tail)

    def held(self) -> bytes:
        """Everything, while nothing has overflowed; else nothing."""
        return bytes(self._head) if self._seen <= self._room else b""

    def exceeds(self, most: int) -> bool:
        """Whether these are more than `most` characters."""
        if self._seen <= most:
            return False
        return self._seen > self._room or len(_text(self._head)) > most

    def text(self, most: int = MOST, note: str = NOTE) -> str:
        """Never longer than `most`; where that is too little for all, `note` is in the middle.

        `most` is not above what the stream was kept for.
        """
        if not self.exceeds(most):
            return plain(_text(self._head))
        middle = f"\n{note}\n"
        room = max(0, most - len(middle))
        head, tail = room - room // 2, room // 2
        # Each end by itself: a torn escape sequence must not swallow what is behind it.
        end = _text((self._head + self._tail)[-self._window :])
        ends = plain(_text(self._head)[:head]), plain(end[-tail:] if tail else "")
        return middle.join(ends)[:most]


def _text(data: bytearray) -> str:
    return data.decode("utf-8", "replace")


def torn_end(data: bytes) -> int:
    """How many of the last bytes are a character of which more may come."""
    for back in range(1, min(WIDEST - 1, len(data)) + 1):
        byte = data[-back]
        if byte >= 0xC0:
            length = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return back if length > back else 0
        if byte < 0x80:
            break
    return 0
