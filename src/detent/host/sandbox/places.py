"""A profile on this disk, as it stands now: what is there, which file it is, who may do what."""

import os
import stat
from collections.abc import Collection, Iterable

from msgspec import Struct

from detent.host.sandbox.profile import MASKED, Profile

Identity = tuple[str, int, int]


class Places(Struct, frozen=True):
    """Two that are equal need the same sandbox; so a sandbox is started again when a file that it
    protects was replaced from outside, which takes away the mount that lay on it."""

    writable: tuple[str, ...]
    pinned: tuple[str, ...]
    """Written like all of their root, but not moved: something below them is protected."""
    protected: tuple[str, ...]
    readable: tuple[str, ...]
    hidden: tuple[str, ...]
    folders: frozenset[str]
    """Those among the hidden that are folders."""
    identities: tuple[Identity, ...]


def find_places(profile: Profile, private: Collection[str]) -> Places:
    """`private` folders are always written."""
    roots = _existing(profile.roots) if profile.kind == "workspace-write" else []
    own = [os.path.realpath(path) for path in private]
    writable = list(dict.fromkeys([*roots, *_existing(profile.writable), *own]))
    protected = _protected(profile, roots)
    pinned = dict.fromkeys(
        parent for path in protected for parent in _between(path, roots) if parent not in protected
    )
    readable = _existing((*profile.roots, *profile.readable))
    hidden = _existing(profile.denied_reads)
    looked_at = [*writable, *pinned, *protected, *readable, *hidden]
    return Places(
        tuple(writable),
        tuple(pinned),
        tuple(protected),
        tuple(readable),
        tuple(hidden),
        frozenset(path for path in hidden if os.path.isdir(path)),
        tuple(identity(path) for path in looked_at),
    )


def _protected(profile: Profile, roots: list[str]) -> list[str]:
    """A link is protected where it leads to. It can be replaced itself: nothing can be mounted on
    a link."""
    named = [os.path.join(root, name) for root in roots for name in profile.protected]
    return [path for path in _existing(named) if any(is_below(path, root) for root in roots)]


def missing_folders(profile: Profile) -> list[str]:
    """To be made before the places are looked for."""
    if profile.kind != "workspace-write":
        return []
    wanted = [
        os.path.join(root, name)
        for root in _existing(profile.roots)
        for name in MASKED
        if name in profile.protected
    ]
    return [
        path
        for path in wanted
        if not os.path.lexists(path) and os.path.isdir(os.path.dirname(path))
    ]


def identity(path: str) -> Identity:
    try:
        found = os.lstat(path)
    except OSError:  # gone since we looked
        return path, 0, 0
    return path, found.st_dev, found.st_ino


def is_link(path: str) -> bool:
    try:
        return stat.S_ISLNK(os.lstat(path).st_mode)
    except OSError:
        return False


def is_below(path: str, folder: str) -> bool:
    """Or the folder itself."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _existing(paths: Iterable[str]) -> list[str]:
    """By their real names."""
    return list(dict.fromkeys(os.path.realpath(path) for path in paths if os.path.exists(path)))


def _between(path: str, roots: Iterable[str]) -> list[str]:
    """The folders between a root and what is protected below it."""
    found = []
    while (path := os.path.dirname(path)) not in roots and path != "/":
        if is_link(path):
            return []
        found.append(path)
    return found
