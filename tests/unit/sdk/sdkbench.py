"""Sessions on a scripted model, in a folder and a home of their own."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from detent.app.options import Options
from detent.testing.scripted_model import ScriptedModel


class Settings:
    """`settings(model, …)`: options that touch nothing outside a temporary folder."""

    def __init__(self, folder: Path) -> None:
        self.cwd = folder / "work"
        self.home = folder / "home"
        self.cwd.mkdir()
        self.home.mkdir()
        self.environ = {"HOME": str(folder), "DETENT_HOME": str(self.home)}

    def __call__(self, model: ScriptedModel, **more: Any) -> Options:
        given: dict[str, Any] = {"persist": False, "environ": self.environ, "cwd": str(self.cwd)}
        return Options(model=model, **{**given, **more})


class Leftovers(AssertionError):
    """A task outlived the session that started it."""


def run(body: Callable[[], Awaitable[Any]]) -> Any:
    """Runs a test's coroutine; no task may be left when it returns."""

    async def watched() -> Any:
        result = await body()
        left = asyncio.all_tasks() - {asyncio.current_task()}
        if left:
            raise Leftovers(left)
        return result

    return asyncio.run(watched())
