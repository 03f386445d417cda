"""One git command that only reads, run so that nothing the repository configures is run with it.

`.git` may come from anywhere (an archive, a shared folder). So no hook, file-system monitor, pager,
signature program, filter or transport that its configuration names is started; a repository of
another owner git refuses to read by itself.
"""

import asyncio
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from signal import SIGKILL
from subprocess import DEVNULL, PIPE, Popen, SubprocessError, TimeoutExpired
from time import monotonic

from msgspec import Struct

from detent.app.settings.worktree import small_text

MOST_BYTES = 64 * 1024
"""Of an answer; it is read no further."""
KEPT = ("PATH", "HOME", "USER", "LOGNAME", "USERPROFILE", "SYSTEMROOT", "XDG_CONFIG_HOME", "TMPDIR",
        "GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM")  # fmt: skip
WHERE = ("GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR")
"""Left out where a folder has its own repository: a hook of another one may have started us."""
ALWAYS = {
    "LC_ALL": "C.UTF-8",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",  # what is missing of a partial clone stays missing
}
SAFE = ("--no-pager", "-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}",
        "-c", "safe.bareRepository=explicit")  # fmt: skip
FILTERS = ("config", "-z", "--name-only", "--get-regexp", r"^filter\.")
"""What a file looks like to git then differs from what a filter makes of it, but only where the
index does not know the file any more."""

SHORT = 4_000
"""Bytes that are read whole."""
TELLING = ("filter", "include", "worktreeconfig")
"""Without any of these in it, a configuration names no filter, and no other file."""
OFF = {"clean": "", "smudge": "", "process": "", "required": "false"}


class Asked(Struct, frozen=True):
    """What git answered."""

    text: str = ""
    is_late: bool = False
    is_cut: bool = False


class GitCommand:
    def __init__(self, environ: Mapping[str, str], root: str | None, cwd: str) -> None:
        """`root` is the folder with `.git`; None leaves it to the environment."""
        self.program = _program(environ.get("PATH", os.defpath))
        named = "" if root else environ.get("GIT_DIR", "")
        self.folder = git_folder(root) if root else os.path.join(cwd, named)
        self._environ = {
            name: value
            for name, value in environ.items()
            if name in KEPT or name.startswith("GIT_CONFIG_") or (named and name in WHERE)
        } | ALWAYS
        if root:  # should git not take `.git` for a repository, it must not find another above
            self._environ["GIT_CEILING_DIRECTORIES"] = os.path.dirname(root)
        # Without the tree named, a repository could have us list any other folder.
        self._place = ("-C", root, f"--work-tree={root}") if root else ("-C", cwd)

    def start(self, *arguments: str, settings: Mapping[str, str] = {}) -> "Running":
        return Running(
            (self.program, *SAFE, *self._place, *arguments), configured(self._environ, settings)
        )

    async def ask(self, *arguments: str, until: float, settings: Mapping[str, str] = {}) -> Asked:
        return await self.start(*arguments, settings=settings).answer(until)

    async def ask_unfiltered(self, *arguments: str, until: float) -> Asked:
        """For what looks at contents: git would run filters on them, and repositories name some."""
        if not self.may_name_filters():
            return await self.ask(*arguments, until=until)
        names = await self.ask(*FILTERS, until=until)
        if names.is_late or names.is_cut:
            return Asked(is_late=names.is_late)
        filters = {key.rpartition(".")[0] for key in names.text.split("\0") if key}
        off = {f"{one}.{key}": value for one in sorted(filters) for key, value in OFF.items()}
        return await self.ask(*arguments, until=until, settings=off)

    def may_name_filters(self) -> bool:
        """Most repositories do not, and one look at the file saves a process. What the user has
        configured for all of them is the user's."""
        if not self.folder:
            return True
        shared = os.path.join(self.folder, small_text(os.path.join(self.folder, "commondir")))
        path = os.path.join(shared, "config")
        try:
            is_short = os.stat(path).st_size < SHORT
        except OSError:
            return True
        text = small_text(path).lower()
        return not (is_short and text) or any(word in text for word in TELLING)


