"""A workshop with nothing but its bare walls: for tests of tools and loops."""

import io
from typing import Any, BinaryIO, cast

from detent.ports import Agents, Code, Host, Jobs, Tasks, Web
from detent.testing.memory_host import MemoryHost
from detent.types.agents import AgentRecord


class MemoryOutputs:
    """What was kept, by path."""

    def __init__(self) -> None:
        self.files: dict[str, BinaryIO] = {}

    def create(self, name: str) -> BinaryIO:
        path = f"/outputs/{name}.txt"
        file = _Kept()
        file.name = path
        self.files[path] = file
        return file

    def text(self, path: str) -> str:
        file = self.files[path]
        assert isinstance(file, _Kept)
        return file.all.decode()


class _Kept(io.BytesIO):
    """Its content outlives its closing."""

    name = ""
    all = b""

    def close(self) -> None:
        if not self.closed:
            self.all = self.getvalue()
        super().close()


class NoCode:
    """No language server, nothing to say."""

    async def look(self, action: str, path: str, line: int, character: int, query: str) -> str:
        raise LookupError("There is no language server.")

    async def faults(self, path: str, before: str, after: str) -> str:
        return ""


class NoAgents:
    """None was ever set to work."""

    def find(self, agent: str) -> AgentRecord | None:
        return None

    def all(self) -> tuple[AgentRecord, ...]:
        return ()


class BareShop:
    """Parts that a test needs are put in; the others are not there."""

    jobs: Jobs
    web: Web
    tasks: Tasks

    def __init__(self, cwd: str = "/p", host: Host | None = None) -> None:
        self.cwd = cwd
        self.host: Host = host or MemoryHost()
        self.outputs = MemoryOutputs()
        self.code: Code = NoCode()
        self.agents = cast("Agents", NoAgents())
        self.mode = "default"
        self.results: dict[str, dict[str, Any]] = {}

    def last(self, tool: str) -> dict[str, Any] | None:
        return self.results.get(tool)

    def move(self, folder: str) -> bool:
        if folder != self.cwd and not folder.startswith(self.cwd + "/"):
            return False
        self.cwd = folder
        return True

    async def switch_mode(self, mode: str) -> str:
        self.mode = mode or "default"
        return self.mode
