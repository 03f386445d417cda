"""Files that a search over a folder leaves out: those that hold secrets.

Which they are is not known here; the session says so in the desk's settings, one glob a line.
"""

import re
from collections.abc import Callable

from detent.ports import Desk
from detent.tools.search.patterns import matcher

SETTING = "search_excludes"


def excludes(desk: Desk) -> list[str]:
    """Globs in the manner of .gitignore, whatever the case: one without a slash is a name in any
    folder, and a folder goes with all that is in it."""
    return desk.settings.get(SETTING, "").split()


def excluder(globs: list[str], root: str) -> Callable[[str], bool]:
    """Whether a file below `root` is left out. What lies above the root was judged before."""
    if not globs:
        return lambda path: False
    each = (glob if "/" in glob else f"**/{glob}" for glob in globs)
    match = matcher(f"{{{','.join(each)}}}", re.IGNORECASE).fullmatch
    top = len(root.rstrip("/")) + 1

    def is_excluded(path: str) -> bool:
        ends = [*_slashes(path, top), len(path)]
        return any(match(path[1:end]) for end in ends)

    return is_excluded


def _slashes(path: str, start: int) -> list[int]:
    return [at for at in range(start, len(path)) if path[at] == "/"]
