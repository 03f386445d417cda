"""Removals that are asked about in every mode: the root, what lies right below it, the home folder,
the working folder and what is above it, and whatever an unset variable would make of these."""

import os
import re
from collections.abc import Iterable

from detent.gate.commands import at_home, folders, look
from detent.gate.paths import real, spellings
from detent.gate.terms import Workspace

_ONLY_VARIABLES = r"\$\w+[/.*]*/[/.*]*(?:\$\w+[/.*]*)*"
_SOMEBODYS_HOME = r"/(?:home|Users)/[^/]+"
_HERE = r"\$\( *pwd *\)|` *pwd *`|\$\{?PWD\}?|\$\{?OLDPWD\}?"


def removes_too_much(text: str, workspace: Workspace) -> str:
    """The word that names too much; empty when there is none."""
    removals = [c for c in look(text).findings.commands if c[0] in ("rm", "rmdir")]
    if not removals:
        return ""
    starts = folders(text, workspace.cwd, workspace.home)
    words = dict.fromkeys(word for c in removals for word in c[1:] if not word.startswith("-"))
    return next((word for word in words if _is_critical(word, starts, workspace)), "")


def _is_critical(word: str, starts: Iterable[str], workspace: Workspace) -> bool:
    word = re.sub(r"\$\{!?(\w+)[^}]*\}", r"$\1", re.sub(_HERE, ".", word))
    word = re.sub(r"^\$HOME(?=/|$)", "~", word)
    if re.fullmatch(_ONLY_VARIABLES, word):
        return True
    # What is in a folder counts as the folder: `x/*`, `x/.`, `x/{*,.*}`.
    bare = re.sub(r"(?:/+(?:\.?\**|\{[*.,]+\})|^\.?\*+)+$", "", word)
    if not bare and word:
        bare = "/" if word.startswith("/") else "."
    named = at_home(bare, workspace.home)
    if named.startswith("~"):
        named = os.path.expanduser(named)
    kept = (workspace.home, workspace.cwd, workspace.project, *workspace.roots)
    kept = (*kept, *map(real, kept))
    return any(
        place.count("/") <= 1
        or re.fullmatch(_SOMEBODYS_HOME, place) is not None
        or any(f"{folder}/".startswith(f"{place}/") for folder in kept)
        for start in starts
        for place in _places(os.path.join(start, named), enters=bare != word)
    )


def _places(path: str, *, enters: bool) -> tuple[str, ...]:
    """A link itself is removed by its name; what it leads to only behind a slash."""
    if enters:
        return spellings(path)
    named = spellings(path)[0]
    folder, _, name = named.rpartition("/")
    return named, os.path.normpath(os.path.join(real(folder or "/"), name))
