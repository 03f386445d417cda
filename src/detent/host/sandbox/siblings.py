"""Landlock grants reading to what is there when it is set up: a new neighbour needs another one."""

import os
from collections.abc import Collection

from detent.host.sandbox.places import Identity


def siblings_changed(hidden: Collection[str]) -> tuple[Identity, ...]:
    """When something was last added to or taken from the folders on the way to what is hidden."""
    folders: set[str] = set()
    for path in hidden:
        while path != "/":
            path = os.path.dirname(path)
            folders.add(path)
    return tuple((folder, *_changed(folder)) for folder in sorted(folders))


def _changed(folder: str) -> tuple[int, int]:
    try:
        found = os.stat(folder)
    except OSError:
        return 0, 0
    return found.st_ino, found.st_mtime_ns
