"""This machine."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from itertools import islice

from detent.host.environment import child_environment
from detent.host.files import file_facts, read_file, walk_files, write_file
from detent.ports import FileFacts, Finished

BATCH = 1_000
"""Entries per trip to a thread: a walk over 100,000 files never holds the loop for long."""


class LocalHost:
    """Files and processes of the machine that the agent runs on."""

    def __init__(
        self,
        environment: Mapping[str, str] | None = None,
        *,
        withheld: Callable[[], Collection[str]] = tuple,
        passed: Collection[str] = (),
    ) -> None:
        """`withheld` and `passed`: see `child_environment`."""
        self._base = os.environ if environment is None else environment
        self._withheld, self._passed = withheld, passed
        self._environment: dict[str, str] | None = None
        self._programs: dict[str, str | None] = {}

    @property
    def environment(self) -> Mapping[str, str]:
        """What children get; worked out once."""
        if self._environment is None:
            self._environment = child_environment(
                self._base, withheld=self._withheld(), passed=self._passed
            )
        return self._environment

    async def read(self, path: str, limit: int) -> bytes:
        """Raises OSError; EFBIG when the file is larger than `limit`."""
        return await asyncio.to_thread(read_file, path, limit)

    async def write(self, path: str, data: bytes) -> None:
        await asyncio.to_thread(write_file, path, data)

    async def facts(self, path: str) -> FileFacts | None:
        return file_facts(path)

    async def walk(self, root: str) -> AsyncIterator[FileFacts]:
        entries = walk_files(root)
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

    async def run(
        self,
        argv: Sequence[str],
        *,
        cwd: str,
        timeout: float | None,
        output: Callable[[bytes], None],
        errors: Callable[[bytes], None] | None = None,
        stdin: bytes = b"",
        env: Mapping[str, str] | None = None,
    ) -> Finished:
        """`env` comes on top of the child environment. Raises OSError when nothing could start."""
        from detent.host.processes import run_process

        return await run_process(
            argv,
            cwd=cwd,
            timeout=timeout,
            output=output,
            errors=errors,
            stdin=stdin,
            env={**self.environment, **env} if env else self.environment,
        )
