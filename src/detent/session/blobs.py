"""The blob store: bytes by their digest, written once. `$DETENT_HOME/blobs/ab/cdef…`

A log names what it holds by digest, so sessions share what is the same in them.
"""

import os
from contextlib import contextmanager, suppress
from itertools import count
from typing import TYPE_CHECKING

from detent.session.log import flush, flush_folder, make_private

if TYPE_CHECKING:
    from collections.abc import Iterator

try:
    import fcntl
except ImportError:
    fcntl = None  # type: ignore[assignment]

YOUNG = 1800.0
"""Seconds: younger blobs nobody sweeps away, not even one who has begun to."""
_numbers = count()


class Missing(LookupError):
    """There is no such blob, or it is damaged."""


class Blobs:
    def __init__(self, home: str) -> None:
        self.root = os.path.join(home, "blobs")
        self._fresh: set[str] = set()
        """Digests of what was put since the last sync."""

    def put(self, data: bytes) -> str:
        """The digest. On disk under its name only when it is whole. Raises OSError."""
        digest = digest_of(data)
        path = self.path(digest)
        if not _is_there(path, data) and not self._was_old(path, data):
            self._write(path, data)
        self._fresh.add(digest)
        return digest

    def get(self, digest: str) -> bytes:
        """Raises Missing."""
        try:
            with open(self.path(digest), "rb") as file:
                data = file.read()
        except OSError as error:
            raise Missing(f"the blob {digest[:12]} cannot be read: {error.strerror}") from None
        if digest_of(data) != digest:
            raise Missing(f"the blob {digest[:12]} is damaged")
        return data

    def has(self, digest: str) -> bool:
        return os.path.exists(self.path(digest))

    def path(self, digest: str) -> str:
        return os.path.join(self.root, digest[:2], digest[2:])

    def sync(self) -> None:
        """What was put until now survives a power cut. From any thread. Raises OSError."""
        folders = set()
        while self._fresh:
            path = self.path(self._fresh.pop())
            folders.add(os.path.dirname(path))
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            try:
                flush(descriptor)
            finally:
                os.close(descriptor)
        for folder in folders:
            flush_folder(folder)
        if folders:
            flush_folder(self.root)

    @contextmanager
    def held(self, *, alone: bool) -> "Iterator[None]":
        """Nobody sweeps meanwhile, or somebody does and nobody takes up what is old."""
        make_private(self.root)
        descriptor = os.open(
            os.path.join(self.root, ".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600
        )
        try:
            if fcntl is not None:
                with suppress(OSError):  # a file system without locks
                    fcntl.flock(descriptor, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
            yield
        finally:
            os.close(descriptor)

    def _was_old(self, path: str, data: bytes) -> bool:
        """Whether it is there all the same, and so old that somebody might be sweeping it away."""
        if not os.path.exists(path):
            return False
        with self.held(alone=False):
            try:
                os.utime(path)
            except OSError:
                return False
            return _is_there(path, data)

    def _write(self, path: str, data: bytes) -> None:
        make_private(os.path.dirname(path))
        partial = f"{path}.{os.getpid()}.{next(_numbers)}"
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            try:
                rest = memoryview(data)
                while rest:
                    rest = rest[os.write(descriptor, rest) :]
            finally:
                os.close(descriptor)
            os.rename(partial, path)
        except BaseException:
            with suppress(OSError):
                os.unlink(partial)
            raise


def _is_there(path: str, data: bytes) -> bool:
    """Whole, and young enough to stay. After a power cut a file may be empty or full of zeros."""
    from time import time

    try:
        with open(path, "rb", buffering=0) as file:
            is_young = os.fstat(file.fileno()).st_mtime > time() - YOUNG
            return is_young and file.read(len(data) + 1) == data
    except OSError:
        return False


def digest_of(data: bytes) -> str:
    from hashlib import sha256

    return sha256(data).hexdigest()
