"""A bench with real shells, files for their output, jobs, and a folder that can change."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from detent.app.clock import SystemClock
from detent.app.outputs import OutputFolder
from detent.host.local import LocalHost
from detent.tools.shell.jobs import JobTable

from ..conftest import Bench

T = TypeVar("T")


class Shells(Bench):
    def __init__(self, folder: Path, settings: dict[str, str] | None = None) -> None:
        self.work = folder / "work"
        self.work.mkdir()
        super().__init__(LocalHost(), str(self.work), settings)
        self.kept = folder / "kept"
        self.elsewhere = folder / "elsewhere"
        self.news: list[str] = []
        outputs = OutputFolder(str(self.kept), str(self.elsewhere))
        self.table = JobTable(self.host, outputs, SystemClock(), self.news.append)
        shop = self.shop
        shop.outputs = outputs  # type: ignore[assignment]
        shop.jobs = self.table
        shop.move = self._move  # type: ignore[method-assign]

    def _move(self, folder: str) -> bool:
        inside = folder == str(self.work) or folder.startswith(f"{self.work}/")
        if inside and os.path.isdir(folder):
            self.shop.cwd = folder
        return inside and os.path.isdir(folder)

    def during(self, story: Callable[[], Awaitable[T]]) -> T:
        """All in one loop; what still runs at its end is ended."""

        async def told() -> T:
            try:
                return await story()
            finally:
                await self.table.aclose()
                await self.host.aclose()

        return asyncio.run(told())