class Running:
    """Git at work. It is started at once, and listened to later: it needs no event loop to begin.

    Whether it went well shows in what it says, so that it need not be waited for any longer."""

    def __init__(self, command: tuple[str, ...], environ: Mapping[str, str]) -> None:
        self._said = bytearray()
        self._line = -1
        ending, line = os.pipe()
        try:
            self._process: Popen[bytes] | None = Popen(
                command,
                stdin=ending,
                stdout=PIPE,
                stderr=DEVNULL,
                env=environ,
                process_group=0,
                # When we are told that it runs it may be too late; it takes no lock of ours.
                preexec_fn=_ends_with(ending),  # noqa: PLW1509
            )
            self._line = line
        except (OSError, SubprocessError):
            self._process = None
            os.close(line)
        finally:
            os.close(ending)

    async def answer(self, until: float) -> Asked:
        if self._process is None or self._process.stdout is None:
            return Asked()
        pipe, loop = self._process.stdout.fileno(), asyncio.get_running_loop()
        os.set_blocking(pipe, False)
        ended = loop.create_future()
        loop.add_reader(pipe, self._read, pipe, ended)
        try:
            async with asyncio.timeout(max(until - monotonic(), 0.0)):
                await ended
        except TimeoutError:
            return Asked(is_late=True)
        finally:
            loop.remove_reader(pipe)
            self.end()
        is_cut = len(self._said) > MOST_BYTES
        return Asked(self._said[:MOST_BYTES].decode(errors="replace"), is_cut=is_cut)

    def __del__(self) -> None:
        self.end()

    def end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        if process.poll() is None:
            with suppress(ProcessLookupError, PermissionError):  # macOS: all of it ends just now
                os.killpg(process.pid, SIGKILL)  # `git` may be a script that runs the real one
        os.close(self._line)
        if process.stdout is not None:
            process.stdout.close()
        with suppress(TimeoutExpired):  # what not even the kernel can end is left to it
            process.wait(timeout=1)

    def _read(self, pipe: int, ended: "asyncio.Future[None]") -> None:
        try:
            piece = os.read(pipe, MOST_BYTES)
        except BlockingIOError:
            return
        self._said += piece
        if (not piece or len(self._said) > MOST_BYTES) and not ended.done():
            ended.set_result(None)


def _ends_with(ending: int) -> Callable[[], None] | None:
    """Git begins before there is a nursery, and must not outlive us: when the other end of its
    input is closed, as it is when we are killed, the kernel sends the group a signal that ends it.
    Arranged by git's own process before it is git, so that there is no moment in which it is not.
    """
    if sys.platform != "linux":
        return None
    import fcntl

    parent = os.getpid()

    def arrange() -> None:
        fcntl.fcntl(ending, fcntl.F_SETOWN, -os.getpid())
        fcntl.fcntl(ending, fcntl.F_SETFL, fcntl.fcntl(ending, fcntl.F_GETFL) | os.O_ASYNC)
        if os.getppid() != parent:
            os._exit(1)  # killed meanwhile

    return arrange


def configured(environ: Mapping[str, str], settings: Mapping[str, str]) -> Mapping[str, str]:
    """As variables: in an argument a name that holds `=` would be taken for another."""
    if not settings:
        return environ
    count = environ.get("GIT_CONFIG_COUNT", "")
    first, more = int(count) if count.isdecimal() else 0, dict[str, str]()
    for number, (key, value) in enumerate(settings.items(), first):
        more |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return {**environ, **more, "GIT_CONFIG_COUNT": str(first + len(settings))}


def git_folder(root: str) -> str:
    """What `.git` is or names, believed only as far as looking for changes goes."""
    place = os.path.join(root, ".git")
    if os.path.isdir(place):
        return place
    named = small_text(place)
    return os.path.join(root, named[7:].strip()) if named.startswith("gitdir:") else ""


def _program(path: str) -> str:
    """Looked for in whole places only: not in the folder that we stand in."""
    for folder in path.split(os.pathsep):
        place = os.path.join(folder, "git")
        if os.path.isabs(folder) and os.path.isfile(place) and os.access(place, os.X_OK):
            return place
    return ""
