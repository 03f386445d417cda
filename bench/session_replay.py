"""Replay: how much of the time that a session took does it take to run its loop again?"""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path

from detent.app.options import Options
from detent.sdk.replay import verify
from detent.sdk.session import Session
from detent.testing import call, reply
from detent.testing.scripted_model import ScriptedModel

STEPS, THINKING = 12, 0.3
"""Seconds until a model begins to answer; most take longer."""


def replay(folder: Path) -> list[tuple[str, float, str, float | None]]:
    work = folder / "replayed"
    work.mkdir()
    (work / "a.txt").write_text("hello\n" * 200)
    steps = [
        reply(
            call("Read", file_path="a.txt"),
            call("Bash", command=f"sleep 0.1; echo step {number}"),
            delay=THINKING,
        )
        for number in range(STEPS)
    ]
    options = Options(
        model=ScriptedModel(*steps, reply("done", delay=THINKING)),
        cwd=str(work),
        environ={"HOME": str(folder), "DETENT_HOME": str(folder / "home"), "PATH": os.defpath},
        permission_mode="bypassPermissions",
    )
    begun = time.perf_counter()
    path = asyncio.run(_recorded(options))
    recorded = time.perf_counter() - begun
    took = []
    for _ in range(5):
        begun = time.perf_counter()
        verify(path)
        took.append(time.perf_counter() - begun)
    return [
        (f"a session of {STEPS + 1} steps", recorded, "s", None),
        ("its replay", min(took) * 1000, "ms", None),
        ("replay, as part of the time recorded", min(took) / recorded, "", 1 / 50),
    ]


async def _recorded(options: Options) -> str:
    async with Session(options) as session:
        async for _ in session.send("go"):
            pass
        return session.path
