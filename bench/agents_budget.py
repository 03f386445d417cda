"""Agents that race for one strict budget: how much of it is passed."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path
from typing import Any

from detent.app.options import Options
from detent.sdk.session import Session
from detent.testing import Reply, call, reply
from detent.testing.scripted_model import ScriptedModel
from detent.types.budget import Budget
from detent.types.codec import encode
from detent.types.messages import Request

TREES, WIDE, LEVELS = 20, 5, 3


class Greedy(ScriptedModel):
    """Everybody asks five more, as deep as it goes, and says as much as is allowed."""

    def __init__(self, seed: int) -> None:
        super().__init__(self._next, repeat_last=True)
        self._random = random.Random(seed)
        self.used = 0

    def _next(self, request: Request) -> Reply:
        text = str(request.messages[0])
        level = next((n for n in range(LEVELS, 0, -1) if f"level {n}" in text), 0)
        size = len(encode((request.system, list(request.tools), list(request.messages))))
        read, said = size // 3, min(2_000, request.max_output or 2_000)
        if len(request.messages) > 1 or level == LEVELS:
            return reply("done", input=read, output=said)
        below = [
            call("Agent", description="d", prompt=f"level {level + 1} {n}") for n in range(WIDE)
        ]
        return reply(*below, input=read, output=said)

    async def stream(self, request: Request, deltas: Any) -> Any:
        await asyncio.sleep(self._random.uniform(0, 0.01))
        answer = await super().stream(request, deltas)
        self.used += answer.usage.total
        return answer


def overshoot(folder: Path) -> tuple[str, float, str, float | None]:
    passed = []
    for seed in range(TREES):
        work = folder / str(seed)
        work.mkdir()
        passed.append(asyncio.run(_passed(work, seed)))
    most = max(passed)
    return f"a strict budget, {TREES} trees that race: passed by", most, "tokens", 0


async def _passed(folder: Path, seed: int) -> int:
    model, tokens = Greedy(seed), random.Random(seed).randint(60_000, 900_000)
    environ = {"HOME": str(folder), "DETENT_HOME": str(folder / "home"), "PATH": "/usr/bin:/bin"}
    options = Options(
        model=model, cwd=str(folder), environ=environ, budget=Budget(tokens=tokens, strict=True)
    )
    async with Session(options) as session:
        await session.run_turn("go")
    return max(0, model.used - tokens)
