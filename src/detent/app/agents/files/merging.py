"""What a subagent has made in its worktree becomes the parent's: all of it, or nothing.

Each file for itself: where the parent's is as it was when the worktree began, the child's is taken;
where both have changed a text, both changes count if they are in different lines. Anything else is
a conflict, and then no file is touched.
"""

import asyncio
import os
import re
from collections.abc import Callable, Container, Sequence
from weakref import WeakValueDictionary

from msgspec import Struct
from msgspec.structs import replace

from detent.app.agents.files.both_sides import BothSides, Clash
from detent.app.agents.files.differing import LINK, SUBMODULE, Differing, differing, unseen
from detent.app.agents.files.worktrees import Worktree, discard
from detent.app.undo.applying import apply, preview
from detent.app.undo.present import NOTHING, state_of
from detent.ports import Checkpoints, Proposal
from detent.session.blobs import Blobs
from detent.session.undo import Move
from detent.types.content import Call
from detent.types.effects import Writes

MOST_NAMED = 12
_merging: "WeakValueDictionary[str, asyncio.Lock]" = WeakValueDictionary()
"""By repository: one merge at a time."""


class Conflict(Struct, frozen=True):
    path: str
    reason: str


class Merged(Struct, frozen=True):
    files: tuple[Differing, ...] = ()
    """What the child has changed."""
    conflicts: tuple[Conflict, ...] = ()
    """With any, the parent's files are as they were, and the worktree is kept."""
    left: tuple[Conflict, ...] = ()
    """That somebody changed at the very moment, or that cannot be merged at all: they were not
    touched, the others were."""

    @property
    def is_done(self) -> bool:
        return not self.conflicts and not self.left

    def words(self, worktree: Worktree) -> str:
        """For the model."""
        if not self.files and self.is_done:
            return "It has changed no file; its worktree is gone."
        files = named([str(one) for one in self.files])
        if self.is_done:
            return f"Merged from its worktree: {files}."
        troubles = named([f"{one.path} ({one.reason})" for one in (*self.conflicts, *self.left)])
        what = "Nothing was merged" if self.conflicts else "Not all was merged"
        kept = f"Its changes ({files}) are" if files else "That is"
        return f"{what}: {troubles}. {kept} kept in {worktree.top}: merge what you want yourself."


def named(words: Sequence[str]) -> str:
    more = f" and {len(words) - MOST_NAMED} more" if len(words) > MOST_NAMED else ""
    return ", ".join(words[:MOST_NAMED]) + more


async def merge(
    worktree: Worktree,
    files: Checkpoints,
    blobs: Blobs,
    roots: Sequence[str],
    refusal: Callable[[Sequence[str]], str] = lambda paths: "",
) -> Merged:
    """`files` lets nobody else write meanwhile and keeps what is changed; `refusal` says why the
    parent may not write files like these. Raises CannotDelegate when git does not do its part."""
    lock = _merging.setdefault(worktree.repository.common, asyncio.Lock())
    async with lock:
        changed, lost = await differing(worktree), await unseen(worktree)
        merged = await _merged(worktree, changed, files, blobs, roots, refusal)
        left = (*merged.left, *(Conflict(one.path, one.what) for one in lost))
        merged = replace(merged, left=left)
        if merged.is_done:
            await discard(worktree)
        return merged


async def _merged(
    worktree: Worktree,
    changed: Sequence[Differing],
    files: Checkpoints,
    blobs: Blobs,
    roots: Sequence[str],
    refusal: Callable[[Sequence[str]], str],
) -> Merged:
    top = worktree.repository.top
    if refused := _refused([os.path.join(top, one.path) for one in changed], refusal):
        return Merged(tuple(changed), refused)
    places = await asyncio.to_thread(_all_places, worktree, changed)
    call = Call(f"merge-{worktree.agent}", "worktree", "")
    writes = tuple(map(Writes, places))
    await files.before(Proposal(call, call.name, {}, writes, top))
    try:
        moves, conflicts = await _moves(worktree, changed, blobs)
        if conflicts:
            return Merged(tuple(changed), conflicts)
        work = asyncio.ensure_future(asyncio.to_thread(_apply, moves, blobs, roots))
        try:
            conflicts, left = await asyncio.shield(work)
        except asyncio.CancelledError:  # half of it would be worse
            await asyncio.wait([work])
            raise
        return Merged(tuple(changed), conflicts, left)
    finally:
        await files.after(call.id)


