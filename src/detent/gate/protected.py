"""Places that decide what runs later: never written silently."""

import os
from collections.abc import Iterable, Iterator
from itertools import pairwise

from detent.gate.paths import spellings

_FOLDERS = frozenset(
    {".git", ".claude", ".detent", ".vscode", ".idea", ".husky", ".devcontainer", ".githooks",
     ".cargo", ".yarn", ".mvn", ".config/git", ".config/fish", ".config/pip", ".config/autostart",
     ".config/systemd", ".bundle", ".lefthook"}
)  # fmt: skip
_NAMES = frozenset(
    {".envrc", ".mcp.json", ".bashrc", ".bash_profile", ".bash_login", ".bash_logout",
     ".bash_aliases", ".profile", ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout",
     ".kshrc", ".cshrc", ".tcshrc", ".login", ".inputrc", "config.fish", ".npmrc", ".yarnrc",
     ".yarnrc.yml", ".yarnrc.yaml", ".pnpmfile.cjs", ".pnpmrc", "bunfig.toml", "pip.conf",
     "pip.ini", ".pypirc", ".condarc", ".gemrc", ".gitconfig", ".gitmodules",
     ".pre-commit-config.yaml", ".pre-commit-config.yml", "lefthook.yml", ".lefthook.yml",
     "lefthook.yaml", ".lefthook.yaml", ".huskyrc", ".huskyrc.json", ".lintstagedrc",
     ".claude.json", ".bazelrc", ".bazelversion", "gradle-wrapper.properties",
     "maven-wrapper.properties", "gradlew", "mvnw", "sitecustomize.py", "usercustomize.py",
     ".vimrc", ".exrc", ".pam_environment", ".xprofile", ".xinitrc", ".overcommit.yml",
     "lefthook-local.yml", ".lefthook-local.yml", "lefthook.toml", "lefthook.json",
     ".simple-git-hooks.json", ".devcontainer.json", ".bash_completion"}
)  # fmt: skip
_FREE = ".claude/worktrees/"
"""Copies of the project, to work in."""


Identity = tuple[int, int]
"""What a file or folder is, whatever it is called: its disk and its number there."""


def is_protected(path: str, kept: frozenset[Identity]) -> bool:
    """By any of its names, and by what it is: a folder may be known by yet another name."""
    names = spellings(path)
    return any(_is_protected(name) for name in names) or _is_one_of(names[-1], kept)


def _is_protected(name: str) -> bool:
    """In any case: some disks do not tell cases apart."""
    folded = name.casefold()
    parts = folded.split("/")
    if parts[-1] in _NAMES:
        return True
    before, free, behind = folded.partition(f"/{_FREE}")
    if free:
        return _is_protected(before) or _is_protected(behind)
    pairs = (f"{first}/{second}" for first, second in pairwise(parts))
    return not _FOLDERS.isdisjoint((*parts, *pairs))


def _is_one_of(path: str, kept: frozenset[Identity]) -> bool:
    """Whether it is, or lies in, one of these files and folders."""
    while kept and path not in ("", "/"):
        if _identity(path) in kept:
            return True
        path = os.path.dirname(path)
    return False


def identities(roots: Iterable[str]) -> frozenset[Identity]:
    """Of the protected files and folders that there are right in these folders."""
    return frozenset(identity for root in roots for identity in _identities(root))


def _identities(root: str) -> Iterator[Identity]:
    """One look at the names in a folder instead of one for each of ours."""
    try:
        present = os.listdir(root)
    except OSError:
        return
    for name in present:
        if name.startswith(".") and name.casefold() in _FOLDERS | _NAMES:
            identity = _identity(os.path.join(root, name))
            if identity is not None:
                yield identity


def _identity(path: str) -> Identity | None:
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino
