"""One file that a subagent has changed in its worktree, and perhaps somebody else here: what is to
become of it."""

import os

from detent.app.agents.files.differing import LINK, SUBMODULE, Differing
from detent.app.agents.files.worktrees import Worktree
from detent.app.undo.present import read_in, state_of
from detent.app.undo.texts import merged
from detent.host.beneath import folder_of
from detent.session.blobs import Blobs
from detent.session.undo import Move
from detent.types.files import FileState

CHANGED = "it was changed here, too"
_EXECUTABLE = 0o111


class Clash(Exception):
    """Both sides have changed it, and not so that both can count."""


class BothSides:
    def __init__(
        self, worktree: Worktree, one: Differing, here: str, base: bytes, blobs: Blobs
    ) -> None:
        """`here` is what git calls the parent's file, `base` what it held when the worktree began,
        if that is not the same."""
        self.name = one.path
        self._there = os.path.join(worktree.top, one.path)
        self._one, self._here, self._base, self._blobs = one, here, base, blobs

    def moves(self, path: str) -> list[Move]:
        """Blocks."""
        if SUBMODULE in (self._one.old_mode, self._one.new_mode):
            raise Clash("it is a submodule")
        present, theirs = state_of(path), state_of(self._there)
        is_folder = theirs.kind == "folder" and not self._one.new_mode  # in place of the file
        if present.kind == "other" or not (is_folder or theirs.kind in ("none", "file", "link")):
            raise Clash("it is no file any more")
        if self._is_as_it_was(present):
            target = self._taken(present, theirs)
        elif self._is_theirs(present, theirs):
            return []
        else:
            target = self._both(path, present, theirs)
        return [Move(path, present, target)]

    def _is_as_it_was(self, present: FileState) -> bool:
        old = self._one.old_mode
        if not old:
            return present.kind in ("none", "folder")
        if old == LINK:
            return present.kind == "link" and os.fsencode(present.target) == self._base
        is_same = self._here == self._one.old
        return present.kind == "file" and is_same and _runs(present.mode) == _runs(int(old, 8))

    def _is_theirs(self, present: FileState, theirs: FileState) -> bool:
        if present.kind != theirs.kind:
            return False
        is_same = (present.digest, present.target) == (theirs.digest, theirs.target)
        return is_same and (present.kind != "file" or _runs(present.mode) == _runs(theirs.mode))

    def _taken(self, present: FileState, theirs: FileState) -> FileState:
        """The child's, with the parent's mode but for what git knows of modes."""
        if theirs.kind == "file":
            self._blobs.put(_read(self._there))
        if theirs.kind != "file" or present.kind != "file":
            return theirs
        return FileState("file", _with_runs(present.mode, theirs), theirs.size, theirs.digest)

    def _both(self, path: str, present: FileState, theirs: FileState) -> FileState:
        if {present.kind, theirs.kind} != {"file"} or self._one.old_mode in ("", LINK):
            raise Clash(CHANGED)
        mine = _read(path)
        base = mine if self._here == self._one.old else self._base
        data = merged(base, mine, _read(self._there))
        if data is None:
            raise Clash(CHANGED)
        mode = present.mode
        if _runs(theirs.mode) != _runs(int(self._one.old_mode, 8)):
            mode = _with_runs(mode, theirs)
        return FileState("file", mode, len(data), self._blobs.put(data))


def _read(path: str) -> bytes:
    with folder_of(path) as (folder, name):
        return read_in(folder, name)


def _runs(mode: int) -> bool:
    return bool(mode & 0o100)


def _with_runs(mode: int, theirs: FileState) -> int:
    if _runs(mode) == _runs(theirs.mode):
        return mode
    readable = (mode & 0o444) >> 2
    return mode | readable if _runs(theirs.mode) else mode & ~_EXECUTABLE
