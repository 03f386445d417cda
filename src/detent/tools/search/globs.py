"""The `glob` of a search: which files below the folder it is about, as models like to write it."""

import re
from collections.abc import Callable

from detent.tools.search.patterns import matcher

_WILD = re.compile(r"[*?\[{]")
_MAGIC = re.compile(r"([*?\[\]{}\\!])")


def globs_of(glob: str) -> list[str]:
    """`*.py,*.md` and `*.py *.md` are two. Each in the manner of .gitignore: without a slash it is
    a name in any folder, with one it is a path from the folder searched on. `!` leaves out."""
    words = glob.split()
    if len(words) < 2 or not all(map(_WILD.search, words)):  # a name may have a space in it
        words = [glob.strip()]
    parts = (part.strip() for word in words for part in _listed(word))
    return [_plain(part) for part in parts if part]


def _listed(glob: str) -> list[str]:
    """At the commas that are not inside of braces."""
    parts, depth = [""], 0
    for char in glob:
        depth += (char == "{") - (char == "}")
        if char == "," and depth <= 0:
            parts.append("")
        else:
            parts[-1] += char
    return parts


def _plain(glob: str) -> str:
    sign, glob = ("!", glob[1:]) if glob.startswith("!") else ("", glob)
    anchor = "/" if glob.startswith(("./", "/")) else ""
    glob = glob.removeprefix(".").removeprefix("/") if anchor else glob
    return sign + anchor + (f"{glob}**" if glob.endswith("/") else glob)


def rooted(glob: str, root: str) -> str:
    """The same for a program that stands in `/`."""
    sign, glob = ("!", glob[1:]) if glob.startswith("!") else ("", glob)
    if "/" not in glob:
        return sign + glob
    literal = _MAGIC.sub(r"\\\1", root.rstrip("/"))
    return f"{sign}{literal}/{glob.removeprefix('/')}"


def chooser(globs: list[str]) -> Callable[[str], bool]:
    """Whether a path relative to the folder is wanted. The last glob that matches decides; one that
    leaves out a folder leaves out all in it. Raises ValueError for globs that are too much."""
    rules = [(not glob.startswith("!"), _matcher(glob.removeprefix("!"))) for glob in globs]
    wants_some = any(wanted for wanted, _ in rules)

    def is_wanted(path: str) -> bool:
        for wanted, match in reversed(rules):
            if match(path) or (not wanted and any(map(match, _above(path)))):
                return wanted
        return not wants_some

    return is_wanted


def _matcher(glob: str) -> Callable[[str], object]:
    return matcher(glob.removeprefix("/") if "/" in glob else f"**/{glob}").fullmatch


def _above(path: str) -> list[str]:
    return [path[:at] for at, char in enumerate(path) if char == "/"]
