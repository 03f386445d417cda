"""A profile on this disk, as it stands now: what is there, which file it is, who may do what."""

import os
import stat
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress

from msgspec import Struct
from msgspec.structs import replace

from detent.host.sandbox.profile import IN_REPOSITORY, MASKED, Profile


class Places(Struct, frozen=True):
    """By their real names."""

    writable: tuple[str, ...]
    pinned: tuple[str, ...]
    """Written like all around them, but not moved: something below them is closed."""
    protected: tuple[str, ...]
    readable: tuple[str, ...]
    hidden: tuple[str, ...]
    folders: frozenset[str]
    """Those among the hidden that are folders."""


def settled(profile: Profile) -> Profile:
    """With real names. To be called once, before the first command can change what they lead to."""

    def real(paths: Iterable[str]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(map(os.path.realpath, paths)))

    return replace(
        profile,
        roots=real(profile.roots),
        writable=real(profile.writable),
        repositories=real(profile.repositories),
    )


def find_places(profile: Profile, private: Collection[str]) -> Places:
    """Of a profile that is settled. `private` folders are always written."""
    roots = _workspace(profile)
    repositories = _unmoved(profile.repositories) if roots else []
    own = [os.path.realpath(path) for path in private]
    written = [*roots, *repositories, *_unmoved(profile.writable)]
    writable = list(dict.fromkeys([*written, *own]))
    outer = outermost(written)
    hidden = _existing(profile.denied_reads)
    protected = _protected(profile, roots, repositories, outer)
    pinned = dict.fromkeys(
        parent
        for path in (*protected, *hidden)
        for parent in _between(path, outer)
        if not any(is_below(parent, closed) for closed in protected)
    )
    readable = _existing((*profile.roots, *profile.readable))
    return Places(
        tuple(writable),
        tuple(pinned),
        tuple(protected),
        tuple(readable),
        tuple(hidden),
        frozenset(path for path in hidden if os.path.isdir(path)),
    )


class Look:
    """What was found, and whether that is still so. Most commands find what the first has found;
    but a mount goes with the file that it lay on, so a sandbox is good for one look only."""

    def __init__(self, profile: Profile, private: Collection[str]) -> None:
        self.profile = profile
        self._names = [*_named(profile), *profile.readable, *profile.denied_reads]
        self._leads_to = list(map(_leads_to, self._names))  # first: what changes now is seen then
        self.places = find_places(profile, private)
        self._names += self.places.pinned
        self._leads_to += map(_leads_to, self.places.pinned)
        # As long as they are open, no other file gets their numbers.
        self._open = list(_opened((*self.places.protected, *self.places.hidden)))

    def close(self) -> None:
        while self._open:
            os.close(self._open.pop())

    def is_true(self, profile: Profile) -> bool:
        return profile is self.profile and list(map(_leads_to, self._names)) == self._leads_to


def _opened(paths: Iterable[str]) -> Iterator[int]:
    for path in paths:
        with suppress(OSError):  # gone since we looked
            yield os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)


def _named(profile: Profile) -> list[str]:
    """All that is written or may be protected, by the names that the profile has for it."""
    written = [*profile.roots, *profile.writable, *profile.repositories]
    git = [os.path.join(root, ".git") for root in profile.roots]
    return [*written, *git, *_to_protect(profile, profile.roots, profile.repositories)]


def _to_protect(
    profile: Profile, roots: Iterable[str], repositories: Iterable[str]
) -> Iterator[str]:
    yield from filter(os.path.isabs, profile.protected)
    for root in roots:
        yield from (os.path.join(root, name) for name in profile.protected if name[0] != "/")
    for git in repositories:
        yield from (os.path.join(git, name) for name in IN_REPOSITORY)


def _leads_to(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _workspace(profile: Profile) -> list[str]:
    return _unmoved(profile.roots) if profile.kind == "workspace-write" else []


def _protected(
    profile: Profile, roots: list[str], repositories: list[str], outer: list[str]
) -> list[str]:
    """A link is protected where it leads to. It can be replaced itself: nothing can be mounted on
    a link."""
    named = list(_to_protect(profile, roots, repositories))
    # That of a worktree: whoever writes another folder into it says what programs git runs.
    named += filter(os.path.isfile, (os.path.join(root, ".git") for root in roots))
    return [path for path in _existing(named) if any(is_below(path, place) for place in outer)]


def missing_folders(profile: Profile) -> list[str]:
    """To be made before the places are looked for."""
    roots = _workspace(profile)
    masked = [name for name in MASKED if name in profile.protected]
    wanted = [os.path.join(root, name) for root in roots for name in masked]
    if roots:
        wanted += [os.path.join(git, "hooks") for git in _unmoved(profile.repositories)]
    return [
        path
        for path in wanted
        if not os.path.lexists(path) and os.path.isdir(os.path.dirname(path))
    ]


def siblings_changed(hidden: Collection[str]) -> tuple[tuple[str, int, int], ...]:
    """When something was last added to or taken from the folders on the way to what is hidden:
    Landlock grants reading to what is there when it is set up, so a new neighbour needs another."""
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


def is_link(path: str) -> bool:
    try:
        return stat.S_ISLNK(os.lstat(path).st_mode)
    except OSError:
        return False


def is_below(path: str, folder: str) -> bool:
    """Or the folder itself."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def outermost(paths: Iterable[str]) -> list[str]:
    """Without those below another: there a command can put whatever it likes at their names."""
    found: list[str] = []
    for path in sorted(paths):
        if not any(is_below(path, folder) for folder in found):
            found.append(path)
    return found


def _unmoved(paths: Iterable[str]) -> list[str]:
    return [path for path in paths if os.path.exists(path) and os.path.realpath(path) == path]


def _existing(paths: Iterable[str]) -> list[str]:
    """By their real names."""
    return list(dict.fromkeys(os.path.realpath(path) for path in paths if os.path.exists(path)))


def _between(path: str, folders: Collection[str]) -> list[str]:
    """The folders between one that may be written and what is closed below it."""
    found: list[str] = []
    while path not in folders:
        if path == "/" or is_link(path):
            return []
        path = os.path.dirname(path)
        found.append(path)
    return found[:-1]
