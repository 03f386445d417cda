"""Where git keeps the repository of a folder, when not in it: read as data, git is not run.

Commands may write there, so what a folder says about itself proves nothing. A git folder above it
is simply there; one that a `.git` file names must be one, and must name that file in turn.
"""

import os
import re
import stat

from detent.app.settings.worktree import small_text

_HEAD = re.compile(r"ref: refs/\S+|[0-9a-f]{40,64}")
_WORKTREE = re.compile(r"^\s*worktree\s*=\s*(.+?)\s*$", re.MULTILINE)


def git_folder(root: str) -> str:
    """The one that git writes to when it works in `root`; empty when there is none, when it lies
    in `root`, or when that is not to be believed."""
    top = root
    while not os.path.lexists(os.path.join(top, ".git")):
        if top == os.path.dirname(top):
            return ""
        top = os.path.dirname(top)
    found = _named(top)
    if not found or found.startswith(f"{root.rstrip('/')}/") or not _is_git_folder(found):
        return ""
    return found


def _named(top: str) -> str:
    place = os.path.join(top, ".git")
    kind = os.lstat(place).st_mode
    if stat.S_ISDIR(kind):
        return os.path.realpath(place)
    line = small_text(place) if stat.S_ISREG(kind) else ""
    if not line.startswith("gitdir:"):
        return ""  # a link, too: whatever it leads to does not know it
    entry = os.path.realpath(os.path.join(top, line.removeprefix("gitdir:").strip()))
    common, kind_of_entry = os.path.split(os.path.dirname(entry))
    if kind_of_entry == "worktrees" and _leads_to(small_text(f"{entry}/gitdir"), entry, place):
        return common
    return entry if _leads_to(_worktree(entry), entry, top) else ""  # a submodule


def _leads_to(name: str, folder: str, wanted: str) -> bool:
    return bool(name) and os.path.realpath(os.path.join(folder, name)) == os.path.realpath(wanted)


def _worktree(git: str) -> str:
    found = _WORKTREE.search(small_text(os.path.join(git, "config")))
    return found[1].strip('"') if found else ""


def _is_git_folder(folder: str) -> bool:
    """And the user's own."""
    try:
        is_ours = os.lstat(folder).st_uid == os.geteuid()
    except OSError:
        return False
    has_parts = all(os.path.isdir(os.path.join(folder, name)) for name in ("objects", "refs"))
    return is_ours and has_parts and bool(_HEAD.fullmatch(small_text(os.path.join(folder, "HEAD"))))
