"""Git for worktrees: it writes objects and files of our own, never the user's index, branches or
settings, and runs nothing that the repository configures."""

import asyncio
import os
from collections.abc import Mapping
from contextlib import suppress
from signal import SIGKILL
from subprocess import DEVNULL, PIPE

from msgspec import Struct

from detent.app.git_running import ALWAYS, FILTERS, KEPT, OFF, SAFE, GitCommand, configured
from detent.ports.delegation import CannotDelegate

SECONDS = 120.0
"""For one command: the first snapshot of a large folder takes a while."""
MOST_SAID = 400
OURS = {
    "GIT_AUTHOR_NAME": "detent", "GIT_AUTHOR_EMAIL": "detent@localhost",
    "GIT_COMMITTER_NAME": "detent", "GIT_COMMITTER_EMAIL": "detent@localhost",
}  # fmt: skip
PLAIN = (
    "-c", "core.sparseCheckout=false", "-c", "submodule.recurse=false", "-c", "gc.auto=0",
    "-c", "core.quotePath=false", "-c", "advice.addEmbeddedRepo=false", "-c", "core.safecrlf=false",
)  # fmt: skip


ITS_OWN = ("local", "worktree")
"""Settings that came with the repository."""


class Ended(Struct, frozen=True):
    code: int
    out: bytes
    said: str


class Repository(Struct, frozen=True):
    """One that a folder lies in."""

    program: str
    top: str
    """Where its files begin."""
    folder: str
    """What git writes to: of a worktree, the part that is its own."""
    common: str
    environ: Mapping[str, str]

    async def run(
        self,
        *arguments: str,
        tree: str = "",
        index: str = "",
        data: bytes | None = None,
        good: tuple[int, ...] = (0,),
    ) -> bytes:
        """What it wrote. `tree` is where files lie, if not at the top. Raises CannotDelegate."""
        place = (
            f"--git-dir={self.folder}",
            f"--work-tree={tree or self.top}",
            "-C",
            tree or self.top,
        )
        more = {"GIT_INDEX_FILE": index} if index else {}
        command = (self.program, *SAFE, *PLAIN, *place, *arguments)
        ended = await run(command, {**self.environ, **OURS, **more}, data)
        if ended.code not in good:
            raise CannotDelegate(f"git {arguments[0]} failed: {ended.said}")
        return ended.out

    async def line(self, *arguments: str, index: str = "") -> str:
        return (await self.run(*arguments, index=index)).decode().strip()


async def repository_of(cwd: str, environ: Mapping[str, str]) -> Repository:
    """Raises CannotDelegate."""
    program = GitCommand(environ, None, cwd).program
    if not program:
        raise CannotDelegate("A worktree needs git, and there is none here. Start it without.")
    kept = {
        name: value
        for name, value in environ.items()
        if name in KEPT or name.startswith("GIT_CONFIG_")
    } | ALWAYS
    asked = (
        "rev-parse",
        "--path-format=absolute",
        "--show-toplevel",
        "--git-dir",
        "--git-common-dir",
    )
    found = await run((program, *SAFE, "-C", cwd, *asked), kept)
    lines = found.out.decode(errors="surrogateescape").splitlines()
    if found.code or len(lines) != 3:
        raise CannotDelegate(
            f"{cwd} lies in no git repository that can be used ({found.said or 'it has no files'})"
            ": start it without a worktree."
        )
    top, folder, common = map(os.path.realpath, lines)
    plain = Repository(program, top, folder, common, kept)
    if off := {
        f"{one}.{key}": value for one in await _filters(plain) for key, value in OFF.items()
    }:
        return Repository(program, top, folder, common, configured(kept, off))
    return plain


async def _filters(repository: Repository) -> list[str]:
    """That the repository itself names: they are not run. What the user has configured for all of
    them is the user's."""
    asked = ("config", "-z", "--show-scope", "--includes", *FILTERS[2:])
    said = (await repository.run(*asked, good=(0, 1))).decode(errors="surrogateescape")
    words = said.split("\0")
    named = zip(words[::2], words[1::2], strict=False)
    return sorted({name.rpartition(".")[0] for scope, name in named if scope in ITS_OWN})


async def run(
    command: tuple[str, ...], environ: Mapping[str, str], data: bytes | None = None
) -> Ended:
    """Ended when nobody waits any more, or when it takes too long. Raises CannotDelegate."""
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=DEVNULL if data is None else PIPE,
            stdout=PIPE,
            stderr=PIPE,
            env=environ,
            process_group=0,
        )
    except OSError as error:
        raise CannotDelegate(f"git cannot be run: {error.strerror}") from None
    try:
        async with asyncio.timeout(SECONDS):
            out, said = await process.communicate(data)
    except TimeoutError:
        raise CannotDelegate(f"git took more than {SECONDS:g} seconds and was ended.") from None
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, SIGKILL)
            await process.wait()
    words = " ".join(said.decode(errors="replace").split())
    return Ended(process.returncode or 0, out, words[:MOST_SAID])
