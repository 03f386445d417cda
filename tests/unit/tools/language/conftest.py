"""A folder with files of a toy language, and a server for it that is a real process."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from detent.host.local import LocalHost
from detent.tools.language.code import LanguageServers

FAKE = Path(__file__).with_name("fake_server.py")
PATIENCE = 20.0


class Lab:
    def __init__(self, folder: Path) -> None:
        self.work, self.notes = folder / "work", folder / "notes"
        self.work.mkdir()
        self.notes.mkdir()
        self.manners: dict[str, Any] = {}
        self.host = LocalHost()

    def file(self, name: str, text: str) -> str:
        path = self.work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return str(path)

    def code(self, chosen: dict[str, tuple[str, ...]] | None = None) -> LanguageServers:
        fake = (sys.executable, "-I", str(FAKE), str(self.notes), json.dumps(self.manners))
        work = str(self.work)
        return LanguageServers(
            self.host,
            cwd=lambda: work,
            holds=lambda path: path == work or path.startswith(work + "/"),
            reads_freely=lambda path: path.startswith(work + "/") and ".env" not in path,
            chosen={".toy": fake} if chosen is None else chosen,
            trusted=False,
        )

    def run(self, talk: Callable[[LanguageServers], Awaitable[Any]]) -> Any:
        """With servers that are gone afterwards, whatever happened."""

        async def whole() -> Any:
            code = self.code()
            try:
                async with asyncio.timeout(PATIENCE):
                    return await talk(code)
            finally:
                await code.aclose()
                await self.host.aclose()

        return asyncio.run(whole())

    def look(
        self, action: str, path: str, line: int = 0, character: int = 0, query: str = ""
    ) -> str:
        return self.run(lambda code: code.look(action, path, line, character, query))

    @property
    def heard(self) -> list[dict[str, Any]]:
        """What the servers were sent, each one's process first."""
        path = self.notes / "heard.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def said(self, method: str) -> list[dict[str, Any]]:
        return [one for one in self.heard if one.get("method") == method]

    @property
    def pids(self) -> list[int]:
        return [one["pid"] for one in self.heard if "pid" in one]

    async def until(self, holds: Callable[[], Any]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not holds():
                await asyncio.sleep(0.01)


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path)
