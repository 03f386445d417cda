"""A desk to run tools on: in memory, or on a real folder."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from detent.ports import Desk, Host
from detent.testing.bare_shop import BareShop
from detent.testing.memory_host import MemoryHost
from detent.tools.registry import Registry
from detent.types import codec
from detent.types.outcomes import Outcome, text_of


class Bench:
    """Calls tools as the loop does and keeps what they report."""

    def __init__(self, host: Host, cwd: str, settings: dict[str, str] | None = None) -> None:
        self.host, self.cwd, self.settings = host, cwd, settings or {}
        self.known: dict[str, str] = {}
        self.progress: list[str] = []
        self.show: Callable[[str], None] = self.progress.append
        self.registry = Registry()
        self.shop = BareShop(cwd, host)

    def remember(self, path: str, digest: str) -> None:
        self.known[path] = digest

    def recall(self, path: str) -> str | None:
        return self.known.get(path)

    async def told_of(self, path: str, known: str, digest: str, now: bytes) -> str:
        return ""

    def desk(self) -> Desk:
        return Desk(
            "call_1", self.shop.cwd, self.host, self, self.show, self.shop, settings=self.settings
        )

    def call(self, name: str, **arguments: Any) -> Outcome:
        return asyncio.run(self.acall(name, **arguments))

    async def acall(self, name: str, **arguments: Any) -> Outcome:
        tool = self.registry.find(name)
        assert tool is not None
        outcome = await tool.run(tool.parse(json.dumps(arguments)), self.desk())
        codec.encode(outcome)  # every outcome must fit the log
        return outcome

    def text(self, name: str, **arguments: Any) -> str:
        return text_of(self.call(name, **arguments))


@pytest.fixture
def memory() -> Callable[..., Bench]:
    """`memory({"/p/a.txt": "..."})`: a bench whose working folder is /p."""
    return lambda files=None, commands=None: Bench(MemoryHost(files, commands), "/p")


@pytest.fixture
def disk(tmp_path: Path) -> Bench:
    # Tests may look at the layer beside; the tools themselves may not.
    from detent.host.local import LocalHost

    return Bench(LocalHost(), str(tmp_path))