def _refused(paths: Sequence[str], refusal: Callable[[Sequence[str]], str]) -> tuple[Conflict, ...]:
    if not paths or not refusal(paths):
        return ()
    reasons = ((path, refusal([path])) for path in paths)
    return tuple(Conflict(path, reason) for path, reason in reasons if reason)


def _apply(
    moves: Sequence[Move], blobs: Blobs, roots: Sequence[str]
) -> tuple[tuple[Conflict, ...], tuple[Conflict, ...]]:
    expected = preview(moves, blobs, roots, is_again=False, merges=False)
    if expected.left:
        return tuple(Conflict(one.path, one.reason) for one in expected.left), ()
    done = apply(moves, blobs, roots, is_again=False, merges=False)
    return (), tuple(Conflict(one.path, one.reason) for one in done.left)


def _all_places(worktree: Worktree, changed: Sequence[Differing]) -> list[str]:
    """Of the parent: the files, and folders that go with them."""
    paths = [os.path.join(worktree.repository.top, one.path) for one in changed]
    return sorted({*paths, *_emptied(worktree, paths)})


def _emptied(worktree: Worktree, paths: Sequence[str]) -> list[str]:
    """Folders that the child has not any more, and that hold nothing else here."""
    top, known = worktree.repository.top, set(paths)
    found = dict[str, bool]()
    for path in paths:
        folder = os.path.dirname(path)
        while folder.startswith(f"{worktree.root}/") and folder not in found:
            there = os.path.join(worktree.top, os.path.relpath(folder, top))
            is_left = _is_folder(folder) and not _is_folder(there)
            found[folder] = is_left and folder not in known and _holds_only(folder, known)
            folder = os.path.dirname(folder)
    return [folder for folder, goes in found.items() if goes]


def _is_folder(path: str) -> bool:
    return os.path.isdir(path) and not os.path.islink(path)


def _holds_only(folder: str, known: Container[str]) -> bool:
    return all(
        os.path.join(place, name) in known
        for place, folders, files in os.walk(folder)
        for name in (*files, *(f for f in folders if os.path.islink(os.path.join(place, f))))
    )


async def _moves(
    worktree: Worktree, changed: Sequence[Differing], blobs: Blobs
) -> tuple[list[Move], tuple[Conflict, ...]]:
    top = worktree.repository.top
    here = await _here(worktree, changed)
    sides = []
    for one in changed:
        name = here.get(one.path, "")
        base = b"" if name == one.old else await _content(worktree, one)
        sides.append(BothSides(worktree, one, name, base, blobs))

    def judged() -> tuple[list[Move], tuple[Conflict, ...]]:
        moves, conflicts = list[Move](), list[Conflict]()
        for side in sides:
            path = os.path.join(top, side.name)
            try:
                moves += side.moves(path)
            except Clash as clash:
                conflicts.append(Conflict(path, str(clash)))
            except OSError as error:
                conflicts.append(Conflict(path, error.strerror or str(error)))
        for folder in _emptied(worktree, [os.path.join(top, one.path) for one in changed]):
            moves.append(Move(folder, state_of(folder), NOTHING))
        return moves, tuple(conflicts)

    return await asyncio.to_thread(judged)


async def _here(worktree: Worktree, changed: Sequence[Differing]) -> dict[str, str]:
    """By name: how git would call what the parent's files hold now, links left out."""
    top = worktree.repository.top

    def is_file(one: Differing) -> bool:
        path = os.path.join(top, one.path)
        return os.path.isfile(path) and not os.path.islink(path)

    names = [one.path for one in changed if one.old_mode and is_file(one)]
    if not names:
        return {}
    data = b"".join(map(_quoted, names))
    said = await worktree.repository.run("hash-object", "--stdin-paths", data=data)
    return dict(zip(names, said.decode().split(), strict=True))


def _quoted(name: str) -> bytes:
    """A line for git; a name may hold anything."""
    escaped = re.sub(rb'[\x00-\x1f"\\]', lambda found: b"\\%03o" % found[0][0], os.fsencode(name))
    return b'"%s"\n' % escaped


async def _content(worktree: Worktree, one: Differing) -> bytes:
    """What a file held when the worktree began, as it would lie in a folder."""
    if not one.old_mode or one.old_mode == SUBMODULE:
        return b""
    how = ("blob",) if one.old_mode == LINK else ("--filters", f"--path={one.path}")
    return await worktree.repository.run("cat-file", *how, one.old)
