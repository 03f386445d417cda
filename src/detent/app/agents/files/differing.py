"""What a subagent has changed in its worktree, by name, as git sees it."""

import asyncio
import os
from collections.abc import Sequence
from tempfile import TemporaryDirectory

from msgspec import Struct

from detent.app.agents.files.worktrees import Worktree, snapshot
from detent.host.files import WORKTREES

LINK, SUBMODULE = "120000", "160000"
_NONE = "000000"


class Differing(Struct, frozen=True):
    path: str
    """From the top of the repository."""
    old_mode: str = ""
    """As git writes it; empty: it was not there."""
    new_mode: str = ""
    old: str = ""
    """The blob it was."""
    added: int = -1
    """Lines; -1 where it is no text."""
    removed: int = -1

    def __str__(self) -> str:
        if not self.new_mode:
            return f"{self.path} (removed)"
        new = "new, " if not self.old_mode else ""
        return f"{self.path} ({new}" + (
            "binary)" if self.added < 0 else f"+{self.added} −{self.removed})"
        )


async def differing(worktree: Worktree) -> tuple[Differing, ...]:
    """Since it began. Raises CannotDelegate."""
    repository = worktree.repository
    with TemporaryDirectory(prefix="detent-index-") as private:
        index = os.path.join(private, "index")
        await snapshot(repository, worktree.top, index, begins_with=worktree.base)
        compared = (
            "diff-index",
            "--cached",
            "--no-renames",
            "--no-ext-diff",
            "--no-textconv",
            "-z",
        )
        raw = await repository.run(*compared, "--raw", "--no-abbrev", worktree.base, index=index)
        counted = await repository.run(*compared, "--numstat", worktree.base, index=index)
    counts = dict(_count(line) for line in _words(counted))
    words = _words(raw)
    found = (_one(facts, name, counts) for facts, name in zip(words[::2], words[1::2], strict=True))
    return tuple(one for one in found if WORKTREES not in one.path.split("/"))


class Unseen(Struct, frozen=True):
    """What git does not look at, and what would be lost with the worktree."""

    path: str
    what: str

    def __str__(self) -> str:
        return f"{self.path} ({self.what})"


async def unseen(worktree: Worktree) -> tuple[Unseen, ...]:
    """Files in the folders of submodules, which are empty at first, and worktrees that were kept
    of agents that worked for this one. Raises CannotDelegate."""
    listed = await worktree.repository.run("ls-tree", "-r", "-z", worktree.base)
    linked = [line for line in listed.split(b"\0") if line.startswith(SUBMODULE.encode())]
    names = [os.fsdecode(line.partition(b"\t")[2]) for line in linked]
    return await asyncio.to_thread(_unseen, worktree.top, names)


def _unseen(top: str, submodules: Sequence[str]) -> tuple[Unseen, ...]:
    filled = (name for name in submodules if _held(os.path.join(top, name)))
    kept = (name for name in _held(os.path.join(top, WORKTREES)) if name != ".gitignore")
    return (
        *(Unseen(name, "files in a submodule") for name in filled),
        *(Unseen(os.path.join(WORKTREES, name), "a worktree that was kept") for name in kept),
    )


def _held(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _one(facts: str, name: str, counts: dict[str, tuple[int, int]]) -> Differing:
    old_mode, new_mode, old, *_ = facts.lstrip(":").split(" ")
    return Differing(
        name,
        "" if old_mode == _NONE else old_mode,
        "" if new_mode == _NONE else new_mode,
        old,
        *counts.get(name, (-1, -1)),
    )


def _count(line: str) -> tuple[str, tuple[int, int]]:
    added, removed, name = line.split("\t", 2)
    return name, (-1, -1) if added == "-" else (int(added), int(removed))


def _words(data: bytes) -> list[str]:
    return [word for word in data.decode(errors="surrogateescape").split("\0") if word]
