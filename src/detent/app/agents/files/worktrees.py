"""A folder of its own for a subagent: a git worktree that begins as what its parent's files are
now, with all that is not committed. Nothing of the user's repository is changed but what git itself
keeps of worktrees.

It lies in the workspace, so nothing has to be permitted that was not. What lies in it is the work
of commands: git is never run by what its `.git` says.
"""

import asyncio
import os
import re
import shutil
import stat
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from tempfile import TemporaryDirectory
from weakref import WeakValueDictionary

from msgspec import Struct
from msgspec.structs import replace

from detent.app.agents.files.worktree_git import Repository, repository_of
from detent.host.files import WORKTREES
from detent.ports.delegation import CannotDelegate

MARK = "refs/worktree/detent"
"""What it began with: a name that git keeps for this worktree alone."""
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_COMMIT = re.compile(r"[0-9a-f]{40,64}")
IGNORE_ALL = "*\n"
_turns: "WeakValueDictionary[str, asyncio.Lock]" = WeakValueDictionary()
"""By repository."""
SLICE = 64


class Worktree(Struct, frozen=True):
    repository: Repository
    agent: str
    top: str
    """Where its files begin."""
    folder: str
    """Where the agent works: what the parent's folder is in the repository."""
    base: str
    """The commit that it began with."""
    root: str
    """The folder of the workspace that it lies in. What is outside of that is not in it."""

    @property
    def admin(self) -> str:
        """What git keeps of it."""
        return os.path.join(self.repository.common, "worktrees", self.agent)


async def open_worktree(
    cwd: str,
    agent: str,
    environ: Mapping[str, str],
    roots: Sequence[str],
    is_hidden: Callable[[str], bool] | None = None,
) -> Worktree:
    """`is_hidden` says which files the parent may not read: they are not in it. One that is left of
    an earlier run of the agent is gone on with. Raises CannotDelegate, with words for the model."""
    if not _ID.fullmatch(agent):
        raise CannotDelegate(f"{agent!r} is no name for a worktree.")
    repository = await repository_of(cwd, environ)
    worktree = _placed(repository, cwd, agent, roots)
    try:
        if _mode(worktree.top):
            return replace(worktree, base=await _base_of(repository, agent))
        base = await _begin(worktree, is_hidden)
        await asyncio.to_thread(os.makedirs, worktree.folder, exist_ok=True)
    except OSError as error:
        text = f"There can be no worktree: {error.strerror} ({worktree.top})"
        raise CannotDelegate(text) from None
    return replace(worktree, base=base)


def _turn(worktree: Worktree) -> asyncio.Lock:
    """Folders that hold all of them come with the first and go with the last."""
    return _turns.setdefault(worktree.repository.common, asyncio.Lock())


def _placed(repository: Repository, cwd: str, agent: str, roots: Sequence[str]) -> Worktree:
    cwd = os.path.realpath(cwd)
    root = _root_of(cwd, repository.top, roots)
    top = os.path.join(root, WORKTREES, agent)
    folder = os.path.normpath(os.path.join(top, os.path.relpath(cwd, repository.top)))
    return Worktree(repository, agent, top, folder, "", root)


async def discard(worktree: Worktree) -> None:
    """It and all that is in it. What cannot be removed stays."""
    async with _turn(worktree):
        await asyncio.to_thread(remove, worktree.top, worktree.admin)


def remove(top: str, admin: str) -> None:
    """Blocks. Git's own record of it goes only if it is of this one."""
    place = os.path.dirname(top)
    if not stat.S_ISDIR(_mode(place)):  # whatever it leads to is not ours
        return
    if stat.S_ISDIR(_mode(top)):
        shutil.rmtree(top, onerror=_try_again)
    with suppress(OSError), open(os.path.join(admin, "gitdir"), errors="replace") as file:
        if file.read().strip() == os.path.join(top, ".git"):
            shutil.rmtree(admin, ignore_errors=True)
    with suppress(OSError):
        os.rmdir(os.path.dirname(admin))
    with suppress(OSError):
        if os.listdir(place) == [".gitignore"]:
            os.unlink(os.path.join(place, ".gitignore"))
        os.rmdir(place)


async def snapshot(repository: Repository, tree: str, index: str, begins_with: str = "") -> None:
    """Into an index of our own: all files that are there and not left out by `.gitignore`. What
    cannot be read is left out, too; git says so, and ends with 1. Of one that has begun, nothing
    may be missing: it would be taken for unchanged."""
    if begins_with:
        await repository.run("read-tree", begins_with, index=index)
    what = ("add", "-A", "--ignore-errors", "--", ".", f":(exclude,glob)**/{WORKTREES}/**")
    await repository.run(*what, tree=tree, index=index, good=(0,) if begins_with else (0, 1))


