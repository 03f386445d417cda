"""Which settings files there are, weakest first, and what they say.

Strict JSON. Files are read as data and nothing else: no program is asked where a project begins.
"""

import os
import stat
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from detent.app.places import detent_home, is_account_home, user_home
from detent.app.settings.record import Settings, Source
from detent.app.surroundings import repository_root
from detent.types.codec import decode_object
from detent.types.errors import BadInput

MANAGED = ("/etc/claude-code", "/etc/detent")
MOST_BYTES = 2 * 1024 * 1024


class Where(Struct, frozen=True):
    """The folders that settings are looked for in."""

    cwd: str
    root: str
    """Of the repository that holds cwd, else cwd."""
    home: str
    """The program's own."""
    claude: str
    """The other program's folder of the user."""
    managed: tuple[str, ...] = MANAGED
    is_ours: bool = True
    """The program's own folder does not lie in the project."""
    is_theirs_ours: bool = True


def where_of(cwd: str, environ: Mapping[str, str], managed: Sequence[str] = MANAGED) -> Where:
    """A variable that moves a user's folder into the project makes it the project's: its files
    may have come with it."""
    user, home = user_home(environ), detent_home(environ)
    claude = environ.get("CLAUDE_CONFIG_DIR") or os.path.join(user, ".claude")
    repository = repository_root(cwd)
    root = repository or cwd
    is_home_ours = _is_home_ours(user, root, is_repository=repository is not None)
    return Where(
        cwd,
        root,
        home,
        claude,
        tuple(managed),
        is_ours=_is_own(home, root, environ.get("DETENT_HOME"), is_home_ours),
        is_theirs_ours=_is_own(claude, root, environ.get("CLAUDE_CONFIG_DIR"), is_home_ours),
    )


def _is_home_ours(user: str, root: str, *, is_repository: bool) -> bool | None:
    """None where it lies elsewhere. Some people keep their home in git; jobs that build what others
    wrote move it there by a variable."""
    if not _lies_in(user, root):
        return None
    return not is_repository or is_account_home(user)


def _is_own(folder: str, root: str, moved_by: str | None, is_home_ours: bool | None) -> bool:
    if not _lies_in(folder, root):
        return True
    return not moved_by if is_home_ours is None else is_home_ours


def _lies_in(folder: str, root: str) -> bool:
    return f"{os.path.realpath(folder)}/".startswith(root.rstrip("/") + "/")


class Place(Struct, frozen=True):
    name: str
    path: str
    is_project: bool
    folder: str
    """What `/p` in its rules is below."""


def places(where: Where) -> list[Place]:
    """Weakest first. Ours comes after theirs, so that ours wins. Managed ones come last of all,
    behind the command line."""
    cwd, shared = where.cwd, main_checkout(where.root)
    settings, local = "settings.json", "settings.local.json"
    return [
        Place(
            "user",
            os.path.join(where.claude, settings),
            not where.is_theirs_ours,
            where.claude,
        ),
        Place("user", os.path.join(where.home, settings), not where.is_ours, where.home),
        Place("project", os.path.join(cwd, ".claude", settings), True, cwd),
        Place("project", os.path.join(cwd, ".detent", settings), True, cwd),
        Place("local", os.path.join(shared, ".claude", local), True, cwd),
        Place("local", os.path.join(shared, ".detent", local), True, cwd),
    ]


def main_checkout(root: str) -> str:
    """Where a worktree's local settings are: beside the repository that it belongs to."""
    try:
        is_worktree = stat.S_ISREG(os.lstat(os.path.join(root, ".git")).st_mode)
    except OSError:
        return root
    if not is_worktree:
        return root
    from detent.app.settings.worktree import checkout_of

    return checkout_of(root) or root


