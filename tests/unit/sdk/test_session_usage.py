"""The session adds up what its turns used, earlier runs included."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from detent.sdk.options import Options
from detent.sdk.session import Session
from detent.testing.script import reply
from detent.testing.scripted_model import ScriptedModel
from detent.types.usage import Usage


def test_usage_adds_up_over_turns_and_runs(tmp_path: Path) -> None:
    def options(**more: Any) -> Options:
        model = ScriptedModel(reply("a", input=10, output=1), reply("b", input=20, output=2))
        environ = {"HOME": str(tmp_path)}
        return Options(model=model, cwd=str(tmp_path), environ=environ, **more)

    async def main() -> list[Usage]:
        seen = []
        async with Session(options()) as session:
            for prompt in ("one", "two"):
                await session.run_turn(prompt)
                seen.append(session.usage)
        async with Session(options(resume=session.id)) as again:
            await again.run_turn("three")
            seen.append(again.usage)
        return seen

    assert asyncio.run(main()) == [Usage(10, 1), Usage(30, 3), Usage(40, 4)]