async def _begin(worktree: Worktree, is_hidden: Callable[[str], bool] | None) -> str:
    repository = worktree.repository
    with TemporaryDirectory(prefix="detent-index-") as private:
        index = os.path.join(private, "index")
        with suppress(FileNotFoundError):  # it knows most files already: they are not read again
            known = os.path.join(repository.folder, "index")
            await asyncio.to_thread(shutil.copyfile, known, index)
        await snapshot(repository, repository.top, index)
        await _leave_out(repository, index, worktree.root, is_hidden)
        tree = await repository.line("write-tree", index=index)
    head = (await repository.run("rev-parse", "-q", "--verify", "HEAD", good=(0, 1))).decode()
    parents = ("-p", head.strip()) if head.strip() else ()
    base = await repository.line("commit-tree", *parents, "-m", "What was there", tree)
    try:
        await _check_out(worktree, base)
    except BaseException:
        await asyncio.shield(discard(worktree))
        raise
    return base


async def _check_out(worktree: Worktree, base: str) -> None:
    repository, top, agent = worktree.repository, worktree.top, worktree.agent
    async with _turn(worktree):
        await asyncio.to_thread(_make_place, worktree)
        await repository.run("worktree", "add", "-q", "--detach", "--no-checkout", top, base)
    if not _mode(worktree.admin):
        raise CannotDelegate("git keeps another worktree of that name.")
    await repository.run("update-ref", f"worktrees/{agent}/{MARK}", base)
    index = os.path.join(worktree.admin, "index")
    await repository.run("read-tree", base, tree=top, index=index)
    await repository.run("checkout-index", "-a", "-f", "-q", "-u", tree=top, index=index)


async def _leave_out(
    repository: Repository, index: str, root: str, is_hidden: Callable[[str], bool] | None
) -> None:
    """What lies outside of the workspace, and what may not be read."""
    whole = root == repository.top
    if whole and is_hidden is None:
        return
    names = (await repository.run("ls-files", "-z", index=index)).split(b"\0")

    gone: list[bytes] = []
    for number, name in enumerate(filter(None, names)):
        path = os.path.join(repository.top, os.fsdecode(name))
        is_inside = whole or path.startswith(f"{root}/")
        if not is_inside or (is_hidden is not None and is_hidden(path)):
            gone.append(name)
        if number % SLICE == 0:  # many files: others want to go on, too
            await asyncio.sleep(0)
    if gone:
        data, remove = b"\0".join((*gone, b"")), ("update-index", "-z", "--force-remove", "--stdin")
        await repository.run(*remove, index=index, data=data)


async def _base_of(repository: Repository, agent: str) -> str:
    base = await repository.run(
        "rev-parse", "-q", "--verify", f"worktrees/{agent}/{MARK}", good=(0, 1)
    )
    found = base.decode().strip()
    if not _COMMIT.fullmatch(found):
        raise CannotDelegate(f"What the worktree of {agent} began with is not known any more.")
    return found


def _root_of(cwd: str, top: str, roots: Sequence[str]) -> str:
    """The folder of the workspace that the parent works in; of the repository, if that is less."""
    holding = [root for root in roots if f"{cwd}/".startswith(f"{root.rstrip('/')}/")]
    root = min(holding, key=len, default=cwd)
    return top if f"{top}/".startswith(f"{root.rstrip('/')}/") else root


def _make_place(worktree: Worktree) -> None:
    """For all of them, and unseen by git. Raises OSError."""
    place = os.path.dirname(worktree.top)
    with suppress(FileExistsError):
        os.mkdir(place)
    if not stat.S_ISDIR(_mode(place)):
        raise OSError(0, "a link, or no folder, stands in its place", place)
    with suppress(FileExistsError), open(os.path.join(place, ".gitignore"), "x") as file:
        file.write(IGNORE_ALL)


def _mode(path: str) -> int:
    try:
        return os.lstat(path).st_mode
    except OSError:
        return 0


def _try_again(act: Callable[[str], object], path: str, error: object) -> None:
    """A folder may be closed to us by what ran in it."""
    with suppress(OSError):
        os.chmod(os.path.dirname(path), 0o700)
        os.chmod(path, 0o700, follow_symlinks=False) if stat.S_ISDIR(_mode(path)) else None
        act(path)
