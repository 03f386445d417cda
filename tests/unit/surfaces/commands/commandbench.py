"""Commands said to a session on a scripted model, in a folder and a home of their own."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from detent.sdk.keyless import keyless
from detent.sdk.options import Options
from detent.sdk.session import Session
from detent.surfaces.commands import Hear, Said, known, run
from detent.testing import call, reply
from detent.testing.scripted_model import ScriptedModel
from detent.types.events import Event

Body = Callable[[Session], Awaitable[Any]]


async def nobody(event: Event) -> None:
    pass


async def say(session: Session, text: str) -> str:
    """What a command answers; `text` is without its slash."""
    name, _, rest = text.partition(" ")
    return await run(Said(known()[name], rest), session, nobody)


def calls(name: str, **arguments: Any) -> Any:
    return reply(call(name, **arguments))


class Bench:
    def __init__(self, folder: Path) -> None:
        self.work, self.home, self.user = folder / "work", folder / "home", folder
        self.work.mkdir()
        self.home.mkdir()
        self.environ = {"HOME": str(folder), "DETENT_HOME": str(self.home)}

    def options(self, **more: Any) -> Options:
        given: dict[str, Any] = {
            "cwd": str(self.work),
            "environ": self.environ,
            "managed_folders": (),
            "permission_mode": "bypassPermissions",
            "sandbox": "off",
        }
        return Options(**{**given, **more})

    def file(self, name: str, text: str) -> Path:
        path = self.work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def writes(self, name: str, text: str) -> Any:
        return calls("Write", file_path=str(self.work / name), content=text)

    def run(self, body: Body, *replies: Any, **more: Any) -> Any:
        """In a session of which nobody has heard yet."""

        async def whole() -> Any:
            async with Session(self.options(model=ScriptedModel(*replies), **more)) as session:
                return await body(session)

        return asyncio.run(whole())

    def keyless(self, body: Body, **more: Any) -> Any:
        """In one that can ask nobody, as a headless run has for a command."""

        async def whole() -> Any:
            async with Session(keyless(self.options(**more))) as session:
                return await body(session)

        return asyncio.run(whole())

    def answers(self, text: str, **more: Any) -> str:
        """Of a command, in a new session without a key."""
        return str(self.keyless(lambda session: say(session, text), **more))


async def hum(session: Session, rest: str, hear: Hear) -> str:
    """A command of a surface."""
    return f"hmm: {rest}"
