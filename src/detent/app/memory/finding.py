"""Which memory files there are, in the order in which they are read: from broad to narrow."""

import os
import stat
from collections.abc import Callable, Iterator
from itertools import islice

from detent.app.grounds import Grounds
from detent.app.reminders import folders_down, highest
from detent.context.memory.record import Found, Level

MOST_RULES = 200
"""Of one folder."""
MOST_ENTRIES = 2_000
DEEPEST_RULE = 8
FOREIGN = frozenset(
    {"node_modules", "site-packages", "bower_components", ".git", ".venv", "venv", ".tox"}
)
"""What lies in these came from elsewhere: it has no say in how to work here."""

Exclude = Callable[[str], bool]


def standing(grounds: Grounds, is_excluded: Exclude, *, trusted: Callable[[], bool]) -> list[Found]:
    """What counts from the start."""
    found = list(_managed(grounds))
    wanted = grounds.options.setting_sources
    if "user" in wanted:
        found += [one for one in _of_user(grounds) if not is_excluded(one.path)]
    for folder in standing_folders(grounds, trusted=trusted):
        found += in_folder(folder, grounds, is_excluded)
    return found


def standing_folders(grounds: Grounds, *, trusted: Callable[[], bool]) -> list[str]:
    """From the root of the repository down to where the session works. What lies above it is not
    the project's; without a repository only trust leads further up, and never beyond home."""
    top = highest(grounds)
    if top and len(folders_down(top, grounds.where.cwd)) > 1 and not trusted():
        top = ""
    return folders_down(top or grounds.where.root, grounds.where.cwd)


def _managed(grounds: Grounds) -> Iterator[Found]:
    why = "of the organisation, for everyone on this machine"
    for folder in grounds.where.managed:
        if _is_there(path := os.path.join(folder, "CLAUDE.md")):
            yield Found(path, "managed", why)
    if text := grounds.settings.managed_memory:
        yield Found("managed settings: claudeMd", "managed", why, given=text)


def _of_user(grounds: Grounds) -> Iterator[Found]:
    """A variable may have moved these folders into the project: then their words are its own."""
    where, root = grounds.where, grounds.where.root
    for folder, is_own, names in (
        (where.claude, where.is_theirs_ours, ("CLAUDE.md",)),
        (where.home, where.is_ours, ("DETENT.md", "AGENTS.md")),
    ):
        level: Level = "user" if is_own else "project"
        why = "the user's, for all projects" if is_own else "the user's by name, in the project"
        there = (path for name in names if _is_there(path := os.path.join(folder, name)))
        if first := next(there, ""):
            yield Found(first, level, why)
        for path in rules_in(os.path.join(folder, "rules")):
            yield Found(path, level, f"a rule: {why}", root, is_rule=True)


def in_folder(
    folder: str, grounds: Grounds, is_excluded: Exclude, *, nested: bool = False
) -> list[Found]:
    """Memory of one folder of the project."""
    wanted = grounds.options.setting_sources
    why = f"the project's, for {folder}" + (", where work is being done" if nested else "")
    found: list[Found] = []

    def look(name: str, level: Level) -> bool:
        path = os.path.join(folder, name)
        if level not in wanted or not _is_there(path) or is_excluded(path):
            return False
        if not _is_users(path, grounds):
            said = why if level == "project" else f"private notes, for {folder}"
            found.append(Found(path, level, said, is_nested=nested))
        return True

    has_own = [look("CLAUDE.md", "project"), look(".claude/CLAUDE.md", "project")]
    if not any(has_own):
        look("AGENTS.md", "project")
    look(".detent/DETENT.md", "project")
    look("CLAUDE.local.md", "local")
    for home in (".claude", ".detent") if "project" in wanted else ():
        for path in rules_in(os.path.join(folder, home, "rules")):
            if not is_excluded(path) and not _is_users(path, grounds):
                found.append(Found(path, "project", f"a rule: {why}", folder, True, nested))
    return found


def rules_in(folder: str) -> list[str]:
    """Sorted by name, folders in it included, each once whatever links there are."""
    return _rules(folder, set(), 0)[:MOST_RULES]


def _rules(folder: str, seen: set[str], depth: int) -> list[str]:
    if depth > DEEPEST_RULE or len(seen) > MOST_RULES:
        return []
    try:
        with os.scandir(folder) as entries:
            some = islice(entries, MOST_ENTRIES)
            names = sorted((entry.name, os.path.isdir(entry.path)) for entry in some)
        real = os.path.realpath(folder)
    except OSError:
        return []
    if real in seen:
        return []
    seen.add(real)
    found: list[str] = []
    for name, is_folder in names[:MOST_RULES]:
        path = os.path.join(folder, name)
        if is_folder:
            found += _rules(path, seen, depth + 1)
        elif name.lower().endswith(".md") and _is_text(path):
            found.append(path)
    return found


def _is_there(path: str) -> bool:
    """Not so a folder, or a link that leads nowhere: another file may stand in for it."""
    try:
        return not stat.S_ISDIR(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


def _is_text(name: str) -> bool:
    """The log and the model take text only, and a file may be called anything."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_users(path: str, grounds: Grounds) -> bool:
    """On the way down from home its own folders are met: they are the user's, or not wanted."""
    real = os.path.realpath(path)
    own = (grounds.where.claude, grounds.where.home)
    return any(real.startswith(f"{os.path.realpath(folder)}/") for folder in own)
