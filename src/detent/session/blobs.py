"""The blob store: bytes by their digest, written once. `$DETENT_HOME/blobs/ab/cdef…`

A log names what it holds by digest, so sessions share what is the same in them.
"""

import os
from contextlib import suppress


class Missing(LookupError):
    """There is no such blob, or it is damaged."""


class Blobs:
    def __init__(self, home: str) -> None:
        self.root = os.path.join(home, "blobs")

    def put(self, data: bytes) -> str:
        """The digest. On disk under its name only when it is whole. Raises OSError."""
        digest = digest_of(data)
        path = self.path(digest)
        if os.path.exists(path):
            with suppress(OSError):
                os.utime(path)  # whoever sweeps spares what was just named
            return digest
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        partial = f"{path}.{os.getpid()}.{id(data):x}"
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(descriptor, rest) :]
            os.close(descriptor)
            os.rename(partial, path)
        except BaseException:
            with suppress(OSError):
                os.unlink(partial)
            raise
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


def digest_of(data: bytes) -> str:
    from hashlib import sha256

    return sha256(data).hexdigest()
