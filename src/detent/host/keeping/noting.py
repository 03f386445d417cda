"""What a keeper writes down of its command, for whoever asks when the agent is gone.

A line when it is about to begin and one when it has ended: the `head` of the agent's making, the
beginning of a JSON object, and the rest of it.
"""

import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    Ended = Literal["itself", "asked", "gone", "failed"]
    """By itself; because somebody asked for it; because the agent was gone; it never began."""


class Note:
    def __init__(self, head: bytes = b"", descriptors: "tuple[int, ...] | list[int]" = ()) -> None:
        """The first descriptor takes the lines; further ones are only held as long as it is."""
        self._head = head
        self._descriptors = list(descriptors)

    def begins(self, *, stays: bool) -> None:
        """`stays`: the lock on the file says from now on that it runs, and names us."""
        if not self._descriptors:
            return
        if stays:
            import fcntl
            from contextlib import suppress

            with suppress(OSError):  # a disk without locks: then it cannot be found again
                fcntl.lockf(self._descriptors[0], fcntl.LOCK_EX | fcntl.LOCK_NB)
        self._write(b'"began":%.3f' % time.time())

    def ended(self, code: int, why: "Ended", note: str = "") -> None:
        words = f'"ended":"{why}","code":{code},"at":{time.time():.3f}'
        self._write((f'{words},"note":"{note}"' if note else words).encode())

    def close(self) -> None:
        while self._descriptors:
            os.close(self._descriptors.pop())

    def _write(self, rest: bytes) -> None:
        if not self._descriptors:
            return
        try:
            os.write(self._descriptors[0], b"%b,%b}\n" % (self._head, rest))
        except OSError:  # a full disk must not end a command
            return
