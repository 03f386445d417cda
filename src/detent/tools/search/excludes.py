"""Files that a search over a folder leaves out: those that hold secrets.

Which they are is not known here; the session says so in the desk's settings, one glob a line.
"""

from detent.ports import Desk

SETTING = "search_excludes"


def excludes(desk: Desk) -> list[str]:
    return desk.settings.get(SETTING, "").split()


def is_excluded(path: str, globs: list[str]) -> bool:
    from fnmatch import fnmatchcase

    name = path.rpartition("/")[2]
    return any(fnmatchcase(name, glob) for glob in globs)
