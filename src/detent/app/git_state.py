"""What git says of a folder, asked of git itself, safely: a repository may be anybody's.

Nothing that a repository configures is run. What follows from HEAD is remembered as long as HEAD
and the index are as they were; the status is always asked for anew.
"""

import asyncio
import os
from collections.abc import Mapping
from time import monotonic

from msgspec import Struct

from detent.app.git_running import Asked, GitCommand, Running
from detent.app.settings.worktree import small_text
from detent.context.repository import Repository

MOST_REMEMBERED = 32
MOST_COMMITS = 5
MOST_PACKED = 1 << 20
"""Bytes of packed branches that are looked at."""
PATIENCE = 2.0
"""Seconds for everything that is asked at once."""
REST = 300.0
"""How long a repository that took longer is left alone: nobody wants to wait at every prompt."""
FRESH = 1.0
"""Seconds for which what was asked ahead still counts."""
SLOW = f"not known, git took longer than {PATIENCE:g} s"
UNREADABLE = "not known, git cannot read the repository"

STATUS = ("status", "--porcelain=v1", "-z", "--branch", "--untracked-files=normal",
          "--ignore-submodules=dirty", "--no-renames", "--no-ahead-behind")  # fmt: skip
"""Git looks into submodules with their own configuration: only which commit they are at."""
LOG = ("log", f"-{MOST_COMMITS}", "-z", "--format=%h %s", "--encoding=UTF-8", "--no-decorate",
       "--no-notes", "--no-show-signature", "--no-color")  # fmt: skip


class Standing(Struct, frozen=True):
    """What follows from HEAD."""

    commits: tuple[str, ...]
    default: str


class Ahead(Struct, frozen=True):
    """What was asked before anybody wanted to know."""

    folder: str
    at: float
    status: Running
    log: Running

    def end(self) -> None:
        self.status.end()
        self.log.end()


