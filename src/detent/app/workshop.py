"""What the desks of a session share. Each part is made when a tool first wants it."""

import os
from collections.abc import Awaitable, Callable, Sequence
from functools import cached_property
from typing import Any

from detent.app.outputs import OutputFolder
from detent.ports import Clock, Code, Host, Jobs, Web
from detent.types.events import CallEnded, Entry
from detent.types.outcomes import Done


class Shop:
    """`tell` brings news to the model; `holds` says whether a folder is in the workspace."""

    def __init__(
        self,
        *,
        cwd: str,
        host: Host,
        clock: Clock,
        outputs: OutputFolder,
        entries: Sequence[Entry],
        tell: Callable[[str], None],
        holds: Callable[[str], bool],
        switch_mode: Callable[[str], Awaitable[str]],
    ) -> None:
        self.host = host
        self.outputs = outputs
        self._clock = clock
        self._entries = entries
        self._tell = tell
        self._holds = holds
        self._switch_mode = switch_mode
        self.cwd = self._last_folder() or cwd

    @cached_property
    def jobs(self) -> Jobs:
        raise NotImplementedError

    @cached_property
    def web(self) -> Web:
        raise NotImplementedError

    @cached_property
    def code(self) -> Code:
        raise NotImplementedError

    def last(self, tool: str) -> dict[str, Any] | None:
        for entry in reversed(self._entries):
            if isinstance(entry, CallEnded) and entry.name == tool:
                match entry.outcome:
                    case Done(data=dict(data)):
                        return data
        return None

    def move(self, folder: str) -> bool:
        if not self._holds(folder) or not os.path.isdir(folder):
            return False
        self.cwd = folder
        return True

    async def switch_mode(self, mode: str) -> str:
        return await self._switch_mode(mode)

    async def aclose(self) -> None:
        """The parts that were made, then what they ran on."""
        for name in ("jobs", "code", "web"):
            part = self.__dict__.get(name)
            if part is not None:
                await part.aclose()
        await self.host.aclose()
        self.outputs.close()

    def _last_folder(self) -> str:
        """Where an earlier part of the session had gone, if that is still there."""
        moved = (e.cwd for e in reversed(self._entries) if isinstance(e, CallEnded) and e.cwd)
        folder = next(moved, "")
        return folder if folder and os.path.isdir(folder) and self._holds(folder) else ""
