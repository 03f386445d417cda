"""This machine."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from msgspec.structs import replace

from detent.host.environment import child_environment
from detent.host.files import file_facts, read_file, walk_files, write_file
from detent.ports import FileFacts, Finished, Running

if TYPE_CHECKING:
    from typing import Protocol

    from detent.host.child import Child, Hold
    from detent.host.notes import Note, Notes
    from detent.host.processes import Spawn
else:  # as in `ports`
    Protocol = object

BATCH = 1_000
"""Entries per trip to a thread: a walk over 100,000 files never holds the loop for long."""


class Confining(Protocol):
    """Whatever holds confined commands; `sandbox/` has it."""

    @property
    def scratch(self) -> str: ...
    @property
    def temporary(self) -> str: ...
    @property
    def refused(self) -> Sequence[str]: ...
    async def spawn(
        self,
        argv: Sequence[str],
        cwd: str,
        env: Mapping[str, str] | None,
        descriptors: tuple[int, int, int],
        note: "Note | None" = None,
    ) -> "tuple[Hold, str]": ...
    async def aclose(self) -> None: ...


class LocalHost:
    """Files and processes of the machine that the agent runs on."""

    def __init__(
        self,
        environment: Mapping[str, str] | None = None,
        *,
        withheld: Callable[[], Collection[str]] = tuple,
        passed: Collection[str] = (),
        sandbox: Confining | None = None,
        notes: "Notes | None" = None,
    ) -> None:
        """`withheld` and `passed`: see `child_environment`. `sandbox` is for confined commands and
        is closed with the host; without one they run as all others. `notes` keep how commands
        ended that have a name."""
        self._notes = notes
        self._base = os.environ if environment is None else environment
        self._withheld, self._passed = withheld, passed
        self._sandbox = sandbox
        self._environment: dict[str, str] | None = None
        self._programs: dict[str, str | None] = {}
        self._holds: set[Hold] = set()

    @property
    def environment(self) -> Mapping[str, str]:
        """What children get; worked out once."""
        if self._environment is None:
            self._environment = child_environment(
                self._base, withheld=self._withheld(), passed=self._passed
            )
        return self._environment

    @property
    def scratch(self) -> str:
        return self._sandbox.scratch if self._sandbox is not None else ""

    @property
    def temporary(self) -> str:
        return self._sandbox.temporary if self._sandbox is not None else ""

    def real(self, path: str) -> str:
        return os.path.realpath(path)

    async def read(self, path: str, limit: int, *, real: bool = False) -> bytes:
        """Raises OSError; EFBIG when the file is larger than `limit`."""
        return await asyncio.to_thread(read_file, path, limit, real=real)

    async def write(self, path: str, data: bytes, *, real: bool = False) -> None:
        await asyncio.to_thread(write_file, path, data, real=real)

    async def facts(self, path: str) -> FileFacts | None:
        return file_facts(path)

    async def walk(self, root: str, entering: Collection[str] = ()) -> AsyncIterator[FileFacts]:
        entries = walk_files(root, entering)
        while batch := await asyncio.to_thread(lambda: list(islice(entries, BATCH))):
            for facts in batch:
                yield facts

    def which(self, program: str) -> str | None:
        if program not in self._programs:
            self._programs[program] = self._find(program)
        return self._programs[program]

    def _find(self, program: str) -> str | None:
        # Programs that came as wheels (rg) lie beside our interpreter, often not on the PATH.
        folders = self.environment.get("PATH", os.defpath).split(os.pathsep)
        for folder in (*folders, os.path.dirname(sys.executable)):
            # A relative folder would make the program depend on where we stand: a trap.
            path = os.path.join(folder, program)
            if os.path.isabs(path) and os.path.isfile(path) and os.access(path, os.X_OK):
                return path
        return None

    async def run(  # noqa: PLR0913
        self,
        argv: Sequence[str],
        *,
        cwd: str,
        timeout: float | None,
        output: Callable[[bytes], None],
        errors: Callable[[bytes], None] | None = None,
        stdin: bytes = b"",
        env: Mapping[str, str] | None = None,
        confined: bool = False,
        noted_as: str = "",
        begun: Callable[[Running], None] = lambda running: None,
    ) -> Finished:
        """`env` comes on top of the child environment. Raises OSError when nothing could start."""
        before = len(self._refused())
        note = self._notes.of(noted_as) if self._notes is not None and noted_as else None
        child = await self._start(argv, cwd, output, errors, stdin, env, confined, note)
        begun(child)
        finished = await child.run(timeout)
        if confined and (refused := self._refused()[before:]):
            return replace(finished, refused=tuple(refused))
        return finished

    def _refused(self) -> Sequence[str]:
        return () if self._sandbox is None else self._sandbox.refused

    async def start(
        self,
        argv: Sequence[str],
        *,
        cwd: str,
        output: Callable[[bytes], None] | str,
        errors: Callable[[bytes], None] | None = None,
        keeps_input: bool = False,
        env: Mapping[str, str] | None = None,
        confined: bool = False,
    ) -> Running:
        stdin = None if keeps_input else b""
        return await self._start(argv, cwd, output, errors, stdin, env, confined)

    async def _start(
        self,
        argv: Sequence[str],
        cwd: str,
        output: Callable[[bytes], None] | str,
        errors: Callable[[bytes], None] | None,
        stdin: bytes | None,
        env: Mapping[str, str] | None,
        confined: bool,
        note: "Note | None" = None,
    ) -> "Child":
        from detent.host.processes import start_process

        spawn = self._spawn() if confined else None
        child = await start_process(
            argv,
            cwd=cwd,
            output=output,
            errors=errors,
            stdin=stdin,
            env={**self.environment, **env} if env else self.environment,
            spawn=spawn,
            note=note,
        )
        self._holds = {hold for hold in self._holds if not hold.is_empty}
        self._holds.add(child.hold)
        return child

    def _spawn(self) -> "Spawn":
        """How confined commands are started."""
        from detent.host.processes import spawn_openly

        return self._sandbox.spawn if self._sandbox else spawn_openly

    async def stay(
        self,
        argv: Sequence[str],
        *,
        cwd: str,
        output: str,
        confined: bool,
        facts: Mapping[str, str],
    ) -> Running:
        """Like `start`, but it outlives us; `facts` are kept with it. Where that cannot be had it
        is started all the same."""
        from detent.host.nursery import NoNursery
        from detent.host.staying import start_staying

        spawn = self._spawn() if confined else None
        try:
            return await start_staying(argv, cwd, output, self.environment, facts, spawn)
        except NoNursery:
            return await self.start(argv, cwd=cwd, output=output, confined=confined)

    async def aclose(self) -> None:
        """Ends whatever still runs, also what commands that have ended left behind."""
        if self._notes is not None:
            self._notes.close()
        if self._holds:  # else nothing was ever started
            from detent.host.nursery import nursery

            holds, self._holds = self._holds, set()
            await asyncio.gather(*(hold.end() for hold in holds))
            await nursery().rest()
        if self._sandbox is not None:
            await self._sandbox.aclose()
