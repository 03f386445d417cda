"""From a git worktree to the checkout it belongs to, read as data: git is not run.

What a folder says about itself proves nothing, so the repository must know the worktree, too.
"""

import os

MOST_BYTES = 4096


def checkout_of(root: str) -> str:
    """Empty when `root` is not a worktree that its repository knows."""
    named = small_text(os.path.join(root, ".git"))
    if not named.startswith("gitdir:"):
        return ""
    entry = os.path.realpath(os.path.join(root, named.removeprefix("gitdir:").strip()))
    worktrees, _ = os.path.split(entry)
    repository, kind = os.path.split(worktrees)
    if kind != "worktrees" or os.path.basename(repository) != ".git":
        return ""  # a submodule, or a repository without a checkout
    known_as = os.path.join(entry, small_text(os.path.join(entry, "gitdir")))
    if os.path.realpath(known_as) != os.path.realpath(os.path.join(root, ".git")):
        return ""
    return os.path.dirname(repository)


def small_text(path: str) -> str:
    """What a small file says; empty when it is none."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            text = os.read(descriptor, MOST_BYTES).decode().strip()
            return "" if "\0" in text else text
        finally:
            os.close(descriptor)
    except (OSError, UnicodeDecodeError):
        return ""
