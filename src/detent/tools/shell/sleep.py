"""Sleep: wait, and do nothing else."""

import asyncio
from typing import Annotated

from msgspec import Meta, Struct

from detent.ports import Desk
from detent.tools.base import TypedTool
from detent.types.effects import Effect
from detent.types.outcomes import Outcome, done

LONGEST_MS = 300_000


class SleepArgs(Struct, frozen=True):
    duration_ms: Annotated[
        int, Meta(description="Milliseconds, at most 300000.", ge=0, le=LONGEST_MS)
    ]


class Sleep(TypedTool[SleepArgs]):
    name = "Sleep"
    aliases = ("sleep", "SleepTool")
    timeout = LONGEST_MS / 1000 + 30
    args = SleepArgs

    def effects(self, args: SleepArgs, cwd: str) -> tuple[Effect, ...]:
        return ()

    async def act(self, args: SleepArgs, desk: Desk) -> Outcome:
        await asyncio.sleep(args.duration_ms / 1000)
        data = {"duration_ms": args.duration_ms}
        return done(f"Waited {args.duration_ms / 1000:g} s.", data)


TOOL = Sleep