def load_sources(
    where: Where, wanted: Sequence[str], extra: Mapping[str, Any] | str | None = None
) -> list[Source]:
    """`extra` comes from the command line: values, or the name of a file that holds them."""
    sources: list[Source] = []
    for place in places(where):
        source = _source(place) if place.name in wanted else None
        if source is not None and not _is_twin(source, sources):
            sources.append(source)
    if isinstance(extra, str):
        sources.append(_from_flag(extra))
    elif extra:
        values = _in_our_spelling(extra)
        sources.append(Source("flag", "--settings", values, False, folder=where.cwd))
    for folder in where.managed:
        path = os.path.join(folder, "managed-settings.json")
        if (source := _source(Place("managed", path, False, folder))) is not None:
            sources.append(source)
    return sources


def _from_flag(path: str) -> Source:
    """Whatever the user names, a pipe included."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        why = error.strerror if isinstance(error, OSError) else error
        raise BadInput(f"--settings: cannot read {path}: {why}") from None
    values = _in_our_spelling(decode_object(data, path))
    folder = os.path.dirname(os.path.realpath(path))
    return Source("flag", path, values, False, text=data, folder=folder)


def _is_twin(source: Source, sources: Sequence[Source]) -> bool:
    """In the user's home folder the user's file is the project's, too: it is the user's."""
    real = os.path.realpath(source.path)
    is_users = (os.path.realpath(other.path) == real for other in sources if other.name == "user")
    return source.is_project and source.name != "user" and any(is_users)


def merge(sources: Sequence[Source], *, trusted: bool) -> Settings:
    """Loaded when there is something to merge: a run without settings need not wait for it."""
    if not sources:
        return Settings()
    from detent.app.settings.merging import merge_all

    return merge_all(sources, trusted=trusted)


def _source(place: Place) -> Source | None:
    try:
        data, facts = read_file(place.path)
        doubt = "" if place.is_project else doubt_about(facts, place.path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise BadInput(f"{place.path}: cannot be read: {error.strerror}") from None
    if not data.strip():
        return None
    return Source(
        place.name,
        place.path,
        _in_our_spelling(decode_object(data, place.path)),
        place.is_project or bool(doubt),
        text=data,
        folder=place.folder,
        doubt=doubt,
    )


def read_file(path: str) -> tuple[bytes, os.stat_result]:
    """Never waits: what lies there may be a pipe or a device. Raises OSError, and BadInput."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "rb") as file:
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode):
            raise BadInput(f"{path}: cannot be read: it is not a file")
        if facts.st_size > MOST_BYTES:
            raise BadInput(f"{path}: cannot be read: it is larger than 2 MiB")
        return file.read(MOST_BYTES), facts


def doubt_about(facts: os.stat_result, path: str) -> str:
    """Why somebody else may have written a file, or put another in its place."""
    above = [folder for way in {path, os.path.realpath(path)} for folder in _folders_above(way)]
    for what, found in (("", facts), ("lies in a folder that ", os.stat(above[0]))):
        if found.st_uid not in (0, os.getuid()):
            return f"{what}belongs to another user"
    if _is_shared(facts):
        return "can be written by other users"
    for folder in above:
        if _is_shared(found := os.stat(folder)) and not found.st_mode & stat.S_ISVTX:
            return f"lies below {folder}, which can be written by other users"
    return ""


def _folders_above(path: str) -> list[str]:
    """The nearest first."""
    found = [os.path.dirname(os.path.abspath(path))]
    while (above := os.path.dirname(found[-1])) != found[-1]:
        found.append(above)
    return found


def _is_shared(facts: os.stat_result) -> bool:
    by_group = facts.st_gid not in (0, os.getgid()) and facts.st_mode & stat.S_IWGRP
    return bool(by_group or facts.st_mode & stat.S_IWOTH)


def _in_our_spelling(values: Mapping[str, Any]) -> dict[str, Any]:
    """`max_tool_concurrency` is `maxToolConcurrency`; where both stand, the latter counts."""
    spelled: dict[str, Any] = {}
    for key, value in values.items():
        first, *rest = key.split("_")
        ours = first + "".join(map(str.capitalize, rest)) if first else key
        if ours == key or ours not in values:
            spelled[ours] = value
    return spelled
