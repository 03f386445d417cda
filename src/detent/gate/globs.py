"""Names with `*`, `?` and `[…]` that a shell fills in: which files they may come to."""

import glob
from collections.abc import Callable
from itertools import islice

from detent.gate.meeting import may_meet
from detent.gate.paths import SECRET_GLOBS

_SIGNS = frozenset("*?[")
_MOST = 500
"""Files that one name may come to; with more it is not certain what they are."""
_DEEPEST = 3


def has_signs(path: str) -> bool:
    return not _SIGNS.isdisjoint(path)


def is_each(path: str, check: Callable[[str], bool]) -> bool:
    """Whether a check holds for the name and, if it is a glob, for all that it comes to now."""
    return check(path) and all(map(check, _expanded(path) or ()))


def is_any(path: str, check: Callable[[str], bool]) -> bool:
    """The same for any of them; where it is not certain what they are, it may be so."""
    found = _expanded(path)
    return found is None or check(path) or any(map(check, found))


def is_certain(path: str) -> bool:
    return _expanded(path) is not None


def _expanded(path: str) -> list[str] | None:
    """None when there are too many, or too many folders, to look at."""
    if not has_signs(path) or "\0" in path:
        return []
    if sum(map(has_signs, path.split("/"))) > _DEEPEST:
        return None
    found = list(islice(glob.iglob(path), _MOST + 1))
    return found if len(found) <= _MOST else None


def may_name_secret(path: str) -> bool:
    """A glob that begins with a dot is meant for hidden files, whether there are any yet or not."""
    name = path.rpartition("/")[2].lower()
    if not (has_signs(name) and name.startswith(".")):
        return False
    return any(may_meet(name, secret) for secret in SECRET_GLOBS if secret.startswith("."))
