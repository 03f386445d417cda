"""Blobs that no log names any more are removed, when a session is."""

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from time import time

from detent.session.blobs import Blobs

SPARED = 3600.0
"""Seconds: a younger blob may be about to be named."""
_DIGEST = re.compile(rb"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")


def sweep(blobs: Blobs, logs: Iterable[str]) -> int:
    """How many bytes became free. A log that cannot be read, or its folder, keeps everything: what
    it names is not known. Raises OSError then."""
    if not os.path.isdir(blobs.root):
        return 0
    freed = 0
    with blobs.held(alone=True):
        named = set[bytes]()
        for log in logs:
            named |= digests_in(log)
        for path, name in _stored(blobs.root):
            if name not in named:
                freed += _removed(path)
    return freed


def digests_in(log: str) -> set[bytes]:
    """Whatever looks like one, in any entry and of any version: too much is kept, never too
    little."""
    found = set[bytes]()
    with open(log, "rb") as file:
        for line in file:
            found.update(_DIGEST.findall(line))
    return found


def _stored(root: str) -> Iterator[tuple[str, bytes]]:
    """Blobs, and what was left of some that never became whole: those no log names."""
    for folder in os.listdir(root):
        if len(folder) == 2:
            for name in os.listdir(os.path.join(root, folder)):
                yield os.path.join(root, folder, name), os.fsencode(folder + name)


def _removed(path: str) -> int:
    with suppress(OSError):
        facts = os.stat(path)
        if facts.st_mtime < time() - SPARED:
            os.unlink(path)
            return facts.st_size
    return 0