class Git:
    """Asks git for a session, and remembers what it said."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._remembered: dict[tuple[object, ...], Standing] = {}
        """The one that was used last is the last."""
        self._slow: dict[tuple[str, str], float] = {}
        """When which question about a folder took too long."""
        self._ahead: Ahead | None = None

    def begin(self, root: str) -> None:
        """Git works while the session is made ready: its first look will hardly have to wait."""
        git = GitCommand(self._environ, root, root)
        if git.program and not git.may_name_filters():
            self._ahead = Ahead(root, monotonic(), git.start(*STATUS), git.start(*LOG))

    def end(self) -> None:
        if self._ahead is not None:
            self._ahead.end()

    async def look(self, root: str | None, cwd: str) -> Repository | None:
        """`root` is the folder with `.git`; where there is none git is asked whether the folder
        belongs to a repository all the same. None when it does not."""
        git = GitCommand(self._environ, root, cwd)
        if not git.program:
            return Repository(root, trouble="not known, git is not installed") if root else None
        until = monotonic() + PATIENCE
        if root is None and not await _is_inside(git, until):
            return None
        folder = root or cwd
        ahead = self._begun(folder)
        async with asyncio.TaskGroup() as group:  # unlike gather it waits for all, come what may
            asking = group.create_task(self._status(git, folder, until, ahead))
            standing = await self._standing(git, folder, until, ahead)
        return _joined(folder, asking.result(), standing, _branch_in(git.folder))

    def _begun(self, folder: str) -> Ahead | None:
        """What was asked ahead, unless things may have changed since."""
        ahead, self._ahead = self._ahead, None
        if ahead is None or (ahead.folder == folder and monotonic() - ahead.at < FRESH):
            return ahead
        ahead.end()
        return None

    async def _status(
        self, git: GitCommand, folder: str, until: float, ahead: Ahead | None
    ) -> Asked:
        if self._rests("status", folder):
            return Asked(is_late=True)
        status = await (
            ahead.status.answer(until) if ahead else git.ask_unfiltered(*STATUS, until=until)
        )
        if status.is_late:
            self._slow["status", folder] = monotonic()
        return status

    async def _standing(
        self, git: GitCommand, folder: str, until: float, ahead: Ahead | None
    ) -> Standing:
        key = (folder, *stamps(git.folder))
        standing = self._remembered.pop(key, None)
        if standing is None:
            default = default_branch(_shared(git.folder))
            if self._rests("log", folder):
                return Standing((), default)
            log = await (ahead.log if ahead else git.start(*LOG)).answer(until)
            standing = Standing(tuple(filter(None, log.text.split("\0"))), default)
            if log.is_late:
                self._slow["log", folder] = monotonic()
                return standing
        self._remembered[key] = standing
        while len(self._remembered) > MOST_REMEMBERED:
            self._remembered.pop(next(iter(self._remembered)))
        return standing

    def _rests(self, what: str, folder: str) -> bool:
        return monotonic() - self._slow.get((what, folder), -REST) < REST


def stamps(git_folder: str) -> tuple[object, ...]:
    """What changes whenever HEAD or the index does. Read, not asked for: it costs some looks at
    the disk."""
    shared = _shared(git_folder)
    head = small_text(os.path.join(git_folder, "HEAD"))
    ref = (
        small_text(os.path.join(shared, head.removeprefix("ref: "))) if head[:5] == "ref: " else ""
    )
    places = (
        os.path.join(git_folder, "index"),
        os.path.join(git_folder, "logs/HEAD"),
        os.path.join(shared, "packed-refs"),
        os.path.join(shared, "reftable/tables.list"),
        os.path.join(shared, "refs/remotes/origin/HEAD"),
    )
    return (head, ref, *map(_stamp, places))


def _stamp(path: str) -> tuple[int, ...]:
    try:
        facts = os.stat(path)
    except OSError:
        return ()
    return facts.st_mtime_ns, facts.st_size, facts.st_ino


async def _is_inside(git: GitCommand, until: float) -> bool:
    said = await git.ask("rev-parse", "--is-inside-work-tree", until=until)
    return said.text.strip() == "true"


def _joined(root: str, status: Asked, standing: Standing, branch: str) -> Repository:
    if status.is_late or not status.text.startswith("## "):
        trouble = SLOW if status.is_late else UNREADABLE
        return Repository(root, branch, standing.default, standing.commits, trouble=trouble)
    head, *changes = status.text.split("\0")
    whole = changes[:-1]  # what comes after the last end of a name is nothing, or cut
    return Repository(
        root,
        _branch(head),
        standing.default,
        standing.commits,
        tuple(whole),
        is_cut=status.is_cut,
    )


def _branch(head: str) -> str:
    """From `## main...origin/main [ahead 1]`, or what stands there before the first commit."""
    name = head.removeprefix("## ").removeprefix("No commits yet on ")
    return "" if name == "HEAD (no branch)" else name.split("...")[0]


def _branch_in(git_folder: str) -> str:
    """What HEAD itself says: git was not there to be asked."""
    head = small_text(os.path.join(git_folder, "HEAD"))
    return head.removeprefix("ref: refs/heads/") if head.startswith("ref: refs/heads/") else ""


def _shared(git_folder: str) -> str:
    """Where the worktrees of a repository have their branches."""
    return os.path.join(git_folder, small_text(os.path.join(git_folder, "commondir")))


def default_branch(shared: str) -> str:
    """The one that the remote calls so, else the one that is usually called so. Read, not asked
    for: it is worth no process."""
    remote = small_text(os.path.join(shared, "refs/remotes/origin/HEAD"))
    if remote.startswith("ref: refs/remotes/origin/"):
        return remote.removeprefix("ref: refs/remotes/origin/")
    names = ("main", "master")
    packed = packed_refs(shared)
    return next((name for name in names if _has_branch(shared, name, packed)), "")


def _has_branch(shared: str, name: str, packed: bytes) -> bool:
    ref = f"refs/heads/{name}"
    return os.path.isfile(os.path.join(shared, ref)) or f" {ref}\n".encode() in packed


def packed_refs(shared: str) -> bytes:
    """The beginning: branches are sorted, and stand before remotes and tags."""
    try:
        file = os.open(os.path.join(shared, "packed-refs"), os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return b""
    try:
        return os.read(file, MOST_PACKED)
    except OSError:
        return b""
    finally:
        os.close(file)
