"""The whole of an output in a file, when it is too long for the model."""

from collections.abc import Callable
from typing import BinaryIO

MOST_BYTES = 1_000_000_000


class Spill:
    """Made with the first bytes that come. A full disk is told in `where`, never raised: the
    command that prints must not fail because we cannot keep what it says."""

    __slots__ = ("_create", "_file", "_most", "fault", "path", "size")

    def __init__(self, create: Callable[[], BinaryIO], most: int = MOST_BYTES) -> None:
        self._create = create
        self._most = most
        self._file: BinaryIO | None = None
        self.path = ""
        self.size = 0
        self.fault = ""
        """Why the rest is not there."""

    def feed(self, data: bytes) -> None:
        if self.fault or (self._file is not None and self._file.closed):
            return
        try:
            if self._file is None:
                self._file = self._create()
                self.path = self._file.name
            self._write(self._file, data[: self._most - self.size])
        except OSError as error:
            self.fault = error.strerror or str(error)
            return
        if self.size == self._most:
            self.fault = f"a file takes {sized(self._most)} at most"

    def _write(self, file: BinaryIO, data: bytes) -> None:
        """An unbuffered file may take only a part at a time."""
        left = memoryview(data)
        while left:
            written = file.write(left)
            self.size += written
            left = left[written:]

    def close(self) -> None:
        if self._file is not None:
            try:
                self._file.close()
            except OSError as error:  # some disks say only now that they are full
                self.fault = self.fault or error.strerror or str(error)

    def where(self, seen: int) -> str:
        """For the model: where the `seen` bytes of the output are."""
        if seen <= self.size:
            return f"the whole output ({sized(seen)}) is in {self.path}: use Read or Grep on it"
        if not self.size:
            return f"the whole ({sized(seen)}) could not be kept: {self.fault}"
        return (
            f"the first {sized(self.size)} of {sized(seen)} are in {self.path}, "
            f"the rest is lost: {self.fault}"
        )


def sized(count: int) -> str:
    """`12.3 MB`"""
    if count < 1_000:
        return f"{count} bytes"
    for unit, size in (("KB", 1e3), ("MB", 1e6)):
        if count < 999.95 * size:
            return f"{count / size:.1f} {unit}"
    return f"{count / 1e9:.1f} GB"
